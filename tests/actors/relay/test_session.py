"""A session: its queue, its turns, its sleep, and what it tells those who wait."""

from typing import Any

import pytest

from showcaller.actors.contract.calls import Send
from showcaller.actors.contract.worker import TurnEnded, TurnOutput, TurnTaken
from showcaller.actors.relay.messages import AwaitEnd, GoOn, IfAwake, Look, Prompt, StopRunning, ToSession
from showcaller.actors.relay.pauses import LONGEST_PAUSE
from showcaller.actors.relay.prompts import message_row
from showcaller.store.errors import StoreUnavailable
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

SEEDS = range(8)


def test_a_prompt_is_stored_then_handed_over_then_answered(stage: Stage) -> None:
    result = stage.begin("create_session", text="count", wait_seconds=5)
    stage.settle()
    assert not result.done
    turn = stage.workers.runs[0]
    assert (turn.text, turn.provider, turn.cwd) == ("count", "command", str(stage.home))
    assert stage.status(turn.turn) == "handed"
    stage.workers.end(turn.turn, reply="3")
    stage.settle()
    found = result.get()
    assert (found["status"], found["reply"]["text"]) == ("done", "3")
    assert stage.status(turn.turn) == "done"
    assert stage.events(turn.session) == [("turn_started", turn.turn), ("turn_end", turn.turn)]


def test_a_worker_hears_that_an_end_is_stored_once_it_is(stage: Stage) -> None:
    _, first = stage.create()
    stage.store.refusing = frozenset({"end_turn"})
    stage.workers.end(first)
    stage.settle()
    assert stage.workers.stored == []
    stage.store.refusing = frozenset()
    stage.advance(2)
    assert [stored.turn for stored in stage.workers.stored] == [first]


def test_the_worker_gets_the_senders_text_alone_and_the_rest_as_its_environment(stage: Stage) -> None:
    session, message = stage.create("  wc -l  \n")
    assert stage.workers.runs[0].text == "  wc -l  \n"
    assert stage.workers.runs[0].environment == {
        "SHOWCALLER_SESSION": session,
        "SHOWCALLER_TURN": message,
        "SHOWCALLER_MODE": "agent",
        "SHOWCALLER_ORIGIN": "owner",
    }


def test_a_turn_is_told_the_mode_that_its_prompt_names_also_by_the_next_relay(stage: Stage) -> None:
    session, first = stage.create("first", mode="ask")
    second = stage.send(session, "second", mode="plan")
    third = stage.send(session, "third")
    assert stage.workers.runs[-1].environment["SHOWCALLER_MODE"] == "ask"
    stage = stage.again()
    stage.settle()
    stage.workers.end(second)
    stage.settle()
    told = {run.turn: run.environment["SHOWCALLER_MODE"] for run in stage.workers.runs}
    assert first not in told
    assert told == {second: "plan", third: "plan"}, "and it lasts until another is named"


@pytest.mark.parametrize("seed", SEEDS)
def test_messages_run_one_at_a_time_in_the_order_in_which_they_were_accepted(
    open_stage: OpenStage, seed: int
) -> None:
    stage = open_stage(seed)
    session, first = stage.create("first")
    calls = [stage.begin("send", session=session, text=f"no {n}", wait_seconds=0) for n in range(5)]
    stage.settle()
    accepted = sorted((call.get()["message_id"] for call in calls), key=lambda m: _position(stage, m))
    for turn in [first, *accepted]:
        assert list(stage.workers.open) == [turn]
        stage.workers.end(turn)
        stage.settle()
    assert [run.turn for run in stage.workers.runs] == [first, *accepted]
    assert stage.workers.most_open == 1
    assert stage.awake == []


def _position(stage: Stage, message: str) -> int:
    position: int = stage.read("message", message=message)["position"]
    return position


def test_nothing_goes_to_a_worker_before_its_hand_over_is_stored(stage: Stage) -> None:
    stage.store.hold()
    stage.begin("create_session", text="go", wait_seconds=0)
    stage.settle()
    assert stage.workers.runs == []
    stage.store.release()
    stage.settle()
    assert stage.workers.texts == ["go"]


