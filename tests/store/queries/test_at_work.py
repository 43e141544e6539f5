"""Which sessions work, and since when."""

from tests.store.desk import Desk, ending, message_of


def test_a_session_works_while_a_turn_or_a_task_of_it_runs(desk: Desk) -> None:
    for name in ("one", "two", "three"):
        desk.session(name)
        desk.value("accept_message", message=message_of(name, session=f"ses_{name}"))
    assert desk.read("at_work", sessions=None) == []
    desk.value("hand_over", message="msg_two", worker="wrk_1", at=2_000)
    desk.value("hand_over", message="msg_one", worker="wrk_1", at=3_000)
    task = {"id": "tsk_a", "session": "ses_one", "worker_task": "a", "type": "command", "description": "d"}
    desk.value("start_task", task=task, at=4_000)
    two = {"id": "ses_two", "title": "Session two", "since": 2_000}
    one = {"id": "ses_one", "title": "Session one", "since": 3_000}
    assert desk.read("at_work", sessions=None) == [two, one]
    assert desk.read("at_work", sessions=["ses_one", "ses_three"]) == [one]
    assert desk.read("at_work", sessions=None, but=["ses_two"]) == [one]
    desk.value("end_turn", **ending("one"))
    assert desk.read("at_work", sessions=["ses_one"]) == [{**one, "since": 4_000}]
    desk.value("end_task", task="tsk_a", status="done", exit_code=0, tail=None, at=5_000)
    assert desk.read("at_work", sessions=["ses_one"]) == []
