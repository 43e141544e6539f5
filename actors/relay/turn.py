"""What a message or a worker's frame means for a session: the pure state machine of its turns.

``step(state, input)`` gives the next state and the effects that the session's actor carries out. Two
rules hold the whole machine together:

- An effect that must not happen twice (handing a prompt to an agent) follows the commit that says it
  will happen; the commit comes back as an input of its own.
- A turn has exactly one end. What a worker says about a turn that is not under way is ignored.

Here is what moves the queue and the turn; ``turn_arrivals.py`` has what comes in, ``turn_steering.py`` what
joins a turn that runs.
"""

from showcaller.actors.relay import turn_arrivals as arrivals
from showcaller.actors.relay import turn_steering as steering
from showcaller.actors.relay.turn_effects import (
    AskAgainLater,
    CommitFailure,
    CommitHold,
    CommitRelease,
    CommitTakeBack,
    LookUp,
    SendRun,
    SendStop,
)
from showcaller.actors.relay.turn_moves import (
    Step,
    after,
    announce,
    begin_next,
    commit_end,
    drop,
    end_turn,
    put_back,
    released,
    with_turn,
)
from showcaller.actors.relay.turn_signals import (
    Arrives,
    Asks,
    Continue,
    EndRefused,
    EndStored,
    Extended,
    FailureRefused,
    FailureStored,
    FoundHanded,
    FoundHeld,
    FoundSteered,
    FoundWaiting,
    GoOn,
    HandOverFailed,
    HandOverRefused,
    HandOverStored,
    HoldFailed,
    Input,
    JoiningRefused,
    NotStored,
    PutAway,
    Released,
    Returned,
    Steered,
    SteerFailed,
    SteerRefused,
    SteerStored,
    SteerTaken,
    Stop,
    Stored,
    StoreFailed,
    TakeBackRefused,
    Taken,
    TakenBack,
    TimeUp,
    TryAgain,
    Unsteered,
    Waiting,
    WorkerEnded,
)
from showcaller.actors.relay.turn_state import (
    UNHANDED,
    UNRETURNED,
    UNSTORABLE,
    WORKER_GONE,
    Cut,
    Joining,
    Turn,
    TurnState,
    failed_end,
    stopped_end,
)
from showcaller.actors.relay.turn_steering import LAST_TRIES


def step(state: TurnState, event: Input) -> Step:  # noqa: C901, PLR0912 - one line for each kind of input
    """Give what follows from one input; never raises for an input that comes late or twice."""
    match event:
        case Arrives() | Stored() | NotStored() | Extended():
            return arrivals.step(state, event)
        case Continue(message):
            return begin_next(state._replace(continuation=state.continuation or message))
        case HandOverStored(message_id):
            return _handed(state, message_id)
        case HandOverFailed(message_id):
            return _hand_over_failed(state, message_id)
        case HandOverRefused(message_id, faulty):
            known = state.is_turn(message_id, "handing")
            return _hand_over_refused(state, faulty=faulty) if known else Step(state)
        case TakenBack(message_id):
            return _taken_back(state) if state.is_turn(message_id, "taking_back") else Step(state)
        case TakeBackRefused(message_id, faulty):
            known = state.is_turn(message_id, "taking_back")
            return _take_back_refused(state, faulty=faulty) if known else Step(state)
        case FailureStored(message_id):
            return announce(state) if state.is_turn(message_id, "failing") else Step(state)
        case FailureRefused(message_id):
            return drop(state) if state.is_turn(message_id, "failing") else Step(state)
        case SteerStored() | SteerFailed() | SteerRefused() | Steered() | SteerTaken() | Unsteered():
            return _steering(state, event)
        case Asks(message_id, waits):
            return steering.asks(state, waits=waits) if state.is_turn(message_id, "running") else Step(state)
        case JoiningRefused(message_id, faulty):
            return steering.refused(state, message_id, faulty=faulty)
        case WorkerEnded(end):
            return end_turn(state, end) if state.is_turn(end.turn, "running", "stopping") else Step(state)
        case Returned(message_id):
            return _returned(state) if state.is_turn(message_id, "running", "stopping") else Step(state)
        case EndStored(message_id):
            return announce(state) if state.is_turn(message_id, "ending") else Step(state)
        case EndRefused(message_id, faulty):
            return _end_refused(state, faulty=faulty) if state.is_turn(message_id, "ending") else Step(state)
        case StoreFailed(message_id):
            return _store_failed(state, message_id)
        case Stop() | HoldFailed() | GoOn() | Released() | PutAway():
            return _holding(state, event)
        case Taken(messages):
            left = tuple(waiting for waiting in state.queue if waiting.id not in messages)
            return Step(state._replace(queue=left), tuple(LookUp(message) for message in messages))
        case TimeUp(message_id):
            return _cut_turn(state, "timeout") if state.is_turn(message_id, "running") else Step(state)
        case TryAgain():
            return _try_again(state) if state.pausing else Step(state)
        case FoundHeld() | FoundWaiting() | FoundHanded() | FoundSteered():
            return _found(state, event)


