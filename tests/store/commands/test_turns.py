"""A prompt's turn: handed over once, taken back, and ended exactly once."""

from typing import Any

import pytest

from tests.store.desk import Desk, ending, message_of


def events(desk: Desk) -> list[tuple[Any, ...]]:
    """List the events in order."""
    return desk.rows("SELECT session, kind, at, message, text FROM event ORDER BY cursor")


def test_handing_over_takes_the_prompt_off_the_outbox_and_tells(desk: Desk) -> None:
    desk.session("a", "m")
    desk.value("hand_over", message="msg_m", worker="wrk_1", at=2_000)
    message = desk.read("message", message="msg_m")
    assert (message["status"], message["worker"], message["handed_at"]) == ("handed", "wrk_1", 2_000)
    assert desk.read("unfinished") == []
    assert events(desk) == [("ses_a", "turn_started", 2_000, "msg_m", "")]


def test_a_prompt_is_handed_over_once(desk: Desk) -> None:
    desk.handed("a", "m")
    assert desk.conflict("hand_over", message="msg_m", worker="wrk_2", at=2_500) == "not_queued"
    assert desk.read("message", message="msg_m")["worker"] == "wrk_1"
    assert desk.conflict("hand_over", message="msg_x", worker="wrk_2", at=2_500) == "missing"


def test_a_prompt_that_no_worker_saw_is_queued_again(desk: Desk) -> None:
    desk.handed("a", "m")
    desk.value("take_back", message="msg_m")
    message = desk.read("message", message="msg_m")
    assert (message["status"], message["worker"], message["handed_at"]) == ("queued", None, None)
    assert [row["key"] for row in desk.read("unfinished")] == ["msg_m"]
    desk.value("hand_over", message="msg_m", worker="wrk_2", at=2_500)


@pytest.mark.parametrize("message", ["msg_queued", "msg_x"])
def test_only_a_handed_prompt_is_taken_back(desk: Desk, message: str) -> None:
    desk.session("a", "queued")
    assert desk.conflict("take_back", message=message) in {"not_handed", "missing"}


def test_a_turn_ends_with_its_reply(desk: Desk) -> None:
    desk.handed("a", "m")
    ended = desk.value("end_turn", **ending("m"))
    message = desk.read("message", message="msg_m")
    assert {
        name: message[name] for name in ("status", "stop_reason", "exit_code", "seconds", "ended_at")
    } == {
        "status": "done",
        "stop_reason": "end",
        "exit_code": 0,
        "seconds": 0.25,
        "ended_at": 3_000,
    }
    reply = message["reply"]
    assert (reply["id"], reply["role"], reply["text"]) == ("msg_m_reply", "agent", "m is done")
    assert (reply["status"], reply["reply_to"], reply["truncated"]) == ("done", "msg_m", False)
    assert ended["position"] == reply["position"]
    assert events(desk)[-1] == ("ses_a", "turn_end", 3_000, "msg_m", "m is done")
    session = desk.read("load_session", session="ses_a")
    assert (session["last_activity_at"], session["message_count"]) == (3_000, 2)


def test_a_turn_ends_without_a_reply(desk: Desk) -> None:
    desk.handed("a", "m")
    assert desk.value("end_turn", **ending("m", status="stopped", reply=None))["position"] is None
    assert desk.read("message", message="msg_m")["reply"] is None
    assert events(desk)[-1][1:] == ("turn_end", 3_000, "msg_m", "")


@pytest.mark.parametrize(("error_text", "told"), [("exit code 2", "exit code 2"), (None, "m is done")])
def test_a_failed_turn_tells_its_error(desk: Desk, error_text: str | None, told: str) -> None:
    desk.handed("a", "m")
    desk.value("end_turn", **ending("m", status="failed", error_text=error_text, error_class="other"))
    assert events(desk)[-1][1:] == ("error", 3_000, "msg_m", told)
    assert desk.read("message", message="msg_m")["error_class"] == "other"


def test_an_event_carries_the_start_of_a_long_reply(desk: Desk) -> None:
    desk.handed("a", "m")
    long = {"id": "msg_reply", "text": "é" * 5_000, "truncated": True}
    desk.value("end_turn", **ending("m", reply=long))
    assert events(desk)[-1][-1] == "é" * 300
    assert desk.read("message", message="msg_m")["reply"]["truncated"] is True


@pytest.mark.parametrize("status", ["done", "failed", "stopped"])
def test_a_turn_ends_once(desk: Desk, status: str) -> None:
    desk.handed("a", "m")
    desk.value("end_turn", **ending("m"))
    other = {"id": "msg_other", "text": "no", "truncated": False}
    assert desk.conflict("end_turn", **ending("m", status=status, reply=other)) == "ended"
    assert [event[1] for event in events(desk)] == ["turn_started", "turn_end"]
    assert desk.read("counts")["messages"] == 2


def test_a_turn_that_did_not_begin_does_not_end(desk: Desk) -> None:
    desk.session("a", "m")
    assert desk.conflict("end_turn", **ending("m")) == "not_handed"
    assert desk.conflict("end_turn", **ending("x")) == "missing"


@pytest.mark.parametrize("status", ["cancelled", "queued", "handed", "perhaps"])
def test_a_turn_ends_only_in_an_end(desk: Desk, status: str) -> None:
    desk.handed("a", "m")
    assert desk.one("end_turn", **ending("m", status=status)).error == "fault"
    assert desk.read("message", message="msg_m")["status"] == "handed"


