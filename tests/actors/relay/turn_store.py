"""What a store makes of the commands of a session's turns: a model of it, simple enough to be believed."""

from collections import deque
from typing import Literal, NamedTuple

from showcaller.actors.relay import turn_effects
from showcaller.actors.relay import turn_signals as signals
from showcaller.store.interruptions import UNACKNOWLEDGED

RELEASING = frozenset({"owner", "agent"})


class Accept(NamedTuple):
    """A message is to be stored, perhaps with its hand-over; ``stops`` is what the session counted then."""

    message: signals.Waiting
    stops: int
    steers: bool
    hand_over: bool


class Extend(NamedTuple):
    """A message that waits is to get this text."""

    message: str
    text: str


class Archive(NamedTuple):
    """The session is to be put away."""


OfTurn = (
    turn_effects.CommitHandOver
    | turn_effects.CommitContinuation
    | turn_effects.CommitTakeBack
    | turn_effects.CommitFailure
    | turn_effects.CommitSteer
    | turn_effects.CommitTaken
    | turn_effects.CommitUnsteer
    | turn_effects.CommitEnd
)
Command = Accept | Archive | Extend | OfTurn | turn_effects.CommitHold | turn_effects.CommitRelease
Refusal = Literal["storage", "fault"]


class Row(NamedTuple):
    """A message as the store has it."""

    message: signals.Waiting
    status: str
    steered_into: str | None = None
    taken: bool = False
    error: str | None = None


