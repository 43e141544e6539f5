"""What the state machine of a session's turns makes of each input."""

from typing import Any

import pytest

from showcaller.actors.contract.worker import TurnEnded
from showcaller.actors.relay import turn_effects
from showcaller.actors.relay import turn_signals as signals
from showcaller.actors.relay.turn import step
from showcaller.actors.relay.turn_state import TurnState
from showcaller.actors.relay.turn_steering import LAST_TRIES

SESSION = "ses_000000000001"
ORIGINS = ("owner", "agent", "wakeup", "schedule", "policy")


def ended(message: str, outcome: Any = "done", **more: Any) -> TurnEnded:
    return TurnEnded(session=SESSION, turn=message, outcome=outcome, **more)


def message(number: int, origin: str = "owner") -> signals.Waiting:
    return signals.Waiting(f"msg_{number:012}", f"text {number}", origin)


class Machine:
    """Feeds inputs and keeps the effects of the last one."""

    def __init__(self, *queue: signals.Waiting) -> None:
        self.state = TurnState(SESSION)
        self.effects: tuple[turn_effects.Effect, ...] = ()
        for waiting in queue:
            self.feed(signals.Stored(waiting, self.state.stops))

    def feed(self, event: signals.Input) -> tuple[turn_effects.Effect, ...]:
        self.state, self.effects = step(self.state, event)
        return self.effects


FIRST, SECOND, THIRD = message(1), message(2), message(3)


def running(*queue: signals.Waiting) -> Machine:
    machine = Machine(FIRST, *queue)
    machine.feed(signals.HandOverStored(FIRST.id))
    return machine


def test_a_second_message_during_a_turn_waits_until_that_turn_has_its_end() -> None:
    machine = running()
    assert machine.feed(signals.Stored(SECOND, 0)) == ()
    end = ended(FIRST.id)
    assert machine.feed(signals.WorkerEnded(end)) == (turn_effects.CommitEnd(end),)
    assert machine.feed(signals.EndStored(FIRST.id)) == (
        turn_effects.Announce(end),
        turn_effects.CommitHandOver(SECOND),
    )


@pytest.mark.parametrize("origin", ORIGINS)
def test_after_a_stop_only_a_new_message_of_the_owner_or_an_agent_lets_the_queue_go_on(origin: str) -> None:
    machine = running(SECOND)
    machine.feed(signals.Stop("stopped"))
    machine.feed(signals.WorkerEnded(ended(FIRST.id, "stopped")))
    machine.feed(signals.EndStored(FIRST.id))
    assert machine.state.turn is None
    effects = machine.feed(signals.Stored(message(3, origin), machine.state.stops))
    assert effects == ((turn_effects.CommitHandOver(SECOND),) if origin in {"owner", "agent"} else ())


def test_a_message_that_comes_after_the_stop_and_before_the_turns_end_lifts_the_hold() -> None:
    machine = running(SECOND)
    machine.feed(signals.Stop("stopped"))
    machine.feed(signals.Stored(THIRD, machine.state.stops))
    machine.feed(signals.WorkerEnded(ended(FIRST.id, "stopped")))
    assert turn_effects.CommitHandOver(SECOND) in machine.feed(signals.EndStored(FIRST.id))


def test_a_message_that_was_being_stored_when_the_stop_came_is_held_with_the_rest() -> None:
    machine = running()
    arrived = signals.Stored(SECOND, machine.state.stops)
    machine.feed(signals.Stop("stopped", others=True))
    machine.feed(arrived)
    machine.feed(signals.WorkerEnded(ended(FIRST.id, "stopped")))
    machine.feed(signals.EndStored(FIRST.id))
    assert (machine.state.turn, machine.state.queue) == (None, (SECOND,))
    assert machine.feed(signals.GoOn()) == (turn_effects.CommitRelease(1),)
    assert machine.feed(signals.Released(1)) == (turn_effects.CommitHandOver(SECOND),)


def test_a_stop_with_nothing_under_way_holds_nothing() -> None:
    machine = Machine()
    machine.feed(signals.Stop("stopped"))
    assert machine.feed(signals.Stored(message(1, "wakeup"), 1)) == (
        turn_effects.CommitHandOver(message(1, "wakeup")),
    )


