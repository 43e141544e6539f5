"""Fan-out jobs: stored whole, started item by item, and each item recorded exactly once."""

from typing import Any

from tests.store.desk import Desk, ending, message_of, session_of


def result(number: int, **more: Any) -> dict[str, Any]:
    """Make the arguments of a ``record_item``."""
    return {
        "group": "grp_f",
        "number": number,
        "status": "done",
        "exit_code": 0,
        "reply": "12 lines",
        "seconds": 0.5,
        "error": None,
        "at": 4_000,
        **more,
    }


def start(desk: Desk, *items: str) -> None:
    """Start a fan-out over these items."""
    group = {"id": "grp_f", "name": "counting"}
    desk.value("start_fanout", group=group, spec='{"jobs": 4}', items=list(items), at=1_000)


def item_session(name: str) -> Any:
    """Make the session of an item."""
    return session_of(name, group="grp_f")


def test_a_fan_out_is_stored_whole(desk: Desk) -> None:
    start(desk, '"a.txt"', '"b.txt"')
    job = desk.read("fanout", group="grp_f")
    assert (job["name"], job["spec"], job["finished_at"]) == ("counting", '{"jobs": 4}', None)
    assert (job["total"], job["recorded"], job["counts"]) == (2, 0, {})
    items = desk.read("fanout_items", group="grp_f")
    assert [(item["number"], item["item"], item["attempts"]) for item in items] == [
        (1, '"a.txt"', 0),
        (2, '"b.txt"', 0),
    ]


def test_a_hundred_thousand_items_are_one_command(either_desk: Desk) -> None:
    start(either_desk, *(f'"file-{number}.txt"' for number in range(100_000)))
    assert either_desk.read("fanout", group="grp_f")["total"] == 100_000


def test_the_same_group_is_not_started_twice(desk: Desk) -> None:
    start(desk, "1")
    again = desk.one(
        "start_fanout", group={"id": "grp_f", "name": None}, spec="{}", items=["2", "3"], at=1_000
    )
    assert again.error == "fault"
    assert desk.read("fanout", group="grp_f")["total"] == 1


def test_an_item_is_started_as_a_session_of_the_group(desk: Desk) -> None:
    start(desk, "1", "2")
    desk.value("start_item", group="grp_f", number=2, session=item_session("a"), message=message_of("m"))
    item = desk.read("fanout_items", group="grp_f", after=1)[0]
    assert (item["session"], item["message"], item["attempts"]) == ("ses_a", "msg_m", 1)
    assert [row["key"] for row in desk.read("unfinished")] == ["msg_m"]
    assert desk.read("load_session", session="ses_a")["group"] == "grp_f"


def test_an_item_is_started_once(desk: Desk) -> None:
    start(desk, "1")
    desk.value("start_item", group="grp_f", number=1, session=item_session("a"), message=message_of("m"))
    again = desk.conflict(
        "start_item", group="grp_f", number=1, session=item_session("b"), message=message_of("n")
    )
    assert again == "started"
    assert desk.read("counts")["sessions"] == 1


def test_a_further_attempt_runs_in_the_items_session(desk: Desk) -> None:
    start(desk, "1")
    desk.value("start_item", group="grp_f", number=1, session=item_session("a"), message=message_of("m"))
    desk.value("hand_over", message="msg_m", worker="wrk_1", at=2_000)
    desk.value("end_turn", **ending("m", status="failed"))
    desk.value("retry_item", group="grp_f", number=1, message=message_of("again"))
    item = desk.read("fanout_items", group="grp_f")[0]
    assert (item["session"], item["message"], item["attempts"]) == ("ses_a", "msg_again", 2)
    assert desk.read("message", message="msg_again")["session"] == "ses_a"


def test_an_item_that_never_started_has_no_further_attempt(desk: Desk) -> None:
    start(desk, "1")
    assert desk.conflict("retry_item", group="grp_f", number=1, message=message_of("m")) == "not_started"


def test_an_item_gets_one_result_and_then_no_attempt(desk: Desk) -> None:
    start(desk, "1", "2")
    desk.value("start_item", group="grp_f", number=1, session=item_session("a"), message=message_of("m"))
    desk.value("record_item", **result(1))
    assert desk.conflict("record_item", **result(1, status="failed")) == "recorded"
    assert desk.conflict("retry_item", group="grp_f", number=1, message=message_of("n")) == "recorded"
    desk.value("record_item", **result(2, status="skipped", exit_code=None, reply=None))
    assert (
        desk.conflict(
            "start_item", group="grp_f", number=2, session=item_session("b"), message=message_of("n")
        )
        == "recorded"
    )
    job = desk.read("fanout", group="grp_f")
    assert (job["recorded"], job["counts"]) == (2, {"done": 1, "skipped": 1})
    first = desk.read("fanout_items", group="grp_f")[0]
    assert (first["status"], first["exit_code"], first["reply"], first["seconds"]) == (
        "done",
        0,
        "12 lines",
        0.5,
    )


def test_what_is_not_there_is_refused(desk: Desk) -> None:
    start(desk, "1")
    assert desk.conflict("record_item", **result(7)) == "missing"
    assert desk.conflict("retry_item", group="grp_x", number=1, message=message_of("m")) == "missing"
    assert desk.conflict("finish_fanout", group="grp_x", at=9_000) == "missing"


def test_a_finished_fan_out_says_when(desk: Desk) -> None:
    start(desk, "1")
    desk.value("finish_fanout", group="grp_f", at=9_000)
    assert desk.read("last_fanouts")[0]["finished_at"] == 9_000
