"""The processes of one folder: who gets the next call, and when there is another."""

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from showcaller.transport.worker.function_call import FunctionCall
from showcaller.transport.worker.function_child_process import ChildNotStartedError, FunctionChild
from showcaller.transport.worker.providers import Result

SHARED: Final = 256
"""Calls that run in one process when there are as many processes as there may be."""
PREFETCHED: Final = 8
"""Calls that a process is given at once while calls are so quick that the way there would be most of them."""
QUICK: Final = 0.01
PATIENCE: Final = 0.05
"""Seconds that calls wait before there is another process for them."""
REPRIEVE: Final = 1.0
"""Seconds before it is tried again to start another process when that has failed."""
_WEIGHT: Final = 0.25

log = logging.getLogger("showcaller.worker")


class ChildState(NamedTuple):
    """What decides about a process that takes calls: how many it has, and since when it is ready."""

    calls: int
    ready_since: float | None


def chosen(states: Sequence[ChildState], most: int, *, quick: bool) -> int | None:
    """Give the place of the process that gets the next call: the one with the fewest, if that has room. Pure.

    While there may be more processes, one has one call at a time, so that work which needs a processor
    gets one; quick calls are not worth that.
    """
    room = SHARED if len(states) >= most else PREFETCHED if quick else 1
    place = min(range(len(states)), key=lambda each: states[each].calls, default=None)
    return place if place is not None and states[place].calls < room else None


def missing(states: Sequence[ChildState], most: int, waiting_since: float | None, now: float) -> int:
    """Give how many processes to start: one, then, while calls wait for long, as many as there are. Pure.

    ``waiting_since`` is when the call began to wait that waits longest, None when none does.
    """
    if waiting_since is None:
        return 0
    if not states:
        return 1
    ready = [state.ready_since for state in states if state.ready_since is not None]
    if len(ready) < len(states) or now < grown_at(max(ready), waiting_since):
        return 0
    return min(len(states), most - len(states))


def grown_at(ready_since: float, waiting_since: float) -> float:
    """Give when another process is due, if the last is ready since then and calls still wait. Pure."""
    return max(ready_since, waiting_since) + PATIENCE


def processors() -> int:
    """Give how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class FunctionChildren:
    """The processes of one folder and the calls that wait for them; on the worker's event loop.

    ``start`` starts a process, which tells ``changed`` and ``gone``; ``most`` is how many there may be that
    take calls. Processes that have hung come on top, until they end.
    """

    def __init__(self, start: Callable[[], FunctionChild], most: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._start = start
        self._most = most
        self._children: list[FunctionChild] = []
        self._waiting: dict[FunctionCall, None] = {}
        self._places: dict[FunctionCall, tuple[FunctionChild, int, float]] = {}
        self._seconds = QUICK
        self._not_before = 0.0
        self._look: asyncio.TimerHandle | None = None

    @property
    def all(self) -> Sequence[FunctionChild]:
        """The processes that are there."""
        return tuple(self._children)

    @property
    def is_empty(self) -> bool:
        """Whether nothing runs, waits or is there."""
        return not (self._children or self._waiting or self._places)

    def submit(self, call: FunctionCall) -> None:
        """Run a call as soon as there is room, or end it with why no process can be started."""
        self._waiting[call] = None
        self._give_out()

    def halt(self, call: FunctionCall) -> None:
        """Ask a call to end; one that waits has ended."""
        call.is_halted = True
        if call in self._waiting:
            del self._waiting[call]
            call.settle(Result())
        elif call in self._places:
            child, number, _ = self._places[call]
            child.cancel(number)
            self._loop.call_later(call.grace, call.settle, Result())

    def leave(self, call: FunctionCall) -> None:
        """A call's turn has ended, whether the call has or not."""
        self._waiting.pop(call, None)
        place = self._places.pop(call, None)
        if place is not None:
            child, number, since = place
            self._seconds += (self._loop.time() - since - self._seconds) * _WEIGHT
            child.give_up(number)
            if self._waiting:
                self._give_out()

    def gone(self, child: FunctionChild) -> None:
        """A process has died."""
        self._children.remove(child)
        self._give_out()

    def returned(self, call: FunctionCall) -> None:
        """A call has not run where it was, and is the next to run elsewhere, unless it is to end."""
        self._places.pop(call, None)
        if call.is_halted:
            call.settle(Result())
        elif not call.answer.done():
            self._waiting = {call: None, **self._waiting}

    def changed(self, child: FunctionChild) -> None:
        """A process is ready, or has room."""
        self._give_out()

    def _give_out(self) -> None:
        """Give what waits to whoever has room, and start processes that are due."""
        now = self._loop.time()
        self._hand_over(now)
        for _ in range(self._missing(now)):
            self._start_one()
        self._hand_over(now)
        self._look_again(now)

    def _missing(self, now: float) -> int:
        states = self._states()
        may_try = not states or now >= self._not_before
        return missing(states, self._most, self._waiting_since(), now) if may_try else 0

    def _start_one(self) -> None:
        try:
            self._children.append(self._start())
        except ChildNotStartedError as error:
            if any(child.takes_calls for child in self._children):
                log.warning("It goes on with fewer processes of functions: %s", error)
                self._not_before = self._loop.time() + REPRIEVE
                return
            waiting, self._waiting = self._waiting, {}
            for call in waiting:
                call.settle(Result(error_text=str(error)))

    def _hand_over(self, now: float) -> None:
        takers = [child for child in self._children if child.takes_calls]
        while self._waiting:
            states = [ChildState(child.calls, child.ready_since) for child in takers]
            place = chosen(states, self._most, quick=self._seconds < QUICK)
            if place is None:
                return
            call = next(iter(self._waiting))
            del self._waiting[call]
            child = takers[place]
            self._places[call] = child, child.run(call), now

    def _states(self) -> list[ChildState]:
        return [ChildState(child.calls, child.ready_since) for child in self._children if child.takes_calls]

    def _waiting_since(self) -> float | None:
        return next(iter(self._waiting)).since if self._waiting else None

    def _look_again(self, now: float) -> None:
        """See to it that calls which still wait when another process is due get it."""
        since, states = self._waiting_since(), self._states()
        ready = [state.ready_since for state in states if state.ready_since is not None]
        full = len(states) >= self._most
        if since is None or self._look is not None or full or not ready or len(ready) < len(states):
            return
        due = max(grown_at(max(ready), since), self._not_before, now)
        self._look = self._loop.call_at(due, self._looked)

    def _looked(self) -> None:
        self._look = None
        self._give_out()