class ModelStore:
    """Takes commands in order and commits them one by one, or refuses."""

    def __init__(self) -> None:
        self.pipe: deque[Command] = deque()
        self.rows: dict[str, Row] = {}
        self.held = False
        self.archived = False

    # -- looking -----------------------------------------------------------------------------------

    def status(self, message: str) -> str:
        return self.rows[message].status

    def with_status(self, status: str) -> list[Row]:
        return [row for row in self.rows.values() if row.status == status]

    @property
    def turn(self) -> Row | None:
        """The row of the turn that it takes to be running."""
        return next((row for row in self.with_status("handed") if row.steered_into is None), None)

    @property
    def of_turn(self) -> list[Command]:
        """The commands under way that are about the turn."""
        return [command for command in self.pipe if isinstance(command, OfTurn)]

    @property
    def being_stored(self) -> list[signals.Waiting]:
        """The messages that are on their way into the store."""
        return [command.message for command in self.pipe if isinstance(command, Accept)]

    # -- committing --------------------------------------------------------------------------------

    def commit(self) -> list[signals.Input]:
        """Commit the next command and give what the session hears of it."""
        command = self.pipe.popleft()
        match command:
            case Accept():
                return [self._accept(command)]
            case Archive():
                return self._archive()
            case Extend():
                return self._extend(command)
            case turn_effects.CommitHold():
                self.held = True
                return []
            case turn_effects.CommitRelease(stops):
                self.held = False
                return [signals.Released(stops)]
            case _:
                return [self._commit_of_turn(command)]

    def _accept(self, command: Accept) -> signals.Input:
        message = command.message
        if self.archived:
            return signals.NotStored(message.id)
        is_free = not (self.held or self.with_status("queued") or self.with_status("handed"))
        handed = command.hand_over and is_free
        self.rows[message.id] = Row(message, "handed" if handed else "queued")
        self.held = self.held and message.origin not in RELEASING
        return signals.Stored(message, command.stops, command.steers, handed)

    def _extend(self, command: Extend) -> list[signals.Input]:
        row = self.rows[command.message]
        if row.status != "queued":
            return []  # whoever wanted it is told so
        self.rows[command.message] = row._replace(message=row.message._replace(text=command.text))
        return [signals.Extended(command.message, command.text)]

    def _archive(self) -> list[signals.Input]:
        if self.turn is not None:
            return []
        self.archived = True
        for row in self.with_status("queued"):
            self._set(row, status="cancelled")
        return [signals.PutAway()]

    def _commit_of_turn(self, command: OfTurn) -> signals.Input:
        match command:
            case turn_effects.CommitHandOver(message):
                if self.status(message.id) != "queued":
                    return signals.HandOverRefused(message.id)
                assert self.turn is None, "two turns at a time"
                return self._now(message.id, "handed", signals.HandOverStored(message.id))
            case turn_effects.CommitContinuation(message):
                if self.archived or self.turn is not None:
                    return signals.HandOverRefused(message.id)
                self.rows[message.id] = Row(message, "handed")
                return signals.HandOverStored(message.id)
            case turn_effects.CommitTakeBack(message_id):
                assert self.status(message_id) == "handed"
                return self._now(message_id, "queued", signals.TakenBack(message_id))
            case turn_effects.CommitFailure(end):
                if self.status(end.turn) != "queued":
                    return signals.FailureRefused(end.turn)
                return self._now(end.turn, "failed", signals.FailureStored(end.turn))
            case turn_effects.CommitEnd(end, untold):
                if untold is not None:
                    self._settle(untold)
                return self._end(end.turn, end.outcome)
            case _:
                return self._commit_joining(command)

    def _commit_joining(
        self, command: turn_effects.CommitSteer | turn_effects.CommitTaken | turn_effects.CommitUnsteer
    ) -> signals.Input:
        match command:
            case turn_effects.CommitSteer(message, turn):
                return self._steer(message.id, turn)
            case turn_effects.CommitTaken(message_id):
                assert self.rows[message_id].steered_into is not None
                self._set(self.rows[message_id], taken=True)
                return signals.SteerTaken(message_id)
            case turn_effects.CommitUnsteer(message_id):
                assert not self.rows[message_id].taken
                self._set(self.rows[message_id], status="queued", steered_into=None)
                return signals.Unsteered(message_id)

    def _steer(self, message: str, turn: str) -> signals.Input:
        if self.status(message) != "queued":
            return signals.SteerRefused(message)
        assert self.turn is not None
        assert self.turn.message.id == turn
        self._set(self.rows[message], status="handed", steered_into=turn)
        return signals.SteerStored(message)

    def _settle(self, untold: turn_effects.Untold) -> None:
        row = self.rows[untold.message]
        assert (row.status, row.taken, row.steered_into is None) == ("handed", False, False)
        if untold.is_taken:
            self._set(row, taken=True)
        else:
            self._set(row, status="queued", steered_into=None)

    def _end(self, turn: str, outcome: str) -> signals.Input:
        row = self.rows[turn]
        assert (row.status, row.steered_into) == ("handed", None), "a second end"
        self._set(row, status=outcome)
        for joined in self.with_status("handed"):
            if joined.steered_into == turn and joined.taken:
                self._set(joined, status=outcome)
            elif joined.steered_into == turn:
                self._set(joined, status="failed", error=UNACKNOWLEDGED)
        return signals.EndStored(turn)

    def _now(self, message: str, status: str, told: signals.Input) -> signals.Input:
        self._set(self.rows[message], status=status)
        return told

    def _set(self, row: Row, **changes: object) -> None:
        self.rows[row.message.id] = row._replace(**changes)  # type: ignore[arg-type]

    # -- refusing ----------------------------------------------------------------------------------

    def refuse(self, why: Refusal) -> list[signals.Input]:
        """Refuse the next command and give what the session hears of it."""
        command = self.pipe.popleft()
        faulty = why == "fault"
        match command:
            case Accept(message):
                return [signals.NotStored(message.id)]
            case Archive() | Extend() | turn_effects.CommitRelease():
                return []
            case turn_effects.CommitHold():
                return [signals.HoldFailed()]
            case turn_effects.CommitHandOver(message) | turn_effects.CommitContinuation(message):
                refused = signals.HandOverRefused(message.id, faulty=True)
                return [refused if faulty else signals.HandOverFailed(message.id)]
            case turn_effects.CommitSteer(message):
                return [signals.SteerFailed(message.id)]
            case turn_effects.CommitTaken(message_id) | turn_effects.CommitUnsteer(message_id):
                refused_joining = signals.JoiningRefused(message_id, faulty=True)
                return [refused_joining if faulty else signals.StoreFailed(message_id)]
            case turn_effects.CommitTakeBack(message_id):
                refused_back = signals.TakeBackRefused(message_id, faulty=True)
                return [refused_back if faulty else signals.StoreFailed(message_id)]
            case turn_effects.CommitFailure(end):
                return [signals.FailureRefused(end.turn) if faulty else signals.StoreFailed(end.turn)]
            case turn_effects.CommitEnd(end):
                refused_end = signals.EndRefused(end.turn, faulty=True)
                return [refused_end if faulty else signals.StoreFailed(end.turn)]

    # -- a relay that ends, and starts again -------------------------------------------------------

    def cancel(self, message: str) -> None:
        """Somebody takes a message out of the queue."""
        self._set(self.rows[message], status="cancelled")

    def interrupt_turns(self) -> None:
        """What a relay does at its start: whatever was with a worker is interrupted."""
        for row in self.with_status("handed"):
            self._set(row, status="failed", error="interrupted")
