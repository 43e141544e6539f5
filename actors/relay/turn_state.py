"""What a session knows of its queue and its turn: plain data, and the ends that the relay itself gives."""

from typing import Literal, NamedTuple

from showcaller.actors.contract.worker import ErrorClass, StopReason, TurnEnded
from showcaller.actors.relay.turn_effects import Untold
from showcaller.actors.relay.turn_signals import Waiting
from showcaller.store.interruptions import UNACKNOWLEDGED

Phase = Literal["handing", "running", "stopping", "returned", "taking_back", "failing", "ending"]
Cut = Literal["stopped", "interrupted", "timeout"]
JoiningPhase = Literal["storing", "asked", "taking", "returning"]

CUT_TEXT = "cut while it ran, because the relay or its fan-out was stopped; it may have run in part"
UNSTORABLE = "the worker's end of this turn could not be stored as it was; the relay's log says why"
UNRETURNED = "cut before any worker had it, and cannot wait again; the relay's log says why"
WORKER_GONE = "its worker died before it had this turn, which was being stopped or joined meanwhile"
UNHANDED = "this prompt could not be handed to a worker and never ran; the relay's log says why"
TIMED_OUT = "stopped because it ran as long as a turn may; the setting max_turn_minutes says how long"


class Joining(NamedTuple):
    """A message on its way into the turn.

    ``storing``: that it joins is being committed; ``asked``: its agent may see it, and has not said so;
    ``taking``: the agent has it, which is being committed; ``returning``: the agent has not seen it, and that
    it waits again is being committed. ``with_end``: that is committed with the turn's end, because the store
    has refused it and the relay closes.
    """

    message: Waiting
    phase: JoiningPhase
    with_end: bool = False

    @property
    def untold(self) -> Untold | None:
        """What the turn's end has to say of it, if anything."""
        return Untold(self.message.id, self.phase == "taking") if self.with_end else None


class Turn(NamedTuple):
    """The turn under way.

    ``handing``: its hand-over is being committed; ``running``: the worker has it; ``stopping``: the worker
    was asked to end it; ``returned``: its worker has died without it, and what was to join it is being put
    back first; ``taking_back``: no agent has seen it, and that it waits again is being committed;
    ``failing``: it cannot be handed over, and that it has failed is being committed; ``ending``: its end is
    being committed, or will be once it is settled what joins it. ``cut`` is set once its end was asked for:
    ``stopped`` by somebody, ``interrupted`` because the relay or a fan-out ends, ``timeout`` because it took
    too long. ``passed``: how many messages that were set aside stand before it in the queue. ``joined`` are
    the messages that its agent has taken into it, ``joining`` is the one on its way there, ``may_join`` are
    those in the queue that may follow. ``asks``: its agent waits on a card.
    """

    message: Waiting
    phase: Phase
    cut: Cut | None = None
    end: TurnEnded | None = None
    passed: int = 0
    joined: tuple[Waiting, ...] = ()
    joining: Joining | None = None
    may_join: frozenset[str] = frozenset()
    asks: bool = False

    @property
    def steered(self) -> tuple[Waiting, ...]:
        """The messages whose end is this turn's: those that have joined it, and one on its way there."""
        return self.joined if self.joining is None else (*self.joined, self.joining.message)

    def is_joining(self, message: str, *phases: JoiningPhase) -> bool:
        """Tell whether this message is on its way into the turn, in one of these phases."""
        joining = self.joining
        return joining is not None and joining.message.id == message and joining.phase in phases


