"""A write that its caller named has one effect, and a repeat gets the first result."""

from typing import Any

import pytest

from tests.store.desk import Desk, message_of


def named(name: str = "one", **more: Any) -> dict[str, Any]:
    """Make what a caller named a write."""
    return {"client_id": name, "fingerprint": "f", **more}


@pytest.mark.parametrize(
    ("command", "value"),
    [
        ("hold_queue", {"held_at": 5_000}),
        ("archive_session", {"cancelled": ["msg_m"]}),
        ("delete_session", {"cancelled": ["msg_m"]}),
    ],
)
def test_a_repeat_gets_the_first_result_and_does_nothing(desk: Desk, command: str, value: Any) -> None:
    desk.session("a", "m")
    assert desk.value(command, session="ses_a", at=5_000, call=named()) == value
    events = desk.rows("SELECT cursor FROM event")
    assert desk.value(command, session="ses_a", at=9_000, call=named()) == {"duplicate_result": value}
    assert desk.rows("SELECT cursor FROM event") == events


def test_a_call_may_say_itself_what_its_repeat_gets(desk: Desk) -> None:
    desk.session("a")
    desk.value("hold_queue", session="ses_a", at=5_000, call=named(result={"requested": True}))
    again = desk.value("hold_queue", session="ses_a", at=6_000, call=named(result={"stopRequested": False}))
    assert again == {"duplicate_result": {"requested": True}}


def test_a_write_that_changes_nothing_here_is_remembered_alone(desk: Desk) -> None:
    call = named(result={"requested": False}, caller="ses_x")
    assert desk.value("remember_call", call=call, at=5_000) == {}
    assert desk.value("remember_call", call=call, at=6_000) == {"duplicate_result": {"requested": False}}


def test_a_write_that_is_refused_is_not_remembered(desk: Desk) -> None:
    desk.handed("a", "m")
    assert desk.conflict("archive_session", session="ses_a", at=5_000, call=named()) == "busy"
    assert desk.rows("SELECT * FROM client_id") == []


@pytest.mark.parametrize("other", [{"fingerprint": "g"}, {"fingerprint": None}])
def test_the_same_id_for_another_write_is_refused(desk: Desk, other: dict[str, Any]) -> None:
    desk.session("a")
    desk.value("hold_queue", session="ses_a", at=5_000, call=named())
    assert desk.conflict("archive_session", session="ses_a", at=5_000, call=named(**other)) == "client_id"
    prompt = message_of("m", session="ses_a", client_id="one", fingerprint="f")
    assert desk.conflict("accept_message", message=prompt) == "client_id"


def test_the_id_of_a_prompt_is_refused_to_another_write(desk: Desk) -> None:
    desk.session("a")
    prompt = message_of("m", session="ses_a", client_id="one", fingerprint="f")
    desk.value("accept_message", message=prompt)
    assert desk.conflict("hold_queue", session="ses_a", at=5_000, call=named()) == "client_id"


def test_callers_do_not_share_the_ids_of_their_writes(desk: Desk) -> None:
    desk.session("a")
    for caller in (None, "ses_x", "ses_y"):
        assert "held_at" in desk.value("hold_queue", session="ses_a", at=5_000, call=named(caller=caller))


def test_a_prompt_and_its_id_are_stored_together(desk: Desk) -> None:
    desk.session("a")
    prompt = message_of("m", session="ses_a", caller="ses_x", client_id="one", fingerprint="f")
    desk.value("accept_message", message=prompt)
    assert desk.rows("SELECT * FROM client_id") == [("ses_x", "one", "f", "msg_m", "ses_a", None, 1_000)]
