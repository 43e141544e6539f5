"""A session's tasks, and for how long their output is kept."""

from showcaller.store.commands.pruning import _EMPTY_TAILS
from showcaller.store.queries import background_tasks
from tests.store.commands.test_tasks import end_of, task_of
from tests.store.desk import Desk
from tests.store.plans import plan


def test_a_sessions_tasks_are_those_that_run_and_those_that_ended(desk: Desk) -> None:
    desk.session("a")
    desk.session("b")
    desk.value("start_task", task=task_of("second"), at=3_000)
    desk.value("start_task", task=task_of("first"), at=2_000)
    desk.value("start_task", task=task_of("other", session="ses_b"), at=2_000)
    desk.value("end_task", **end_of("first", tail="bye"))
    assert [row["id"] for row in desk.read("tasks", session="ses_a")] == ["tsk_first", "tsk_second"]
    assert [row["id"] for row in desk.read("load_session", session="ses_a")["tasks"]] == ["tsk_second"]


def test_a_task_is_found_in_its_own_session_alone(desk: Desk) -> None:
    desk.session("a")
    desk.value("start_task", task=task_of("t"), at=2_000)
    desk.value("end_task", **end_of("t", tail="bye"))
    assert desk.read("task", session="ses_a", task="tsk_t")["tail"] == "bye"
    assert desk.read("task", session="ses_b", task="tsk_t") is None
    assert desk.read("task", session="ses_a", task="tsk_x") is None


def test_the_tasks_that_run_are_named_with_the_workers_of_the_turns_that_left_them(desk: Desk) -> None:
    desk.handed("a", "first")
    desk.value("start_task", task=task_of("t", message="msg_first"), at=2_000)
    desk.value("start_task", task=task_of("of no turn"), at=2_000)
    desk.value("start_task", task=task_of("ended", message="msg_first"), at=2_000)
    desk.value("end_task", **end_of("ended"))
    assert desk.read("tasks_at_workers") == [
        {"id": "tsk_t", "session": "ses_a", "worker_task": "t", "worker": "wrk_1"}
    ]


def test_output_is_emptied_a_while_after_the_end(desk: Desk) -> None:
    desk.session("a")
    for number in range(4):
        desk.value("start_task", task=task_of(str(number)), at=2_000)
    for number in range(3):
        desk.value("end_task", **end_of(str(number), tail="bye", at=5_000 + number))
    assert desk.value("prune_tasks", before=5_002, limit=1) == {"pruned": 1, "more": True}
    assert desk.value("prune_tasks", before=5_002) == {"pruned": 1, "more": False}
    rows = desk.read("tasks", session="ses_a")
    assert [(row["status"], row["tail"]) for row in rows] == [
        ("done", None),
        ("done", None),
        ("done", "bye"),
        ("running", None),
    ]


def test_tasks_are_found_from_their_indexes(desk: Desk) -> None:
    assert "task_running (session=?)" in plan(desk, background_tasks._RUNNING, session="ses_a")
    assert "task_running" in plan(desk, background_tasks._AT_WORKERS)
    assert "task_session_worker_task (session=?)" in plan(desk, background_tasks._ALL, session="ses_a")
    assert "task_tails (ended_at<?)" in plan(desk, _EMPTY_TAILS, before=5, limit=10)