def test_a_turn_stopped_before_its_worker_saw_it_ends_as_stopped_without_being_sent() -> None:
    machine = Machine(FIRST)
    machine.feed(signals.Stop("stopped"))
    (commit,) = machine.feed(signals.HandOverStored(FIRST.id))
    assert isinstance(commit, turn_effects.CommitEnd)
    assert commit.end.outcome == "stopped"


@pytest.mark.parametrize("why", ["interrupted", "closing"])
def test_a_turn_cut_before_its_worker_saw_it_waits_again(why: Any) -> None:
    machine = Machine(FIRST)
    machine.feed(signals.Stop(why))
    assert machine.feed(signals.HandOverStored(FIRST.id)) == (turn_effects.CommitTakeBack(FIRST.id),)
    assert machine.feed(signals.TakenBack(FIRST.id)) == (turn_effects.LookUp(FIRST.id),)
    assert machine.state.queue == (FIRST,)


@pytest.mark.parametrize("why", ["interrupted", "closing"])
def test_a_turn_that_is_cut_while_it_runs_is_interrupted_and_may_have_run_in_part(why: Any) -> None:
    machine = running()
    message = FIRST.id if why == "interrupted" else None
    assert machine.feed(signals.Stop(why, message)) == (turn_effects.SendStop(FIRST.id),)
    (commit,) = machine.feed(signals.WorkerEnded(ended(FIRST.id, "stopped", reply="half")))
    assert isinstance(commit, turn_effects.CommitEnd)
    end = commit.end
    assert (end.outcome, end.stop_reason, end.reply) == ("failed", "interrupted", "half")
    assert end.error_text is not None
    assert "in part" in end.error_text


def test_a_turn_that_ended_by_itself_while_it_was_being_cut_keeps_its_own_end() -> None:
    machine = running()
    machine.feed(signals.Stop("closing"))
    end = ended(FIRST.id, "done", reply="whole")
    assert machine.feed(signals.WorkerEnded(end)) == (turn_effects.CommitEnd(end),)


def test_a_fan_out_that_cuts_its_waiting_message_holds_that_message_alone() -> None:
    machine = running(SECOND)
    assert machine.feed(signals.Stop("interrupted", SECOND.id)) == ()
    machine.feed(signals.WorkerEnded(ended(FIRST.id)))
    machine.feed(signals.EndStored(FIRST.id))
    assert (machine.state.turn, machine.state.queue) == (None, (SECOND,))
    assert machine.state.may_sleep
    assert machine.feed(signals.Stored(THIRD, 0)) == (turn_effects.CommitHandOver(THIRD),)
    machine.feed(signals.HandOverStored(THIRD.id))
    machine.feed(signals.WorkerEnded(ended(THIRD.id)))
    machine.feed(signals.EndStored(THIRD.id))
    assert machine.state.queue == (SECOND,)
    assert machine.feed(signals.GoOn()) == (turn_effects.CommitHandOver(SECOND),)


def test_an_owners_message_behind_one_that_a_fan_out_cuts_runs_whatever_its_phase() -> None:
    machine = running(SECOND)
    machine.feed(signals.Stop("interrupted", FIRST.id))
    machine.feed(signals.WorkerEnded(ended(FIRST.id, "stopped")))
    assert turn_effects.CommitHandOver(SECOND) in machine.feed(signals.EndStored(FIRST.id))
    machine = Machine(FIRST, SECOND)
    machine.feed(signals.Stop("interrupted", FIRST.id))
    machine.feed(signals.HandOverStored(FIRST.id))
    effects = machine.feed(signals.TakenBack(FIRST.id))
    assert effects == (turn_effects.LookUp(FIRST.id), turn_effects.CommitHandOver(SECOND))
    assert machine.state.queue == (FIRST,)


def test_a_message_that_a_fan_out_cuts_while_it_is_being_stored_is_held_alone() -> None:
    machine = Machine()
    machine.feed(signals.Stop("interrupted", FIRST.id, others=True))
    assert machine.feed(signals.Stored(FIRST, 0)) == ()
    assert machine.feed(signals.Stored(SECOND, 0)) == (turn_effects.CommitHandOver(SECOND),)