def test_a_cancelled_prompt_never_runs(desk: Desk) -> None:
    desk.session("a", "m")
    desk.value("cancel_message", message="msg_m", at=2_500)
    message = desk.read("message", message="msg_m")
    assert (message["status"], message["ended_at"]) == ("cancelled", 2_500)
    assert desk.read("unfinished") == []
    assert desk.conflict("hand_over", message="msg_m", worker="wrk_1", at=2_600) == "not_queued"
    assert desk.conflict("cancel_message", message="msg_m", at=2_600) == "not_queued"


def test_a_running_turn_is_not_cancelled(desk: Desk) -> None:
    desk.handed("a", "m")
    assert desk.conflict("cancel_message", message="msg_m", at=2_500) == "not_queued"


def test_turns_that_a_crash_cut_off_are_interrupted_and_the_queue_stays(desk: Desk) -> None:
    desk.handed("a", "m0")
    desk.session("b", "waits")
    desk.handed("c", "m1")
    interrupted = desk.value("interrupt_turns", at=9_000)
    assert interrupted == [
        {"message": "msg_m0", "session": "ses_a"},
        {"message": "msg_m1", "session": "ses_c"},
    ]
    message = desk.read("message", message="msg_m1")
    assert (message["status"], message["stop_reason"]) == ("failed", "interrupted")
    assert "may have run in part" in message["error_text"]
    assert [row["key"] for row in desk.read("unfinished")] == ["msg_waits"]
    assert [event[1] for event in events(desk)].count("error") == 2
    assert desk.value("interrupt_turns", at=9_500) == []


def test_a_prompt_that_can_never_run_ends_as_failed(desk: Desk) -> None:
    desk.session("a", "m", "next")
    desk.value("end_queued", message="msg_m", error_text="its item cannot be read", at=2_500)
    message = desk.read("message", message="msg_m")
    assert (message["status"], message["error_class"], message["ended_at"]) == ("failed", "other", 2_500)
    assert events(desk) == [("ses_a", "error", 2_500, "msg_m", "its item cannot be read")]
    assert [row["key"] for row in desk.read("unfinished")] == ["msg_next"]
    assert desk.conflict("end_queued", message="msg_m", error_text="again", at=2_600) == "not_queued"
    assert desk.conflict("end_queued", message="msg_x", error_text="again", at=2_600) == "missing"


def continuation(desk: Desk, **more: Any) -> dict[str, Any]:
    """Make the arguments of a ``begin_continuation``."""
    message = message_of("goes_on", session="ses_a", text="", **more)
    return {"message": message, "worker": "wrk_1", "at": 4_000}


def test_a_continuation_runs_at_once_before_what_waits(desk: Desk) -> None:
    desk.session("a", "waits")
    begun = desk.value("begin_continuation", **continuation(desk))
    message = desk.read("message", message="msg_goes_on")
    assert {name: message[name] for name in ("status", "kind", "origin", "worker", "handed_at")} == {
        "status": "handed",
        "kind": "continuation",
        "origin": "task",
        "worker": "wrk_1",
        "handed_at": 4_000,
    }
    assert begun["position"] == message["position"]
    session = desk.read("load_session", session="ses_a")
    assert (session["running"], session["queued"], session["message_count"]) == ("msg_goes_on", 1, 2)
    assert [row["key"] for row in desk.read("unfinished")] == ["msg_waits"]
    assert events(desk) == [("ses_a", "turn_started", 4_000, "msg_goes_on", "")]
    desk.value("end_turn", **ending("goes_on"))


def test_a_continuation_needs_an_open_session_without_a_turn(desk: Desk) -> None:
    assert desk.conflict("begin_continuation", **continuation(desk)) == "missing"
    desk.handed("a", "m")
    assert desk.conflict("begin_continuation", **continuation(desk)) == "busy"
    desk.value("end_turn", **ending("m"))
    desk.value("archive_session", session="ses_a", at=3_500)
    assert desk.conflict("begin_continuation", **continuation(desk)) == "archived"


def test_the_turn_that_is_with_a_worker_is_known(desk: Desk) -> None:
    desk.session("a", "m")
    assert desk.read("turn_under_way", session="ses_a") is None
    desk.value("hand_over", message="msg_m", worker="wrk_1", at=4_000)
    assert desk.read("turn_under_way", session="ses_a") == "msg_m"
    desk.value("end_turn", **ending("m"))
    assert desk.read("turn_under_way", session="ses_a") is None


def test_what_a_prompt_names_stays_with_its_session_once_it_is_handed_over(desk: Desk) -> None:
    desk.session("a", model="small", effort="low")
    desk.value("accept_message", message=message_of("m", session="ses_a", model="large", mode="plan"))
    desk.value("accept_message", message=message_of("n", session="ses_a"))

    def settings() -> tuple[Any, ...]:
        row = desk.read("load_session", session="ses_a")
        return row["model"], row["mode"], row["effort"]

    assert settings() == ("small", "agent", "low")
    for message in ("m", "n"):
        desk.value("hand_over", message=f"msg_{message}", worker="wrk_1", at=2_000)
        desk.value("end_turn", **ending(message))
        assert settings() == ("large", "plan", "low")