def _steering(
    state: TurnState, event: SteerStored | SteerFailed | SteerRefused | Steered | SteerTaken | Unsteered
) -> Step:
    match event:
        case SteerStored(message):
            return steering.stored(state, message)
        case SteerFailed(message) | Unsteered(message):
            return steering.waits_again(state, message)
        case SteerRefused(message):
            return steering.gone(state, message)
        case Steered(message, turn, accepted):
            known = state.is_turn(turn)
            return steering.steered(state, message, accepted=accepted) if known else Step(state)
        case SteerTaken(message):
            return steering.taken(state, message)


def _holding(state: TurnState, event: Stop | HoldFailed | GoOn | Released | PutAway) -> Step:
    match event:
        case Stop():
            return _stop(state, event)
        case HoldFailed():
            return Step(state._replace(hold_unstored=state.held))
        case GoOn(message):
            return _go_on(state, message)
        case Released(stops):
            return begin_next(released(state) if stops == state.stops else state)
        case PutAway():
            told = tuple(LookUp(waiting.id) for waiting in state.queue)
            emptied = state._replace(queue=(), continuation=None, set_aside=frozenset())
            return Step(released(emptied), told)


# -- what the store told of an earlier life --------------------------------------------------------


def _found(state: TurnState, event: FoundHeld | FoundWaiting | FoundHanded | FoundSteered) -> Step:
    match event:
        case FoundHeld():
            return Step(state._replace(held=True))
        case FoundWaiting(message):
            aside = {message.id} if message.is_attempt else frozenset()
            queued = state._replace(queue=(*state.queue, message), set_aside=state.set_aside | aside)
            return begin_next(queued)
        case FoundHanded(message, at_worker):
            return _found_handed(state, message, at_worker=at_worker)
        case FoundSteered(message, taken):
            return _found_steered(state, message, taken=taken)


def _found_handed(state: TurnState, message: Waiting, *, at_worker: bool) -> Step:
    if state.turn is not None:
        return Step(state)
    if at_worker:
        found = state._replace(turn=Turn(message, "running"))
        # A stop holds the queue: it was meant for this turn too, and may have got no further than the store.
        return _cut_turn(found, "stopped") if state.held else Step(found)
    cut = Turn(message, "stopping", cut="interrupted")
    ending = end_turn(state._replace(turn=cut), stopped_end(state.session, message.id))
    return Step(ending.state, (SendStop(message.id), *ending.effects))


def _found_steered(state: TurnState, message: Waiting, *, taken: bool) -> Step:
    turn = state.turn
    if turn is None:
        return Step(state)
    if taken:
        return Step(with_turn(state, turn, joined=(*turn.joined, message)))
    return Step(with_turn(state, turn, joining=Joining(message, "asked")))


# -- handing over ----------------------------------------------------------------------------------


def _handed(state: TurnState, message: str) -> Step:
    turn = state.turn
    if turn is None or not state.is_turn(message, "handing"):
        return Step(state)
    state = state._replace(refusals=0)
    if turn.cut == "stopped":
        return end_turn(state, stopped_end(state.session, message))
    if turn.cut == "interrupted" and turn.message.continues:
        return end_turn(state, stopped_end(state.session, message))
    if turn.cut == "interrupted":  # no worker has seen it, so it can simply wait again
        return Step(with_turn(state, turn, phase="taking_back"), (CommitTakeBack(message),))
    return Step(with_turn(state, turn, phase="running"), (SendRun(turn.message),))


def _hand_over_failed(state: TurnState, message: str) -> Step:
    turn = state.turn
    if turn is None or not state.is_turn(message, "handing"):
        return Step(state)
    waiting = put_back(state, turn)._replace(pausing=True, refusals=state.refusals + 1)
    look_up = (LookUp(message),) if turn.cut == "interrupted" else ()
    return Step(waiting, (*look_up, AskAgainLater()))


def _hand_over_refused(state: TurnState, *, faulty: bool) -> Step:
    """A message that can never be handed over fails, so that those behind it get their turn."""
    turn = state.turn
    assert turn is not None
    if not faulty or turn.message.continues:
        return drop(state)
    end = failed_end(state.session, turn.message.id, UNHANDED, error_class="other")
    return Step(with_turn(state, turn, phase="failing", end=end), (CommitFailure(end),))


def _returned(state: TurnState) -> Step:
    """What no worker has had waits again, unless its end was asked for or something has joined it."""
    turn = state.turn
    assert turn is not None
    if turn.cut == "stopped":
        return end_turn(state, stopped_end(state.session, turn.message.id))
    if turn.cut == "timeout" or turn.joined or turn.message.continues:
        end = failed_end(state.session, turn.message.id, WORKER_GONE, "interrupted")
        return end_turn(with_turn(state, turn, joining=None, joined=turn.steered), end)
    return steering.returned(with_turn(state, turn, phase="returned"))