def test_a_message_that_waits_again_keeps_its_place_behind_those_set_aside_before_it() -> None:
    machine = Machine(FIRST, SECOND)
    machine.feed(signals.Stop("interrupted", SECOND.id))
    machine.feed(signals.HandOverRefused(FIRST.id))
    machine.feed(signals.Stored(THIRD, 0))
    machine.feed(signals.HandOverFailed(THIRD.id))
    assert machine.state.queue == (SECOND, THIRD)


def test_a_message_taken_out_of_the_queue_tells_those_who_wait_and_the_next_begins() -> None:
    machine = Machine(FIRST, SECOND)
    effects = machine.feed(signals.HandOverRefused(FIRST.id))
    assert effects == (turn_effects.LookUp(FIRST.id), turn_effects.CommitHandOver(SECOND))


def test_what_the_store_refused_is_tried_again_after_one_pause_whatever_comes_meanwhile() -> None:
    machine = Machine(FIRST)
    assert machine.feed(signals.HandOverFailed(FIRST.id)) == (turn_effects.AskAgainLater(),)
    assert machine.feed(signals.Stored(SECOND, 0)) == ()
    assert machine.feed(signals.TryAgain()) == (turn_effects.CommitHandOver(FIRST),)
    assert machine.feed(signals.TryAgain()) == ()


def test_a_message_that_can_never_be_handed_over_is_taken_out_and_fails_with_the_reason() -> None:
    machine = Machine(FIRST, SECOND)
    (commit,) = machine.feed(signals.HandOverRefused(FIRST.id, faulty=True))
    assert isinstance(commit, turn_effects.CommitFailure)
    announced, following = machine.feed(signals.FailureStored(FIRST.id))
    assert isinstance(announced, turn_effects.Announce)
    assert (announced.end.outcome, announced.end.stop_reason) == ("failed", "died")
    assert "never ran" in (announced.end.error_text or "")
    assert following == turn_effects.CommitHandOver(SECOND)


def test_what_can_neither_be_handed_over_nor_be_taken_out_is_left_to_the_store() -> None:
    machine = Machine(FIRST, SECOND)
    commit = machine.feed(signals.HandOverRefused(FIRST.id, faulty=True))
    assert machine.feed(signals.StoreFailed(FIRST.id)) == (turn_effects.AskAgainLater(),)
    assert machine.feed(signals.TryAgain()) == commit
    effects = machine.feed(signals.FailureRefused(FIRST.id))
    assert effects == (turn_effects.LookUp(FIRST.id), turn_effects.CommitHandOver(SECOND))


def test_a_cut_message_that_cannot_wait_again_ends_as_interrupted() -> None:
    machine = Machine(FIRST)
    machine.feed(signals.Stop("closing"))
    machine.feed(signals.HandOverStored(FIRST.id))
    (commit,) = machine.feed(signals.TakeBackRefused(FIRST.id, faulty=True))
    assert isinstance(commit, turn_effects.CommitEnd)
    assert (commit.end.outcome, commit.end.stop_reason) == ("failed", "interrupted")
    machine = Machine(FIRST)
    machine.feed(signals.Stop("closing"))
    machine.feed(signals.HandOverStored(FIRST.id))
    assert machine.feed(signals.TakeBackRefused(FIRST.id)) == (turn_effects.LookUp(FIRST.id),)
    assert machine.state.queue == ()


def test_an_end_that_the_store_cannot_take_is_replaced_by_one_that_it_can() -> None:
    machine = running(SECOND)
    machine.feed(signals.WorkerEnded(ended(FIRST.id, reply="odd", exit_code=3)))
    (commit,) = machine.feed(signals.EndRefused(FIRST.id, faulty=True))
    assert isinstance(commit, turn_effects.CommitEnd)
    assert (commit.end.outcome, commit.end.reply, commit.end.exit_code) == ("failed", "", None)
    assert machine.feed(signals.EndRefused(FIRST.id, faulty=True)) == (
        turn_effects.LookUp(FIRST.id),
        turn_effects.CommitHandOver(SECOND),
    )


