"""How many calls a conversation may make: a sliding minute, decided from the times of its last calls."""

from typing import Final, NamedTuple

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.limits import CALLS_PER_MINUTE, WRITES_PER_MINUTE

WINDOW: Final = 60_000
"""Milliseconds for which a call counts."""


class Past(NamedTuple):
    """The calls of one conversation that still count, oldest first, and the writes among them.

    Times are milliseconds of any one clock that does not go back.
    """

    calls: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()


def admit(past: Past, now: int, *, write: bool) -> Past:
    """Count one more call that has the right shape, whatever becomes of it.

    Gives what is past from then on. Only what is refused here does not count: whoever waits for as long as
    the refusal says is let in.

    Raises:
        Refusal: when the conversation has made as many calls, or writes, as it may in a minute; with
            ``retry_after_seconds``.

    """
    calls, writes = _counting(past.calls, now), _counting(past.writes, now)
    waits = [_wait(calls, CALLS_PER_MINUTE, now)]
    if write:
        waits.append(_wait(writes, WRITES_PER_MINUTE, now))
    if any(waits):
        raise _too_many(max(waits), writes_only=not waits[0])
    return Past((*calls, now), (*writes, now) if write else writes)


def _counting(times: tuple[int, ...], now: int) -> tuple[int, ...]:
    return tuple(time for time in times if time > now - WINDOW)


def _wait(times: tuple[int, ...], most: int, now: int) -> int:
    return times[-most] + WINDOW - now if len(times) >= most else 0


def _too_many(wait: int, *, writes_only: bool) -> Refusal:
    seconds = -(-wait // 1000)
    what = f"{WRITES_PER_MINUTE} writes" if writes_only else f"{CALLS_PER_MINUTE} calls"
    return Refusal(
        Code.RATE_LIMITED,
        f"This conversation has made its {what} of a minute; refused ones count too. Call again in "
        f"{seconds} s, and rather wait (wait_seconds) than ask again and again.",
        retry_after_seconds=seconds,
    )
