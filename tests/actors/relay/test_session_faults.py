"""A session when the store refuses, and when it fails itself: nothing is lost and nobody waits in vain."""

from typing import Any

import pytest

from showcaller.actors.contract.calls import Send
from showcaller.actors.contract.settings import Settings
from showcaller.actors.contract.worker import TurnEnded, TurnReturned
from showcaller.actors.relay.messages import IfAwake, Look, Prompt, ToSession
from showcaller.actors.relay.pauses import FIRST_PAUSE
from showcaller.actors.relay.prompts import message_row
from showcaller.actors.relay.session import Session
from showcaller.actors.relay.turns import Turns
from tests.actors.relay.conftest import OpenStage, no_faults
from tests.actors.relay.stage import Stage

# -- a store that refuses --------------------------------------------------------------------------


def test_a_prompt_that_cannot_be_stored_is_refused_and_nothing_of_it_is_left(stage: Stage) -> None:
    stage.store.refusing = frozenset({"create_session", "accept_message"})
    refused = stage.call("create_session", text="lost", wait_seconds=0)
    assert refused["code"] == "REMOTE_RELAY_STORAGE"
    assert "disk is full" in refused["error"]
    stage.store.refusing = frozenset()
    session, _ = stage.create("kept")
    stage.store.refusing = frozenset({"accept_message"})
    refused = stage.call("send", session=session, text="lost", wait_seconds=0)
    assert refused["code"] == "REMOTE_RELAY_STORAGE"
    assert stage.workers.texts == ["kept"]
    assert [row["id"] for row in stage.read("list_sessions")["sessions"]] == [session]


@pytest.mark.parametrize("refusing", ["hand_over", "end_turn"])
def test_what_the_store_refuses_for_a_while_is_tried_again_and_nothing_is_lost(
    stage: Stage, refusing: str
) -> None:
    session, first = stage.create()
    result = stage.begin("send", session=session, text="go", wait_seconds=600)
    stage.settle()
    stage.workers.end(first)
    if refusing == "end_turn":
        stage.settle()
    stage.store.refusing = frozenset({refusing})
    stage.settle()
    for turn in list(stage.workers.open):
        stage.workers.end(turn, reply="went")
    for _ in range(6):
        stage.advance(FIRST_PAUSE * 40)
    assert not result.done
    tries = stage.store.commands.count(refusing)
    assert 3 <= tries <= 20  # again and again, but not without pause
    stage.store.refusing = frozenset()
    stage.advance(31)
    for turn in list(stage.workers.open):
        stage.workers.end(turn, reply="went")
    stage.settle()
    assert result.get()["reply"]["text"] == "went"
    assert stage.workers.texts == ["first", "go"]


