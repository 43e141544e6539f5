"""A fan-out as the relay's HTTP door keeps it: any number of followers, each at a place of its own."""

import asyncio
import threading
from array import array
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final, NamedTuple

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.fanout import FanoutSpec, ItemResult
from showcaller.transport.doors.local import LocalDoor

MOST_KEPT: Final = 1_000
MOST_TEXT: Final = 4_000_000
"""Characters of replies that are kept for quick followers; others read from the store."""
PAGE: Final = 100


class News(NamedTuple):
    """What a follower is told next: results from its place on, how it goes, and whether that was all."""

    results: list[ItemResult]
    place: int
    started: int
    running: int
    is_over: bool


class FanoutRun:
    """Hears of a fan-out on the dispatcher's thread; followers wait on the asyncio loop.

    The place of a result is how many ended before it in this run, from 0. Places are kept as item numbers,
    a few bytes each, and only the latest results themselves: a slow follower costs nobody any room.
    """

    def __init__(self, group: str, run: str, door: LocalDoor, loop: asyncio.AbstractEventLoop) -> None:
        self.group = group
        self.run = run
        self.name = group
        self.total = 0
        self.spec: FanoutSpec | None = None
        self.error: Exception | None = None
        self._door = door
        self._loop = loop
        self._gate = threading.Lock()  # guards what follows
        self._numbers = array("L")
        self._kept: OrderedDict[int, ItemResult] = OrderedDict()
        self._text = 0
        self._started = 0
        self._running = 0
        self._over = False
        self._asleep: list[asyncio.Event] = []
        self._begun = asyncio.Event()

    # -- as the fan-out's listener, on the dispatcher's thread ---------------------------------------

    def ready(self, spec: FanoutSpec, name: str, total: int) -> None:
        """It is stored, or was found, and begins."""
        self.spec, self.name, self.total = spec, name, total
        self._on_loop(self._begun)

    def moved(self, started: int, running: int) -> None:
        """So many items were started in this run, and so many run now."""
        with self._gate:
            self._started, self._running = started, running
            asleep = self._take_sleepers()
        self._on_loop(*asleep)

    def result(self, result: ItemResult) -> None:
        """An item has its end."""
        with self._gate:
            self._kept[len(self._numbers)] = result
            self._numbers.append(result.number)
            self._text += len(result.reply)
            while len(self._kept) > MOST_KEPT or (self._text > MOST_TEXT and len(self._kept) > 1):
                _, oldest = self._kept.popitem(last=False)
                self._text -= len(oldest.reply)
            asleep = self._take_sleepers()
        self._on_loop(*asleep)

    def has_room(self) -> bool:
        """There is always room: what is not kept stands in the store."""
        return True

    def finished(self, error: Exception | None) -> None:
        """Nothing more comes."""
        self.error = error
        with self._gate:
            self._over = True
            asleep = self._take_sleepers()
        self._on_loop(self._begun, *asleep)

    def _take_sleepers(self) -> list[asyncio.Event]:
        asleep, self._asleep = self._asleep, []
        return asleep

    def _on_loop(self, *events: asyncio.Event) -> None:
        if events and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_set_all, events)

    # -- for followers, on the loop ------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of this run."""
        with self._gate:
            return self._over

    @property
    def ended(self) -> int:
        """How many results there are so far."""
        with self._gate:
            return len(self._numbers)

    def glance(self) -> dict[str, Any]:
        """Give how it goes, as JSON."""
        with self._gate:
            return {
                "group": self.group,
                "name": self.name,
                "items": self.total,
                "ended": len(self._numbers),
                "running": self._running,
            }

    async def begun(self) -> FanoutSpec:
        """Wait until it has begun, and give what is done; raises what kept it from that."""
        await self._begun.wait()
        if self.spec is None:
            raise self.error or RuntimeError(f"the fan-out {self.group} has ended before it began")
        return self.spec

    async def follow(self, place: int) -> AsyncIterator[News]:
        """Give news from this place on until it is over; the last says so."""
        told = (-1, -1)
        while True:
            woken = asyncio.Event()
            with self._gate:
                due = self._numbers[place : place + PAGE]
                kept = [self._kept.get(each) for each in range(place, place + len(due))]
                moved = (self._started, self._running)
                is_over = self._over and place + len(due) == len(self._numbers)
                if not due and not is_over and moved == told:
                    self._asleep.append(woken)
            if due or is_over or moved != told:
                results = await self._results(due, kept)
                place += len(results)
                told = moved
                yield News(results, place, *moved, is_over)
                if is_over:
                    return
            else:
                await woken.wait()

    async def _results(self, due: "array[int]", kept: list[ItemResult | None]) -> list[ItemResult]:
        """Give the results that are due, those that are not kept from the store."""
        results: list[ItemResult] = []
        while len(results) < len(due):
            result = kept[len(results)]
            if result is not None:
                results.append(result)
                continue
            first = len(results)
            last = first + 1
            while last < len(due) and kept[last] is None and due[last] == due[last - 1] + 1:
                last += 1
            stored = await self._door.fanout_results(self.group, due[first] - 1, last - first)
            if not stored:
                raise Refusal(Code.NOT_FOUND, f"The items of the fan-out {self.group} are there no more.")
            results += stored
        return results


def _set_all(events: Iterable[asyncio.Event]) -> None:
    for event in events:
        event.set()