def test_a_relay_that_closes_leaves_an_end_undone_when_the_store_keeps_refusing_it() -> None:
    machine = running()
    machine.feed(signals.Stop("closing"))
    machine.feed(signals.WorkerEnded(ended(FIRST.id, "stopped")))
    for _ in range(LAST_TRIES - 1):
        assert machine.feed(signals.StoreFailed(FIRST.id)) == (turn_effects.AskAgainLater(),)
        machine.feed(signals.TryAgain())
    assert machine.feed(signals.StoreFailed(FIRST.id)) == (turn_effects.LookUp(FIRST.id),)
    assert machine.state.turn is None


@pytest.mark.parametrize("accepted", [False, True], ids=["refused", "taken"])
def test_what_the_agent_said_of_a_message_goes_with_the_end_when_the_store_refuses_it_as_the_relay_closes(
    *, accepted: bool
) -> None:
    machine = running()
    machine.feed(signals.Stored(SECOND, 0, steers=True))
    machine.feed(signals.SteerStored(SECOND.id))
    machine.feed(signals.Steered(SECOND.id, FIRST.id, accepted=accepted))
    machine.feed(signals.Stop("closing"))
    machine.feed(signals.WorkerEnded(ended(FIRST.id)))
    for _ in range(LAST_TRIES - 1):
        assert machine.feed(signals.StoreFailed(SECOND.id)) == (turn_effects.AskAgainLater(),)
        machine.feed(signals.TryAgain())
    (commit,) = machine.feed(signals.StoreFailed(SECOND.id))
    assert isinstance(commit, turn_effects.CommitEnd)
    assert commit.untold == (SECOND.id, accepted)
    assert machine.feed(signals.StoreFailed(FIRST.id)) == (turn_effects.AskAgainLater(),)
    assert machine.feed(signals.TryAgain()) == (commit,)
    told = machine.feed(signals.EndStored(FIRST.id))
    if accepted:
        assert [effect.end.turn for effect in told if isinstance(effect, turn_effects.Announce)] == [
            FIRST.id,
            SECOND.id,
        ]
    else:
        assert turn_effects.LookUp(SECOND.id) in told
        assert machine.state.queue == (SECOND,)


def test_a_relay_that_closes_does_not_sit_out_a_long_pause() -> None:
    machine = running()
    end = ended(FIRST.id)
    machine.feed(signals.WorkerEnded(end))
    machine.feed(signals.StoreFailed(FIRST.id))
    assert machine.feed(signals.Stop("closing")) == (turn_effects.CommitEnd(end),)


def test_a_turn_that_only_the_store_knows_of_is_ended_as_interrupted_and_its_worker_told() -> None:
    machine = Machine()
    stop, commit = machine.feed(signals.FoundHanded(FIRST))
    assert stop == turn_effects.SendStop(FIRST.id)
    assert isinstance(commit, turn_effects.CommitEnd)
    assert commit.end.stop_reason == "interrupted"
    assert machine.feed(signals.Stored(SECOND, 0)) == ()


def test_a_turn_at_a_worker_in_a_session_that_a_stop_holds_is_stopped_again() -> None:
    machine = Machine()
    machine.feed(signals.FoundHeld())
    assert machine.feed(signals.FoundHanded(FIRST, at_worker=True)) == (turn_effects.SendStop(FIRST.id),)
    assert machine.feed(signals.FoundWaiting(SECOND)) == ()
    (commit,) = machine.feed(signals.WorkerEnded(ended(FIRST.id, "stopped")))
    assert isinstance(commit, turn_effects.CommitEnd)
    machine.feed(signals.EndStored(FIRST.id))
    assert machine.state.turn is None, "the second waits until the owner lets it go on"