# -- sleep -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_no_message_is_lost_while_a_session_falls_asleep(open_stage: OpenStage, seed: int) -> None:
    """Messages come at every moment of the way from the end of a turn to sleep, and to waking again."""
    stage = open_stage(seed)
    session, _ = stage.create("first")
    sent = []
    for number in range(12):
        if stage.workers.open:
            stage.workers.end(next(iter(stage.workers.open)))
        for _ in range(stage.random.randrange(25)):
            stage.dispatcher.step()
        sent.append(stage.begin("send", session=session, text=f"no {number}", wait_seconds=60))
        if stage.random.random() < 0.3:
            stage.workers.say(TurnOutput(session=session, turn="msg_late", text="late"))
    while not all(call.done for call in sent):
        stage.settle()
        for turn in list(stage.workers.open):
            stage.workers.end(turn)
        stage.settle()
    assert {call.get()["status"] for call in sent} == {"done"}
    assert len(stage.workers.runs) == 13
    assert len({run.turn for run in stage.workers.runs}) == 13
    assert stage.awake == []


@pytest.mark.parametrize("steps", range(12))
def test_a_session_that_asked_twice_to_sleep_does_not_put_its_successor_to_sleep(
    stage: Stage, steps: int
) -> None:
    """A late piece of output has a session ask once more, after somebody has woken it again under its id."""
    session, message = stage.create()
    stage.workers.end(message)
    stage.settle()
    stage.supervisor.tell(ToSession(session, GoOn()))
    for _ in range(steps):
        stage.dispatcher.step()
    stage.workers.say(TurnOutput(session=session, turn=message, text="late"))
    prompt = Prompt(message_row(Send(relay="this", session=session, text="second"), stage.ports, None))
    accepted = stage.supervisor.request(ToSession(session, prompt))
    stage.settle()
    assert accepted.done
    assert stage.workers.texts == ["first", "second"]


def test_a_sleeping_session_is_a_row_and_a_message_wakes_it(stage: Stage) -> None:
    session, message = stage.create()
    stage.workers.end(message)
    stage.settle()
    assert stage.awake == []
    stage.send(session, "again")
    assert stage.awake == [session]
    assert stage.workers.texts == ["first", "again"]


def test_to_look_at_a_session_or_to_wait_for_what_has_ended_does_not_wake_it(stage: Stage) -> None:
    session, message = stage.create()
    stage.workers.end(message)
    stage.settle()
    asked = len(stage.reader.asked)
    assert stage.call("wait", session=session, message_id=message)["status"] == "done"
    assert stage.call("read_session", session=session)["state"] == "idle"
    assert stage.awake == []
    assert stage.reader.asked[asked:].count("load_session") == 1  # to show it, not to wake it


def test_a_session_that_cannot_be_loaded_refuses_what_waits_and_is_loaded_anew_by_the_next(
    stage: Stage,
) -> None:
    session, message = stage.create()
    stage.workers.end(message)
    stage.settle()
    stage.reader.hold()
    calls = [stage.begin("send", session=session, text=text, wait_seconds=0) for text in "ab"]
    stage.settle()
    stage.reader.release()
    stage.reader.hold()
    stage.settle()
    stage.reader.release()  # what the calls read of the session
    stage.reader.failing["load_session"] = StoreUnavailable("relay.db", "its disk is gone")
    stage.settle()
    assert {call.get()["code"] for call in calls} == {"REMOTE_RELAY_STORAGE"}
    stage.reader.failing.clear()
    stage.send(session, "c")
    assert stage.workers.texts == ["first", "c"]
    stage.workers.end(stage.workers.runs[1].turn)
    stage.settle()
    assert stage.awake == []


