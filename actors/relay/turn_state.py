"""What a session knows of its queue and its turn: plain data, and the ends that the relay itself gives."""

from dataclasses import dataclass
from typing import Literal

from showcaller.actors.contract.worker import StopReason, TurnEnded
from showcaller.actors.relay.turn_signals import Waiting

Phase = Literal["handing", "running", "stopping", "taking_back", "cancelling", "ending"]
Cut = Literal["stopped", "interrupted"]

CUT_TEXT = "cut while it ran, because the relay or its fan-out was stopped; it may have run in part"
UNSTORABLE = "the worker's end of this turn could not be stored as it was; the relay's log says why"
UNRETURNED = "cut before any worker had it, and cannot wait again; the relay's log says why"
UNHANDED = "this prompt could not be handed to a worker and never ran; the relay's log says why"


@dataclass(frozen=True, slots=True)
class Turn:
    """The turn under way.

    ``handing``: its hand-over is being committed; ``running``: the worker has it; ``stopping``: the
    worker was asked to end it; ``taking_back``: it was cut before any worker saw it, and that it waits
    again is being committed; ``cancelling``: it cannot be handed over, and that it is out of the queue is
    being committed; ``ending``: its end is being committed. ``cut`` is set once its end was asked for:
    ``stopped`` by somebody, ``interrupted`` because the relay or a fan-out ends. ``passed``: how many
    messages that were set aside stand before it in the queue.
    """

    message: Waiting
    phase: Phase
    cut: Cut | None = None
    end: TurnEnded | None = None
    passed: int = 0


@dataclass(frozen=True, slots=True)
class TurnState:
    """A session's queue in order of acceptance, and its turn.

    ``held``: a stop holds the queue; ``set_aside``: messages that a fan-out has cut, which wait for a
    ``GoOn`` while others pass them; ``closing``: the relay ends, so nothing begins any more; ``stops``
    counts the stops so far; ``pausing``: the store refused something and a ``TryAgain`` is due;
    ``refusals``: how often in a row it refused.
    """

    session: str
    queue: tuple[Waiting, ...] = ()
    turn: Turn | None = None
    held: bool = False
    set_aside: frozenset[str] = frozenset()
    closing: bool = False
    stops: int = 0
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
        return self.is_turn(message) or self.is_queued(message)

    @property
    def may_sleep(self) -> bool:
        """Whether nothing is lost when the session is put to sleep: what a stop holds is stored nowhere."""
        return self.turn is None and (not self.queue or self.closing)

    def position_of_next(self) -> int | None:
        """Say which message of the queue may begin; None when none may now."""
        if self.turn is not None or self.held or self.closing or self.pausing:
            return None
        return next((n for n, waiting in enumerate(self.queue) if waiting.id not in self.set_aside), None)


def stopped_end(session: str, message: str) -> TurnEnded:
    """Give the end of a turn that somebody stopped before a worker had anything to say of it."""
    return TurnEnded(session=session, turn=message, outcome="stopped")


def failed_end(session: str, message: str, why: str, stop_reason: StopReason = "died") -> TurnEnded:
    """Give the end of a turn that failed because of a mistake of ours."""
    return TurnEnded(session=session, turn=message, outcome="failed", error_text=why, stop_reason=stop_reason)


def as_cut(end: TurnEnded, cut: Cut | None) -> TurnEnded:
    """A turn that was cut because the relay ends has not been stopped by anybody: it is interrupted."""
    if end.outcome == "stopped" and cut == "interrupted":
        told = {"outcome": "failed", "stop_reason": "interrupted", "error_text": CUT_TEXT}
        return end.model_copy(update=told)
    return end