class TurnState(NamedTuple):
    """A session's queue in order of acceptance, and its turn.

    ``arriving``: this message is being stored with its hand-over, and no other turn begins before it is;
    ``held``: a stop holds the queue, ``hold_unstored`` without the store knowing it; ``set_aside``: messages
    that a fan-out has cut, which wait for a ``GoOn`` while others pass them; ``continuation``: the agent
    goes on by itself before what waits; ``closing``: the relay ends, so nothing begins any more, and
    ``leaving``: its worker does not end with it; ``stops`` counts the stops so far; ``external``: no worker
    gets what waits here, its client takes it; ``pausing``: the store refused something and a ``TryAgain`` is
    due; ``refusals``: how often in a row it refused.
    """

    session: str
    queue: tuple[Waiting, ...] = ()
    turn: Turn | None = None
    arriving: str | None = None
    held: bool = False
    hold_unstored: bool = False
    set_aside: frozenset[str] = frozenset()
    continuation: Waiting | None = None
    closing: bool = False
    leaving: bool = False
    stops: int = 0
    external: bool = False
    pausing: bool = False
    refusals: int = 0

    def is_turn(self, message: str, *phases: Phase) -> bool:
        """Tell whether this message's turn is under way, in one of these phases if any are given."""
        turn = self.turn
        return turn is not None and turn.message.id == message and (not phases or turn.phase in phases)

    def is_queued(self, message: str) -> bool:
        """Tell whether this message waits for its turn."""
        return any(waiting.id == message for waiting in self.queue)

    def is_under_way(self, message: str) -> bool:
        """Tell whether an end of this message will come of this session."""
        if self.is_turn(message) or self.is_queued(message):
            return True
        return self.turn is not None and any(waiting.id == message for waiting in self.turn.steered)

    @property
    def works(self) -> bool:
        """Whether a turn is under way, or will be without anybody's doing anything."""
        if self.turn is not None:
            return True
        due = self.continuation is not None or self._first_in_line() is not None
        return due and not (self.held or self.closing)

    @property
    def may_sleep(self) -> bool:
        """Whether nothing is lost when the session is put to sleep: all that it knows is stored."""
        if self.turn is not None:
            joining = self.turn.joining
            goes_on = self.leaving and self.turn.phase in {"running", "stopping"}
            return goes_on and (joining is None or joining.with_end)  # the next relay asks the worker
        holds = self.hold_unstored and bool(self.queue)  # with nothing in it nobody would miss the hold
        return self.closing or not (self.works or self.continuation or self.pausing or holds)

    @property
    def may_begin(self) -> bool:
        """Whether a turn may begin now, if there is something to begin."""
        return self.turn is None and not (self.arriving or self.held or self.closing or self.pausing)

    @property
    def is_free(self) -> bool:
        """Whether a message that arrives now would be the next turn, at once."""
        return self.may_begin and not (self.queue or self.continuation or self.external)

    def position_of_next(self) -> int | None:
        """Say which message of the queue may begin; None when none may now."""
        return self._first_in_line() if self.may_begin else None

    def _first_in_line(self) -> int | None:
        if self.external:
            return None
        return next((n for n, waiting in enumerate(self.queue) if waiting.id not in self.set_aside), None)


def stopped_end(session: str, message: str) -> TurnEnded:
    """Give the end of a turn that somebody stopped before a worker had anything to say of it."""
    return TurnEnded(session=session, turn=message, outcome="stopped")


def failed_end(
    session: str,
    message: str,
    why: str,
    stop_reason: StopReason = "died",
    error_class: ErrorClass | None = None,
) -> TurnEnded:
    """Give the end of a turn that failed because of a mistake of ours."""
    return TurnEnded(
        session=session,
        turn=message,
        outcome="failed",
        error_text=why,
        stop_reason=stop_reason,
        error_class=error_class,
    )


def as_cut(end: TurnEnded, cut: Cut | None) -> TurnEnded:
    """Give the end of a turn that was cut though nobody stopped it: it is interrupted, or out of time."""
    if end.outcome != "stopped" or cut not in {"interrupted", "timeout"}:
        return end
    why = CUT_TEXT if cut == "interrupted" else TIMED_OUT
    return end.model_copy(update={"outcome": "failed", "stop_reason": cut, "error_text": why})


def joined_ends(turn: Turn, end: TurnEnded) -> tuple[TurnEnded, ...]:
    """Give the ends of what joined a turn: its own, but interrupted where the agent was silent."""
    untold = None if turn.joining is None else turn.joining.untold
    joined = [waiting.id for waiting in turn.joined]
    if untold is not None and untold.is_taken:
        joined.append(untold.message)
    ends = tuple(end.model_copy(update={"turn": message}) for message in joined)
    if turn.joining is None or untold is not None:
        return ends
    return (*ends, failed_end(end.session, turn.joining.message.id, UNACKNOWLEDGED, "interrupted"))