def test_a_prompt_that_can_never_be_handed_over_fails_with_the_reason_and_blocks_no_other(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    session, first = stage.create()
    stage.store.faulty = frozenset({"hand_over"})
    call = stage.begin("send", session=session, text="second", wait_seconds=600)
    stage.settle()
    stage.workers.end(first)
    stage.settle()
    assert call.get()["status"] == "failed"
    assert "never ran" in call.get()["errorText"]
    assert stage.status(call.get()["message_id"]) == "failed"
    assert stage.store.commands.count("hand_over") == 1
    assert "hand_over of" in caplog.text
    caplog.clear()
    assert stage.awake == []
    stage.store.faulty = frozenset()
    stage.send(session, "third")
    assert stage.workers.texts == ["first", "third"]


def test_a_prompt_of_which_no_turn_can_be_made_fails_with_the_reason_and_every_door_says_the_same(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    session, first = stage.create()
    row = message_row(Send(relay="this", session=session, text="odd"), stage.ports, None)
    accepted = stage.supervisor.request(ToSession(session, Prompt({**row, "item": "no JSON"})))
    third = stage.send(session, "third")
    waiting = stage.begin("wait", session=session, message_id=row["id"], wait_seconds=600)
    stage.workers.end(first)
    stage.settle()
    assert accepted.get().message == row["id"]
    again = stage.call("wait", session=session, message_id=row["id"])
    assert again == waiting.get()
    assert (again["status"], again["stopReason"], again["errorClass"]) == ("failed", "died", "other")
    assert "never ran" in again["errorText"]
    assert list(stage.workers.open) == [third]
    assert "cannot be handed to any worker" in caplog.text
    caplog.clear()


def test_a_cut_prompt_that_can_not_be_queued_again_ends_as_interrupted(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.store.hold()
    call = stage.begin("create_session", text="first", wait_seconds=600)
    stage.settle()
    stage.store.faulty = frozenset({"take_back"})
    closing = stage.ask_close()
    stage.settle()
    stage.store.release()
    stage.settle()
    assert closing.done
    assert "do not send it again" in call.get()["note"]
    assert stage.workers.runs == []
    assert stage.status(call.get()["message_id"]) == "interrupted"
    assert "take_back of" in caplog.text
    caplog.clear()


def test_an_end_that_the_store_cannot_hold_still_ends_the_turn(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    session, first = stage.create()
    second = stage.send(session, "second")
    end = TurnEnded(session=session, turn=first, outcome="done", reply="fine")
    stage.workers.open.pop(first)
    stage.workers.say(end.model_copy(update={"exit_code": 2**64 - 1}))
    stage.settle()
    assert stage.status(first) == "failed"
    assert "log" in stage.read("message", message=first)["error_text"]
    assert list(stage.workers.open) == [second]
    assert any("was not stored" in record.getMessage() for record in caplog.records)
    caplog.clear()


# -- mistakes of ours ------------------------------------------------------------------------------


def test_a_turn_that_the_port_fails_over_is_interrupted_and_hurts_no_other(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    other, message = stage.create("other")
    stage.workers.on_run = _fail
    waiting = stage.begin("create_session", text="doomed", wait_seconds=60)
    stage.settle()
    stage.workers.on_run = lambda _: None
    assert "the link is broken" in caplog.text
    caplog.clear()
    first = waiting.get()["message_id"]
    assert stage.awake == [other]
    assert stage.status(first) == "interrupted"
    assert [stop.turn for stop in stage.workers.stops] == [first], "a worker may have it nevertheless"
    stage.workers.end(message)
    stage.settle()
    assert stage.status(message) == "done"


def test_a_session_that_fails_leaves_nobody_waiting_and_hurts_no_other(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, message = stage.create("other")
    with monkeypatch.context() as broken:
        broken.setattr(Turns, "_send_run", lambda *_: _fail(None))
        waiting = stage.begin("create_session", text="doomed", wait_seconds=60)
        stage.settle()
    assert "the link is broken" in caplog.text
    caplog.clear()
    session, first = waiting.get()["session"], waiting.get()["message_id"]
    told = waiting.get()
    assert (told["status"], told["stopReason"]) == ("failed", "interrupted")  # as the store has it by then
    assert stage.awake == [other]
    assert stage.status(first) == "interrupted"  # nobody knows whether its worker has it
    assert [stop.turn for stop in stage.workers.stops] == [first]
    stage.workers.end(message)
    stage.settle()
    assert stage.status(message) == "done"
    second = stage.send(session, "second")
    assert stage.workers.texts[-1] == "second"
    stage.workers.end(second)
    stage.settle()
    no_faults(caplog)


class _Breaks:
    """Has the commit of ends, or a request, fail a number of times, and then do what it always did."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, method: str, times: int) -> None:
        self.times = times
        owner: type = Turns if method == "_commit_end" else Session
        original = getattr(owner, method)

        def broken(session: object, *arguments: Any) -> Any:
            if self.times > 0:
                self.times -= 1
                _fail(None)
            return original(session, *arguments)

        monkeypatch.setattr(owner, method, broken)


def test_the_end_that_a_session_fails_over_is_stored_by_its_next_life_and_the_queue_goes_on(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, first = stage.create()
    second = stage.send(session, "second")
    _Breaks(monkeypatch, "_commit_end", times=1)
    stage.workers.end(first, reply="finished")
    stage.settle()
    assert stage.status(first) == "done"
    assert stage.read("message", message=first)["reply"]["text"] == "finished"
    assert list(stage.workers.open) == [second]
    stage.workers.end(second)
    stage.settle()
    assert stage.awake == []
    assert stage.workers.stops == []
    caplog.clear()


def test_a_turn_that_runs_while_its_session_fails_goes_on_and_gets_its_end(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, first = stage.create()
    _Breaks(monkeypatch, "_requested", times=1)
    stage.supervisor.tell(IfAwake(session, Look()))
    stage.settle()
    waiting = stage.begin("wait", session=session, message_id=first, wait_seconds=600)
    stage.workers.write(first, "still writing")
    stage.settle()
    assert _written_so_far(stage, session) == "still writing"
    stage.workers.end(first, reply="finished")
    stage.settle()
    assert waiting.get()["reply"]["text"] == "finished"
    assert stage.workers.texts == ["first"]
    caplog.clear()


def test_a_turn_that_is_returned_while_its_session_begins_anew_waits_again_and_runs(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, first = stage.create()
    _Breaks(monkeypatch, "_requested", times=1)
    stage.reader.hold()
    stage.supervisor.tell(IfAwake(session, Look()))
    stage.settle()
    stage.workers.say(TurnReturned(session=session, turn=first))
    stage.settle()
    stage.reader.release()
    stage.settle()
    assert [run.turn for run in stage.workers.runs] == [first, first]
    stage.workers.end(first)
    stage.settle()
    assert stage.status(first) == "done"
    caplog.clear()


def test_a_turn_that_takes_too_long_is_stopped_though_its_session_failed_meanwhile(
    open_stage: OpenStage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = open_stage(settings=Settings(max_turn_minutes=5))
    session, first = stage.create()
    stage.advance(200)
    _Breaks(monkeypatch, "_requested", times=1)
    stage.supervisor.tell(IfAwake(session, Look()))
    stage.settle()
    stage.advance(99)
    assert stage.workers.stops == []
    stage.advance(2)
    assert [stop.turn for stop in stage.workers.stops] == [first]
    assert stage.status(first) == "failed"
    caplog.clear()


def test_an_end_that_comes_while_its_session_is_down_is_not_lost(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, first = stage.create()
    ref = _ref(stage, session)
    _Breaks(monkeypatch, "_requested", times=1)
    ref.tell(Look())
    while ref.is_alive():
        stage.dispatcher.step()
    stage.workers.end(first, reply="finished")
    stage.settle()
    assert stage.status(first) == "done"
    assert stage.awake == []
    caplog.clear()


def test_a_session_that_fails_again_is_left_alone_until_somebody_sends_and_then_recovers(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, first = stage.create()
    breaks = _Breaks(monkeypatch, "_commit_end", times=1_000_000)
    stage.workers.end(first, reply="finished")
    stage.settle()
    assert breaks.times == 1_000_000 - 2
    assert stage.awake == []
    breaks.times = 1
    assert stage.call("send", session=session, text="second", wait_seconds=0)["ok"] is False
    breaks.times = 0
    stage.send(session, "third")
    assert stage.status(first) == "interrupted"
    assert stage.workers.texts == ["first", "third"]
    caplog.clear()


def test_an_end_that_was_left_with_a_session_that_failed_twice_is_stored_when_somebody_sends(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, first = stage.create()
    _Breaks(monkeypatch, "_commit_end", times=2)
    stage.workers.end(first, reply="finished")
    stage.settle()
    assert stage.awake == []
    stage.send(session, "second")
    assert stage.status(first) == "done"
    assert stage.workers.texts == ["first", "second"]
    caplog.clear()


def test_a_relay_closes_though_a_session_fails_on_the_way(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, first = stage.create()
    _Breaks(monkeypatch, "_commit_end", times=1)
    stage.close()
    assert Stage(stage.home).status(first) in {"interrupted", "stopped"}
    caplog.clear()


def _fail(_: Any) -> None:
    raise RuntimeError("the link is broken")


def test_a_session_that_cannot_even_start_leaves_nobody_waiting(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, first = stage.create()
    stage.workers.end(first)
    stage.settle()
    with monkeypatch.context() as broken:
        broken.setattr(Session, "_begin", _fail)
        calls = [stage.begin("send", session=session, text="lost", wait_seconds=600)]
        calls.append(stage.begin("create_session", text="lost", wait_seconds=600))
        stage.settle()
    assert [call.get()["code"] for call in calls] == ["REMOTE_RELAY_INTERNAL"] * 2
    assert all("has ended" in call.get()["error"] for call in calls)
    assert stage.awake == []
    assert "the link is broken" in caplog.text
    caplog.clear()
    stage.send(session, "second")
    assert stage.workers.texts == ["first", "second"]


def _written_so_far(stage: Stage, session: str) -> str:
    glance = stage.supervisor.request(IfAwake(session, Look()))
    stage.settle()
    text: str = glance.get().text
    return text


def _ref(stage: Stage, session: str) -> Any:
    actor: Any = stage.supervisor._actor
    return actor.directory.find(session)
