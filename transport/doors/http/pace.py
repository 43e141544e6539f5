"""How many requests one caller may send: so many at once, and so many a second from then on."""

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.calls import Caller


class Pace(NamedTuple):
    """A bound: ``burst`` requests at once, and ``per_second`` of them are given back each second."""

    burst: int
    per_second: float


OWNERS: Final = Pace(10_000, 2_000.0)
"""The owner's programs together: far more than they need, and little enough for one gone wild to be told."""
OTHERS: Final = Pace(500, 50.0)
"""Each conversation that another token speaks for."""
MOST_KNOWN: Final = 1_000


class Bucket(NamedTuple):
    """What is left of a burst at a time in seconds."""

    left: float
    at: float


def take(bucket: Bucket, now: float, pace: Pace) -> Bucket:
    """Take one request out of a bucket; ``now`` is of a clock that does not go back.

    Raises ``Refusal`` with ``retry_after_seconds`` when nothing is left; what is refused takes nothing.
    """
    left = min(float(pace.burst), bucket.left + (now - bucket.at) * pace.per_second)
    if left < 1.0:
        seconds = max(1, math.ceil((1.0 - left) / pace.per_second))
        raise Refusal(
            Code.RATE_LIMITED,
            f"These are too many requests: {pace.burst:,} at once are taken, and {pace.per_second:,.0f} a "
            f"second from then on. Try again in {seconds} s.",
            retry_after_seconds=seconds,
        )
    return Bucket(left - 1.0, now)


class Paces:
    """The buckets of all callers. Used on one asyncio loop."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._buckets: dict[str, Bucket] = {}

    def admit(self, caller: Caller) -> None:
        """Count a request of a caller; raises ``Refusal`` for one too many."""
        pace = OWNERS if caller.kind == "owner" else OTHERS
        key = f"{caller.kind} {caller.session}"
        now = self._now()
        self._buckets[key] = take(self._buckets.get(key, Bucket(float(pace.burst), now)), now, pace)
        if len(self._buckets) > MOST_KNOWN:
            self._forget_full(now)

    def _forget_full(self, now: float) -> None:
        """Forget who has not asked for so long that nothing is taken from them any more."""
        longest = max(OWNERS.burst / OWNERS.per_second, OTHERS.burst / OTHERS.per_second)
        self._buckets = {key: one for key, one in self._buckets.items() if now - one.at < longest}