def test_a_session_that_cannot_be_loaded_looks_again_by_itself_for_what_waits(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, _ = stage.create()
    stage.send(session, "second")
    stage.drop()
    later = open_stage(settled=False)
    later.reader.failing["load_session"] = StoreUnavailable("relay.db", "its disk is gone")
    later.advance(100)
    assert later.workers.runs == []
    later.reader.failing.clear()
    later.advance(LONGEST_PAUSE)
    assert later.workers.texts == ["second"]


def test_a_session_that_cannot_be_loaded_does_not_keep_its_relay_from_closing(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, _ = stage.create()
    stage.send(session, "second")
    stage.drop()
    later = open_stage(settled=False)
    later.reader.failing["load_session"] = StoreUnavailable("relay.db", "its disk is gone")
    later.settle()
    assert later.awake == [session]
    later.close()


# -- stopping --------------------------------------------------------------------------------------


def test_a_stop_ends_the_turn_and_holds_the_queue_until_the_owner_goes_on(stage: Stage) -> None:
    session, first = stage.create()
    second = stage.send(session, "second")
    stage.stop(session)
    stage.settle()
    assert [stop.turn for stop in stage.workers.stops] == [first]
    assert (stage.status(first), stage.status(second)) == ("stopped", "queued")
    assert stage.awake == []  # it is stored that the queue is held
    stage.supervisor.tell(ToSession(session, GoOn()))
    stage.settle()
    assert list(stage.workers.open) == [second]


@pytest.mark.parametrize("seed", SEEDS)
def test_after_a_stop_a_new_message_lets_everything_run_in_order(open_stage: OpenStage, seed: int) -> None:
    stage = open_stage(seed)
    stage.workers.obedient = False
    session, first = stage.create()
    stage.send(session, "second")
    stage.stop(session)
    stage.settle()
    stage.send(session, "third")  # after the stop, before the worker has ended the turn
    stage.workers.end(first, "stopped")
    stage.settle()
    stage.workers.end(stage.workers.runs[-1].turn)
    stage.settle()
    assert stage.workers.texts == ["first", "second", "third"]


def test_a_fan_outs_stop_for_a_message_that_is_not_here_changes_nothing(stage: Stage) -> None:
    session, first = stage.create()
    answer = stage.supervisor.request(IfAwake(session, StopRunning("interrupted", "msg_other")))
    stage.settle()
    assert answer.get() is False
    assert stage.workers.stops == []
    second = stage.send(session, "second")
    stage.workers.end(first)
    stage.settle()
    assert list(stage.workers.open) == [second]


# -- a worker that says odd things ------------------------------------------------------------------


def test_an_end_that_comes_twice_counts_once(stage: Stage) -> None:
    session, first = stage.create()
    second = stage.send(session, "second")
    end = stage.workers.end(first, reply="once")
    stage.workers.say(end)
    stage.settle()
    stage.workers.say(
        end, TurnTaken(session=session, turn=first), TurnOutput(session=session, turn=first, text="x")
    )
    stage.settle()
    assert stage.events(session).count(("turn_end", first)) == 1
    assert list(stage.workers.open) == [second]
    assert _written_so_far(stage, session) == ""


def _written_so_far(stage: Stage, session: str) -> str:
    glance = stage.supervisor.request(IfAwake(session, Look()))
    stage.settle()
    text: str = glance.get().text
    return text


def test_a_receipt_that_comes_again_or_late_takes_nothing_from_what_was_written(stage: Stage) -> None:
    session, first = stage.create()
    stage.workers.write(first, "before the receipt, ")
    stage.workers.take(first)
    stage.workers.write(first, "after it")
    stage.workers.take(first)
    stage.workers.say(TurnTaken(session=session, turn="msg_other"))
    stage.settle()
    assert _written_so_far(stage, session) == "before the receipt, after it"


def test_what_a_worker_says_of_sessions_and_turns_that_are_not_there_changes_nothing(stage: Stage) -> None:
    session, first = stage.create()
    stage.workers.say(
        TurnEnded(session="ses_unknown", turn=first, outcome="done"),
        TurnEnded(session=session, turn="msg_unknown", outcome="failed"),
        TurnOutput(session="ses_unknown", turn="msg_unknown", text="hello"),
    )
    stage.settle()
    assert stage.status(first) == "handed"
    assert list(stage.workers.open) == [first]


def test_what_is_still_being_written_is_kept_within_bounds(stage: Stage) -> None:
    session, first = stage.create()
    for _ in range(100):
        stage.workers.write(first, "x" * 1_000)
    stage.workers.write(first, "the end")
    stage.settle()
    text = _written_so_far(stage, session)
    assert len(text) <= 20_000
    assert text.endswith("the end")


# -- who waits --------------------------------------------------------------------------------------


def test_nobody_waits_for_a_listener_that_is_gone(stage: Stage) -> None:
    run = stage.fan_out(["a"], jobs=1)
    stage.settle()
    run.ref.get().stop(block=False)
    stage.settle()
    turn = stage.workers.runs[0]
    stage.workers.end(turn.turn)
    stage.settle()
    assert stage.status(turn.turn) == "done"
    assert stage.awake == []


def test_waiting_again_and_again_does_not_pile_up(stage: Stage) -> None:
    session, first = stage.create()
    for _ in range(50):
        waiting = stage.begin("wait", session=session, message_id=first, wait_seconds=1)
        stage.advance(2)
        assert waiting.get()["status"] == "running"
    actor: Any = _ref(stage, session)._actor
    assert len(actor._turns.listeners._replies[first]) <= 2
    answer = stage.supervisor.request(IfAwake(session, AwaitEnd(first)))
    stage.workers.end(first)
    stage.settle()
    assert answer.get().end.outcome == "done"


def _ref(stage: Stage, session: str) -> Any:
    actor: Any = stage.supervisor._actor
    return actor.directory.find(session)
