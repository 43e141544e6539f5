"""A hierarchical timing wheel: due things in buckets that get finer as their time comes near.

Adding is one append, and a far timer costs its slot in a list. A bucket of level ``n`` is 64 times as
wide as one of level ``n - 1``; when its time comes it is dealt out to finer ones. The finest are sorted
into ``_near``, so things come out in order of time, and in order of adding when due together.
"""

import heapq
from bisect import bisect_right, insort_right
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

TICKS = (
    256  # ticks per second, a power of two so that times of ticks are exact: the finest bucket spans 3.9 ms
)
FAR = 1 << 60


class Due(Protocol):
    """What a wheel holds."""

    due: float  # seconds, must not change while the wheel holds it

    @property
    def active(self) -> bool:
        """False once it may be forgotten."""
        raise NotImplementedError


D = TypeVar("D", bound=Due)
_due: Any = attrgetter("due")


class Wheel(Generic[D]):
    """Things by the time they are due. Not thread-safe."""

    def __init__(self) -> None:
        self.size = 0  # things held, inactive ones that nobody has come across included
        self._tick = 0
        self._near: list[D] = []  # due in this tick or before, sorted
        self._buckets: dict[tuple[int, int], list[D]] = {}  # by first tick and level
        self._starts: list[tuple[int, int]] = []  # the keys of the buckets, a heap

    def add(self, thing: D) -> None:
        """Hold a thing until its time has come."""
        tick = min(int(thing.due * TICKS), FAR)
        self.size += 1
        if tick <= self._tick:
            insort_right(self._near, thing, key=_due)
            return
        level = ((tick ^ self._tick).bit_length() - 1) // 6
        shift = 6 * level
        key = (tick >> shift << shift, level)
        bucket = self._buckets.get(key)
        if bucket is None:
            self._buckets[key] = [thing]
            heapq.heappush(self._starts, key)
        else:
            bucket.append(thing)

    def take_due(self, now: float, most: int) -> list[D]:
        """Take up to ``most`` things out that are due at ``now``, in order."""
        self._turn_to(int(now * TICKS))
        near = self._near
        count = min(most, bisect_right(near, now, key=_due))
        taken = near[:count]
        del near[:count]
        self.size -= len(taken)
        return taken

    def _turn_to(self, tick: int) -> None:
        while self._starts and self._starts[0][0] <= tick:
            key = heapq.heappop(self._starts)
            self._tick = max(self._tick, key[0])
            bucket = self._buckets.pop(key)
            self.size -= len(bucket)
            active = [thing for thing in bucket if thing.active]
            if key[1] == 0:
                self._near += active
                self._near.sort(key=_due)
                self.size += len(active)
            else:
                for thing in active:
                    self.add(thing)
        self._tick = max(self._tick, tick)

    def earliest(self) -> float | None:
        """A time before which nothing is due, on which it pays to look again; None when empty."""
        if self._near:
            return self._near[0].due
        return self._starts[0][0] / TICKS if self._starts else None

    def exact(self) -> float | None:
        """When the first active thing is due; None without one. Costs a look at one bucket, mostly."""
        for thing in self._near:
            if thing.active:
                return thing.due
        for key in sorted(self._starts):
            times = [thing.due for thing in self._buckets[key] if thing.active]
            if times:
                return min(times)
        return None

    def clear(self) -> list[D]:
        """Take everything out, due or not."""
        held = self._near + [thing for bucket in self._buckets.values() for thing in bucket]
        self._near, self._buckets, self._starts = [], {}, []
        self.size = 0
        return held

    def sweep(self) -> None:
        """Forget what is no longer active."""
        self._near = [thing for thing in self._near if thing.active]
        for key, bucket in list(self._buckets.items()):
            bucket[:] = [thing for thing in bucket if thing.active]
            if not bucket:
                del self._buckets[key]
        self._starts = list(self._buckets)
        heapq.heapify(self._starts)
        self.size = len(self._near) + sum(map(len, self._buckets.values()))
