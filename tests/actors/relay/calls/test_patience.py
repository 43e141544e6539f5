"""How long a call waits whose client drops calls that take long."""

from typing import Any

import pytest

from showcaller.actors.contract import calls
from showcaller.actors.relay.calls import OWNER
from showcaller.actors.relay.calls.patience import GO_ON, cut_wait
from tests.actors.relay.stage import Stage


@pytest.mark.parametrize(("asked", "waits"), [(None, 44), (600, 44), (45, 44), (44, 44), (3, 3), (0, 0)])
def test_a_wait_is_cut_to_what_the_client_takes(asked: int | None, waits: int) -> None:
    given: dict[str, Any] = {} if asked is None else {"wait_seconds": asked}
    call = calls.Wait(relay="this", session="ses_aaaaaaaaaaaa", message_id="msg_aaaaaaaaaaaa", **given)
    cut = cut_wait(call, 44)
    assert isinstance(cut, calls.Wait)
    assert cut.wait_seconds == waits
    assert (cut is call) == (asked == waits)


def test_a_call_that_does_not_wait_is_as_it_was() -> None:
    call = calls.ListRelays()
    assert cut_wait(call, 1) is call


def waiting(stage: Stage, within: int | None, **arguments: Any) -> Any:
    """Begin to wait as a client that drops calls which wait longer than ``within`` seconds."""
    call = {"action": "wait", "relay": "this", **arguments}
    with stage.dispatcher:
        return stage.door._begin(call, OWNER, None, within)


def test_a_call_of_an_impatient_client_gives_running_in_time_and_says_how_to_go_on(stage: Stage) -> None:
    session, message = stage.create()
    named = {"session": session, "message_id": message}
    call = waiting(stage, 44, **named, wait_seconds=95)
    stage.advance(43)
    assert not call.done
    stage.advance(2)
    found = call.get()
    assert (found["status"], found["note"]) == ("running", GO_ON)
    second = waiting(stage, 44, **named, wait_seconds=95)
    stage.advance(20)
    stage.workers.end(message, reply="the reply")
    stage.settle()
    found = second.get()
    assert (found["status"], found["reply"]["text"]) == ("done", "the reply")
    assert "note" not in found


def test_a_call_of_any_other_client_waits_as_long_as_it_asked(stage: Stage) -> None:
    session, message = stage.create()
    call = waiting(stage, None, session=session, message_id=message, wait_seconds=95)
    stage.advance(94)
    assert not call.done
    stage.advance(2)
    assert call.get()["status"] == "running"
    assert "note" not in call.get()