def test_the_reply_is_not_told_to_be_for_a_message_that_the_agent_never_acknowledged() -> None:
    machine = running()
    machine.feed(signals.Stored(SECOND, 0, steers=True))
    machine.feed(signals.SteerStored(SECOND.id))
    machine.feed(signals.WorkerEnded(ended(FIRST.id, reply="for the first alone")))
    if machine.state.pausing:
        machine.feed(signals.TryAgain())
    announced = machine.feed(signals.EndStored(FIRST.id))
    answered = {e.end.turn: e.is_answered for e in announced if isinstance(e, turn_effects.Announce)}
    assert answered == {FIRST.id: True, SECOND.id: False}


def arriving() -> Machine:
    machine = Machine()
    machine.feed(signals.Arrives(FIRST.id))
    return machine


def handed(stops: int = 0) -> signals.Stored:
    return signals.Stored(FIRST, stops, handed=True)


def test_what_is_stored_with_its_hand_over_is_sent_at_once_and_not_before() -> None:
    machine = Machine()
    assert machine.feed(signals.Arrives(FIRST.id)) == ()
    assert machine.feed(handed()) == (turn_effects.SendRun(FIRST),)
    assert machine.state.is_turn(FIRST.id, "running")


def test_no_other_turn_begins_while_a_message_is_stored_with_its_hand_over() -> None:
    machine = arriving()
    continuation = signals.Waiting("msg_task", "", "task", continues=True)
    assert machine.feed(signals.Continue(continuation)) == ()
    assert machine.feed(handed()) == (turn_effects.SendRun(FIRST),)
    end = ended(FIRST.id)
    machine.feed(signals.WorkerEnded(end))
    assert turn_effects.CommitContinuation(continuation) in machine.feed(signals.EndStored(FIRST.id))


def test_what_could_not_be_stored_lets_the_next_begin() -> None:
    machine = arriving()
    machine.feed(signals.Continue(signals.Waiting("msg_task", "", "task", continues=True)))
    (effect,) = machine.feed(signals.NotStored(FIRST.id))
    assert isinstance(effect, turn_effects.CommitContinuation)


def test_what_the_store_did_not_hand_over_is_handed_over_by_itself() -> None:
    assert arriving().feed(signals.Stored(FIRST, 0)) == (turn_effects.CommitHandOver(FIRST),)


def test_a_stop_that_comes_meanwhile_holds_it_and_no_worker_sees_it() -> None:
    machine = arriving()
    machine.feed(signals.Stop("stopped", others=True))
    assert machine.feed(handed()) == (turn_effects.CommitTakeBack(FIRST.id),)
    assert machine.feed(signals.TakenBack(FIRST.id)) == ()
    assert machine.state.queue == (FIRST,)
    assert machine.state.held


@pytest.mark.parametrize("why", ["closing", "leaving"])
def test_a_relay_that_ends_meanwhile_leaves_it_waiting_and_tells_who_waits(why: signals.Why) -> None:
    machine = arriving()
    machine.feed(signals.Stop(why, others=True))
    assert machine.feed(handed()) == (turn_effects.CommitTakeBack(FIRST.id),)
    assert not machine.state.may_sleep
    assert machine.feed(signals.TakenBack(FIRST.id)) == (turn_effects.LookUp(FIRST.id),)
    assert machine.state.may_sleep


def test_an_attempt_that_its_fan_out_cuts_meanwhile_is_set_aside() -> None:
    machine = arriving()
    machine.feed(signals.Stop("interrupted", FIRST.id))
    assert machine.feed(handed()) == (turn_effects.CommitTakeBack(FIRST.id),)
    assert machine.feed(signals.TakenBack(FIRST.id)) == (turn_effects.LookUp(FIRST.id),)
    assert machine.state.queue == (FIRST,)
    assert machine.feed(signals.GoOn(FIRST.id)) == (turn_effects.CommitHandOver(FIRST),)


@pytest.mark.parametrize("state", ["held", "busy", "external"])
def test_nothing_is_promised_to_a_message_that_has_to_wait(state: str) -> None:
    machine = running() if state == "busy" else Machine()
    machine.state = machine.state._replace(held=state == "held", external=state == "external")
    assert not machine.state.is_free
    before = machine.state
    assert machine.feed(signals.Arrives(SECOND.id)) == ()
    assert machine.state == before
