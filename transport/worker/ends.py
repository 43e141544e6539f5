"""How turns end: the one message of a turn's end, and the memory of ends for turns handed over again."""

from collections import OrderedDict
from typing import Final, Literal

from showcaller.actors.contract.worker import RunTurn, TurnEnded
from showcaller.transport.worker.providers import Result
from showcaller.transport.worker.text import bounded, valid

Halt = Literal["stopped", "timeout", "interrupted"]
ERROR_TEXT_LIMIT: Final = 8_000


def turn_ended(turn: RunTurn, result: Result, halt: Halt | None, seconds: float) -> TurnEnded:
    """Give the end of a turn from what its provider returned and why it was halted, if it was. Pure."""
    error_text = _error_text(turn, result, halt)
    return TurnEnded(
        session=turn.session,
        turn=turn.turn,
        outcome="stopped" if halt == "stopped" else "done" if error_text is None else "failed",
        stop_reason=result.stop_reason if halt is None else "end" if halt == "stopped" else halt,
        reply=valid(result.reply),
        truncated=result.truncated,
        error_text=error_text,
        error_class=None if error_text is None or halt is not None else result.error_class,
        exit_code=result.exit_code,
        seconds=max(0.0, seconds),
        agent_session=result.agent_session,
        resumed_via=result.resumed_via,
        activity=result.activity,
    )


def _error_text(turn: RunTurn, result: Result, halt: Halt | None) -> str | None:
    if halt == "stopped":
        return None
    if halt == "timeout":
        return f"ran longer than its time limit of {turn.timeout:g} s and was ended"
    if halt == "interrupted":
        return "was still running when its worker was closed"
    if result.error_text is None:
        return None
    return bounded(valid(result.error_text), ERROR_TEXT_LIMIT // 4, ERROR_TEXT_LIMIT * 3 // 4)[0]


class RecentEnds:
    """The latest ends of turns, bounded in number and in characters of replies. Not thread-safe."""

    def __init__(self, count_limit: int = 4096, size_limit: int = 64 * 1024 * 1024) -> None:
        self._count_limit = count_limit
        self._size_limit = size_limit
        self._size = 0
        self._ends: OrderedDict[str, TurnEnded] = OrderedDict()

    def remember(self, end: TurnEnded) -> None:
        """Keep an end, and forget the oldest beyond the bounds; the newest is always kept."""
        self._ends[end.turn] = end
        self._size += len(end.reply)
        while len(self._ends) > 1 and (len(self._ends) > self._count_limit or self._size > self._size_limit):
            _, oldest = self._ends.popitem(last=False)
            self._size -= len(oldest.reply)

    def find(self, turn: str) -> TurnEnded | None:
        """Give the end of a turn while it is kept."""
        return self._ends.get(turn)
