"""A prompt that is stored with its hand-over, in a session that has nothing else to do."""

from typing import Any

import pytest

from tests.store.desk import Desk, ending, message_of, session_of

HAND_OVER: dict[str, Any] = {"worker": "wrk_1", "at": 2_000}


def arrive(desk: Desk, name: str, **more: Any) -> dict[str, Any]:
    message = message_of(name, session="ses_a", **more)
    value: dict[str, Any] = desk.value("accept_message", message=message, hand_over=HAND_OVER)
    return value


def started(desk: Desk) -> list[Any]:
    return [row[0] for row in desk.rows("SELECT message FROM event WHERE kind = 'turn_started'")]


def test_a_prompt_of_a_session_with_nothing_to_do_is_handed_over_with_its_acceptance(desk: Desk) -> None:
    desk.value("create_session", session=session_of("a"), message=None)
    accepted = arrive(desk, "m")
    message = desk.read("message", message="msg_m")
    assert (message["status"], message["worker"], message["handed_at"]) == ("handed", "wrk_1", 2_000)
    assert accepted.keys() == {"position", "event"}
    assert started(desk) == ["msg_m"]
    assert desk.read("counts")["outbox"] == 0
    assert desk.conflict("hand_over", message="msg_m", worker="wrk_2", at=2_500) == "not_queued"
    desk.value("end_turn", **ending("m"))


def test_the_first_prompt_of_a_session_is_handed_over_with_it(desk: Desk) -> None:
    made = desk.value(
        "create_session", session=session_of("a"), message=message_of("m", model="big"), hand_over=HAND_OVER
    )
    assert made.keys() == {"position", "event"}
    assert desk.read("message", message="msg_m")["status"] == "handed"
    assert desk.read("load_session", session="ses_a")["model"] == "big"


@pytest.mark.parametrize("first", ["queued", "handed"])
def test_a_prompt_waits_behind_one_that_has_no_end(desk: Desk, first: str) -> None:
    if first == "handed":
        desk.handed("a", "first")
    else:
        desk.session("a", "first")
    accepted = arrive(desk, "m", model="big")
    assert accepted.keys() == {"position"}
    assert desk.read("message", message="msg_m")["status"] == "queued"
    assert "msg_m" not in started(desk)
    assert "msg_m" in [row["key"] for row in desk.read("unfinished")]
    assert desk.read("load_session", session="ses_a")["model"] is None


def test_a_prompt_waits_in_a_queue_that_is_held_and_in_one_that_it_lets_go_on(desk: Desk) -> None:
    desk.value("create_session", session=session_of("a"), message=None)
    desk.value("hold_queue", session="ses_a", at=1_500)
    arrive(desk, "held")
    assert desk.read("message", message="msg_held")["status"] == "queued"
    desk.value("create_session", session=session_of("b"), message=None)
    desk.value("hold_queue", session="ses_b", at=1_500)
    message = message_of("lifts", session="ses_b")
    desk.value("accept_message", message=message, hand_over=HAND_OVER, releases=True)
    assert desk.read("message", message="msg_lifts")["status"] == "queued"


def test_what_was_sent_before_is_not_handed_over_again(desk: Desk) -> None:
    desk.value("create_session", session=session_of("a"), message=None)
    named = {"client_id": "once", "fingerprint": "f"}
    arrive(desk, "m", **named)
    assert arrive(desk, "again", **named) == {"duplicate": "msg_m", "session": "ses_a"}
    assert started(desk) == ["msg_m"]


def test_the_prompt_of_an_item_and_a_further_attempt_are_handed_over_at_once(desk: Desk) -> None:
    desk.value("start_fanout", group={"id": "grp_a", "name": "a"}, spec="{}", items=["1"], at=1_000)
    item: dict[str, Any] = {"group": "grp_a", "number": 1, "hand_over": HAND_OVER}
    desk.value("start_item", session=session_of("a"), message=message_of("m"), **item)
    desk.value("end_turn", **ending("m", status="failed", reply=None))
    desk.value("retry_item", message=message_of("again"), **item)
    assert started(desk) == ["msg_m", "msg_again"]
    assert desk.read("counts")["outbox"] == 0