def _taken_back(state: TurnState) -> Step:
    """It waits again; who waits for its end waits on, unless it was cut and so need not begin here again."""
    turn = state.turn
    assert turn is not None
    look_up = () if turn.cut is None else (LookUp(turn.message.id),)
    return after(put_back(state, turn)._replace(refusals=0), *look_up)


def _take_back_refused(state: TurnState, *, faulty: bool) -> Step:
    """What cannot wait again, though no worker has seen it, is interrupted: the store has it as handed."""
    assert state.turn is not None
    if not faulty:
        return drop(state)
    return end_turn(state, failed_end(state.session, state.turn.message.id, UNRETURNED, "interrupted"))


# -- ends, and what the store refused --------------------------------------------------------------


def _end_refused(state: TurnState, *, faulty: bool) -> Step:
    """An end that the store cannot take is replaced by one that it can, so that the turn has its end."""
    turn = state.turn
    assert turn is not None
    assert turn.end is not None
    if not faulty or turn.end.error_text == UNSTORABLE:
        return drop(state)
    plain = failed_end(state.session, turn.message.id, UNSTORABLE)
    return Step(with_turn(state, turn, end=plain), (commit_end(turn, plain),))


def _store_failed(state: TurnState, message: str) -> Step:
    turn = state.turn
    if turn is not None and turn.is_joining(message, "taking", "returning"):
        return steering.store_failed(state)
    if not state.is_turn(message, "ending", "taking_back", "failing"):
        return Step(state)
    state = state._replace(refusals=state.refusals + 1)
    if state.closing and state.refusals >= LAST_TRIES:
        return drop(state)
    return Step(state._replace(pausing=True), (AskAgainLater(),))


def _try_again(state: TurnState) -> Step:
    state = state._replace(pausing=False)
    turn = state.turn
    if turn is None:
        return begin_next(state)
    joins = steering.try_again(state, turn)
    if joins is not None:
        return joins
    if turn.phase == "ending" and turn.end is not None:
        return Step(state, (commit_end(turn, turn.end),))
    if turn.phase == "taking_back":
        return Step(state, (CommitTakeBack(turn.message.id),))
    if turn.phase == "failing" and turn.end is not None:
        return Step(state, (CommitFailure(turn.end),))
    return Step(state)


# -- stopping, and going on ------------------------------------------------------------------------


def _stop(state: TurnState, stop: Stop) -> Step:
    cut: Cut = "stopped" if stop.why == "stopped" else "interrupted"
    if stop.message is not None:
        state = state._replace(set_aside=state.set_aside | {stop.message})
        return _cut_turn(state, cut) if state.is_turn(stop.message) else Step(state)
    if stop.why in {"closing", "leaving"}:
        return _close(state, stop)
    return _hold(state._replace(stops=state.stops + 1), cut, stop)


def _hold(state: TurnState, cut: Cut, stop: Stop) -> Step:
    has_work = state.turn is not None or bool(state.queue) or state.continuation is not None or stop.others
    if not has_work and not state.held:  # what holds may be on its way to be released
        return Step(state)
    stopped = _cut_turn(state._replace(held=True, hold_unstored=False), cut)
    return Step(stopped.state, (CommitHold(), *stopped.effects))


def _close(state: TurnState, stop: Stop) -> Step:
    """Begin nothing more, and do not sit out long pauses; a hold that is not stored has its last chance.

    Not when messages are being stored, which may lift it.
    """
    hold = (CommitHold(),) if state.hold_unstored and not stop.others and not state.closing else ()
    state = state._replace(closing=True, leaving=stop.why == "leaving")
    tried = _try_again(state) if state.pausing and state.turn is not None else Step(state)
    goes_on = state.leaving and tried.state.turn is not None and tried.state.turn.phase == "running"
    cut = Step(tried.state) if goes_on else _cut_turn(tried.state, "interrupted")
    return Step(cut.state, (*hold, *tried.effects, *cut.effects))


def _cut_turn(state: TurnState, cut: Cut) -> Step:
    turn = state.turn
    if turn is not None and turn.phase == "running":
        return Step(with_turn(state, turn, phase="stopping", cut=cut), (SendStop(turn.message.id),))
    comes_back = turn is not None and turn.phase in {"returned", "taking_back"}
    if turn is not None and (turn.phase == "handing" or (comes_back and cut == "interrupted")):
        return Step(with_turn(state, turn, cut=turn.cut or cut))
    return Step(state)


def _go_on(state: TurnState, message: str | None) -> Step:
    aside = state.set_aside - {message} if message is not None else frozenset[str]()
    state = state._replace(set_aside=aside)
    if state.held:
        return Step(state, (CommitRelease(state.stops),))
    return begin_next(state)
