"""Messages that join a running turn: acknowledged or not, they end with it."""

from typing import Any

import pytest

from tests.store.desk import Desk, ending, message_of


@pytest.fixture(autouse=True)
def running_turn(desk: Desk) -> None:
    """Have a turn running in a session, with a message waiting behind it."""
    desk.handed("a", "turn")
    for name in ("joins", "waits"):
        desk.value("accept_message", message=message_of(name, session="ses_a"))


def steer(desk: Desk, message: str = "msg_joins", turn: str = "msg_turn") -> None:
    """Let a message join a turn."""
    desk.value("steer_message", message=message, turn=turn, worker="wrk_1", at=2_500)


def state(desk: Desk, message: str = "msg_joins") -> tuple[Any, ...]:
    """Read what became of a message."""
    found = desk.read("message", message=message)
    return (found["status"], found["stop_reason"], found["steered_into"], found["steer_taken"])


def test_a_message_joins_the_running_turn_and_leaves_the_outbox(desk: Desk) -> None:
    steer(desk)
    assert state(desk) == ("handed", None, "msg_turn", False)
    session = desk.read("load_session", session="ses_a")
    assert (session["running"], session["queued"]) == ("msg_turn", 1)
    assert [row["key"] for row in desk.read("unfinished")] == ["msg_waits"]
    desk.value("steer_taken", message="msg_joins")
    assert state(desk) == ("handed", None, "msg_turn", True)


def test_a_refused_message_waits_again_in_its_old_place(desk: Desk) -> None:
    place = desk.read("message", message="msg_joins")["position"]
    steer(desk)
    desk.value("unsteer_message", message="msg_joins")
    assert state(desk) == ("queued", None, None, False)
    found = desk.read("message", message="msg_joins")
    assert (found["position"], found["worker"], found["handed_at"]) == (place, None, None)
    unfinished = desk.read("load_session", session="ses_a")["unfinished"]
    assert [message["id"] for message in unfinished] == ["msg_turn", "msg_joins", "msg_waits"]
    assert {row["key"] for row in desk.read("unfinished")} == {"msg_joins", "msg_waits"}


@pytest.mark.parametrize(("status", "stop_reason"), [("done", "end"), ("failed", "died"), ("stopped", None)])
def test_an_acknowledged_message_ends_as_its_turn_does(
    desk: Desk, status: str, stop_reason: str | None
) -> None:
    steer(desk)
    desk.value("steer_taken", message="msg_joins")
    ended = desk.value("end_turn", **ending("turn", status=status, stop_reason=stop_reason))
    assert ended["joined"] == ["msg_joins"]
    assert state(desk) == (status, stop_reason, "msg_turn", True)
    assert desk.read("message", message="msg_joins")["reply"]["id"] == "msg_turn_reply"


def test_an_unacknowledged_message_is_interrupted_and_never_repeated(desk: Desk) -> None:
    steer(desk)
    desk.value("end_turn", **ending("turn"))
    assert state(desk) == ("failed", "interrupted", "msg_turn", False)
    assert desk.read("message", message="msg_joins")["reply"] is None
    assert [row["key"] for row in desk.read("unfinished")] == ["msg_waits"]
    assert desk.conflict("unsteer_message", message="msg_joins") == "ended"


def test_a_turn_has_one_end_event_however_many_joined_it(desk: Desk) -> None:
    steer(desk)
    steer(desk, "msg_waits")
    ended = desk.value("end_turn", **ending("turn"))
    assert ended["joined"] == ["msg_joins", "msg_waits"]
    assert desk.rows("SELECT kind, message FROM event") == [
        ("turn_started", "msg_turn"),
        ("turn_end", "msg_turn"),
    ]


@pytest.mark.parametrize(
    ("is_taken", "joins"),
    [(True, ("done", "end", "msg_turn", True)), (False, ("queued", None, None, False))],
    ids=["taken", "refused"],
)
def test_the_end_of_a_turn_can_say_what_the_agent_said_of_a_message(
    desk: Desk, *, is_taken: bool, joins: tuple[Any, ...]
) -> None:
    steer(desk)
    desk.value("end_turn", **ending("turn"), untold={"message": "msg_joins", "is_taken": is_taken})
    assert state(desk, "msg_turn")[0] == "done"
    assert state(desk) == joins
    waiting = {"msg_waits"} if is_taken else {"msg_joins", "msg_waits"}
    assert {row["key"] for row in desk.read("unfinished")} == waiting


