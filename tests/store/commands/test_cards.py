"""Cards: opened by the turn that runs, ended once, gone with the turn."""

import json
from typing import Any

import pytest

from tests.store.desk import Desk, ending


def card_of(name: str, **more: Any) -> dict[str, Any]:
    """Make a card called ``name`` of the turn ``msg_first``."""
    return {
        "id": f"q_{name}",
        "session": "ses_a",
        "kind": "permission",
        "message": "msg_first",
        "question": f"May I {name}?",
        "worker_card": name,
        "expires_at": 9_000,
        **more,
    }


def told(desk: Desk) -> list[tuple[Any, ...]]:
    """List what was told of cards, in order."""
    return desk.rows("SELECT kind, at, message, text FROM event WHERE kind LIKE 'question%' ORDER BY cursor")


def ends(desk: Desk) -> list[tuple[Any, ...]]:
    """List the cards with their ends."""
    return desk.rows("SELECT id, status, via, ended_at FROM card ORDER BY id")


@pytest.fixture(autouse=True)
def turn(desk: Desk) -> None:
    """Have a turn that runs."""
    desk.handed("a", "first")


def test_a_card_opens_with_its_event_in_the_turn_that_runs(desk: Desk) -> None:
    options = json.dumps([{"id": "1", "label": "Yes", "kind": "allow_once"}])
    opened = desk.value("open_card", card=card_of("write", options=options), at=2_500)
    assert opened["event"] == desk.rows("SELECT max(cursor) FROM event")[0][0]
    assert told(desk) == [("question_asked", 2_500, "msg_first", "May I write?")]
    row = desk.read("card", card="q_write")
    assert (row["status"], row["created_at"], row["expires_at"]) == ("pending", 2_500, 9_000)
    assert row["options"] == [{"id": "1", "label": "Yes", "kind": "allow_once"}]
    assert (row["multi_select"], row["allow_freeform"], row["form"]) == (False, False, None)
    assert desk.read("load_session", session="ses_a")["last_activity_at"] == 2_500


def test_the_same_card_told_again_is_the_one_that_is_there(desk: Desk) -> None:
    desk.value("open_card", card=card_of("write"), at=2_500)
    again = desk.value("open_card", card=card_of("write", id="q_other"), at=2_600)
    assert again == {"duplicate": "q_write"}
    desk.value("end_card", card="q_write", status="answered", at=2_700)
    assert desk.value("open_card", card=card_of("write", id="q_third"), at=2_800) == {"duplicate": "q_write"}
    assert [kind for kind, *_ in told(desk)] == ["question_asked", "question_closed"]


@pytest.mark.parametrize("message", ["msg_second", "msg_none"])
def test_a_turn_that_does_not_run_opens_none(desk: Desk, message: str) -> None:
    desk.value(
        "accept_message",
        message={"id": "msg_second", "session": "ses_a", "origin": "owner", "text": "x", "created_at": 1},
    )
    assert desk.conflict("open_card", card=card_of("late", message=message), at=2_500) == "not_running"
    assert ends(desk) == []
    assert told(desk) == []


def test_a_card_has_one_end_and_the_second_hears_how(desk: Desk) -> None:
    desk.value("open_card", card=card_of("write"), at=2_500)
    answer = {"choices": ["1"], "text": None}
    ended = desk.value("end_card", card="q_write", status="answered", answer=answer, via="owner", at=2_600)
    assert ended == {"card": "q_write", "status": "answered"}
    (second,) = desk.run(("end_card", {"card": "q_write", "status": "dismissed", "at": 2_700}))
    assert (second.error, second.value) == ("conflict", "ended")
    assert second.detail == "question q_write was answered already by owner"
    assert ends(desk) == [("q_write", "answered", "owner", 2_600)]
    assert desk.read("card", card="q_write")["answer"] == answer
    assert told(desk)[1:] == [("question_closed", 2_600, "msg_first", "answered")], "and never the answer"


def test_an_unknown_card_or_end_is_refused(desk: Desk) -> None:
    assert desk.conflict("end_card", card="q_none", status="answered", at=2_600) == "missing"
    desk.value("open_card", card=card_of("write"), at=2_500)
    wrong = desk.run(
        ("end_card", {"card": "q_write", "status": "pending", "at": 2_600}),
        ("open_card", {"card": card_of("more", status="answered"), "at": 2_600}),
    )
    assert [answer.error for answer in wrong] == ["fault", "fault"]


def test_an_answer_sent_again_under_its_name_gives_what_the_first_gave(desk: Desk) -> None:
    desk.value("open_card", card=card_of("write"), at=2_500)
    call = {"client_id": "c1", "fingerprint": "f1", "result": {"card": "q_write", "status": "answered"}}
    desk.value("end_card", card="q_write", status="answered", at=2_600, call=call)
    again = desk.value("end_card", card="q_write", status="answered", at=2_700, call=call)
    assert again == {"duplicate_result": {"card": "q_write", "status": "answered"}}
    other = {**call, "fingerprint": "f2"}
    assert desk.conflict("end_card", card="q_write", status="answered", at=2_800, call=other) == "client_id"


@pytest.mark.parametrize("status", ["done", "failed", "stopped"])
def test_the_end_of_a_turn_withdraws_what_it_waits_on(desk: Desk, status: str) -> None:
    desk.value("open_card", card=card_of("write"), at=2_500)
    desk.value("open_card", card=card_of("run"), at=2_500)
    desk.value("end_card", card="q_run", status="answered", at=2_600)
    desk.value("end_turn", **ending("first", status=status))
    assert ends(desk) == [("q_run", "answered", None, 2_600), ("q_write", "withdrawn", None, 3_000)]


def test_a_relay_that_begins_anew_withdraws_with_the_turns_that_it_interrupts(desk: Desk) -> None:
    desk.value("open_card", card=card_of("write"), at=2_500)
    desk.value("interrupt_turns", at=4_000, spare=["msg_first"])
    assert ends(desk) == [("q_write", "pending", None, None)]
    desk.value("interrupt_turns", at=5_000)
    assert ends(desk) == [("q_write", "withdrawn", None, 5_000)]


def test_a_deleted_session_keeps_no_question(desk: Desk) -> None:
    desk.value("open_card", card=card_of("write", detail="all of it"), at=2_500)
    desk.value("end_card", card="q_write", status="answered", answer={"text": "secret"}, at=2_600)
    desk.value("end_turn", **ending("first"))
    desk.value("delete_session", session="ses_a", at=6_000)
    row = desk.read("card", card="q_write")
    assert (row["question"], row["detail"], row["answer"], row["options"]) == ("", None, None, [])


@pytest.mark.parametrize(
    ("status", "said"),
    [("withdrawn", "withdrawn: nobody waits for the answer any more"), ("timed_out", "not answered in time")],
)
def test_a_card_that_ends_with_no_answer_is_told_of(desk: Desk, status: str, said: str) -> None:
    desk.value("open_card", card=card_of("write"), at=2_500)
    desk.value("end_card", card="q_write", status=status, at=2_600)
    assert told(desk)[-1] == ("question_closed", 2_600, "msg_first", said)