def test_turns_of_other_sessions_keep_what_joined_them(desk: Desk) -> None:
    desk.handed("b", "other")
    steer(desk)
    assert desk.value("end_turn", **ending("other"))["joined"] == []
    assert state(desk)[0] == "handed"


def test_the_end_of_a_relay_interrupts_what_joined_too(desk: Desk) -> None:
    steer(desk)
    desk.value("steer_taken", message="msg_joins")
    steer(desk, "msg_waits")
    assert desk.value("interrupt_turns", at=9_000) == [{"message": "msg_turn", "session": "ses_a"}]
    assert state(desk)[:2] == state(desk, "msg_waits")[:2] == ("failed", "interrupted")
    assert desk.read("counts")["handed"] == 0


@pytest.mark.parametrize(
    ("message", "turn", "what"),
    [
        ("msg_joins", "msg_x", "not_running"),
        ("msg_joins", "msg_waits", "not_running"),
        ("msg_x", "msg_turn", "missing"),
        ("msg_turn", "msg_turn", "not_queued"),
        ("msg_foreign", "msg_turn", "not_running"),
    ],
)
def test_only_a_waiting_message_joins_a_turn_of_its_own_session(
    desk: Desk, message: str, turn: str, what: str
) -> None:
    desk.session("b", "foreign")
    before = desk.rows("SELECT * FROM message")
    steering = {"message": message, "turn": turn, "worker": "wrk_1", "at": 2_500}
    assert desk.conflict("steer_message", **steering) == what
    assert desk.rows("SELECT * FROM message") == before


def test_nothing_joins_a_message_that_joined_itself(desk: Desk) -> None:
    steer(desk)
    steering = {"message": "msg_waits", "turn": "msg_joins", "worker": "wrk_1", "at": 2_500}
    assert desk.conflict("steer_message", **steering) == "not_running"


def test_a_message_within_a_turn_is_no_turn_of_its_own(desk: Desk) -> None:
    steer(desk)
    assert desk.conflict("end_turn", **ending("joins")) == "not_handed"
    assert desk.conflict("take_back", message="msg_joins") == "not_handed"
    assert desk.conflict("hand_over", message="msg_joins", worker="wrk_1", at=2_600) == "not_queued"
    assert desk.conflict("cancel_message", message="msg_joins", at=2_600) == "not_queued"


@pytest.mark.parametrize(
    ("message", "what"), [("msg_x", "missing"), ("msg_waits", "not_steered"), ("msg_turn", "not_steered")]
)
def test_only_a_message_that_joined_is_acknowledged_or_refused(desk: Desk, message: str, what: str) -> None:
    assert desk.conflict("steer_taken", message=message) == what
    assert desk.conflict("unsteer_message", message=message) == what


def test_what_the_agent_acknowledged_does_not_wait_again(desk: Desk) -> None:
    steer(desk)
    desk.value("steer_taken", message="msg_joins")
    assert desk.conflict("unsteer_message", message="msg_joins") == "taken"
    assert state(desk) == ("handed", None, "msg_turn", True)


def test_what_the_sender_named_for_its_turn_is_kept(desk: Desk) -> None:
    named = {"model": "m-1", "mode": "plan", "effort": "high", "via": '{"title": "From a desk"}'}
    desk.value("accept_message", message=message_of("named", session="ses_a", **named))
    found = desk.read("message", message="msg_named")
    assert {name: found[name] for name in named} == named


def test_the_last_turn_is_the_turn_whatever_became_of_what_joined_it(desk: Desk) -> None:
    steer(desk)
    desk.value("end_turn", **ending("turn"))
    last = desk.read("load_session", session="ses_a")["last_turn"]
    assert (last["message"], last["status"]) == ("msg_turn", "done")
