"""The test kit: a dispatcher that runs one step at a time, a clock that stands still, and a probe.

::

    with ManualDispatcher(seed=7) as dispatcher:
        ref = MyActor.start()
        ref.tell("hello")
        dispatcher.settle()          # run until nothing is left to do
        dispatcher.advance(60)       # a minute passes; what is due runs in order
"""

import random
from collections import deque
from typing import Any

import pykka

from showcaller.actors.runtime.actor import Actor
from showcaller.actors.runtime.clock import Clock
from showcaller.actors.runtime.context import here
from showcaller.actors.runtime.dispatcher import BaseDispatcher, Runnable
from showcaller.actors.runtime.errors import NothingToRun
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.ref import ActorRef

SETTLE_LIMIT = 1_000_000  # steps after which settle() believes that it runs for ever


class ManualClock(Clock):
    """A clock that moves only when told. ``monotonic`` and ``wall`` move together."""

    def __init__(self, *, wall: int = 1_767_225_600_000) -> None:
        self._seconds = 0.0
        self._wall = wall

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self._seconds

    def wall(self) -> int:
        """Milliseconds since the epoch: the start given (2026-01-01 UTC), and what has passed since."""
        return self._wall + round(self._seconds * 1000)

    def move_to(self, seconds: float) -> None:
        """Set ``monotonic``; use ``ManualDispatcher.advance``, which also runs what is due."""
        if seconds < self._seconds:
            raise ValueError(f"the clock shows {self._seconds} s and cannot go back to {seconds} s")
        self._seconds = seconds


class ManualDispatcher(BaseDispatcher):
    """Runs actors on the calling thread, one slice per step, in order or in an order drawn from a seed.

    Inside ``with dispatcher:`` actors start here, and ``future.get()`` runs steps until the future is
    done; when nothing is left that could complete it, ``NothingToRun`` says so. Only mail may come
    from other threads.
    """

    def __init__(self, *, seed: int | None = None, clock: ManualClock | None = None) -> None:
        self.manual_clock = clock or ManualClock()
        super().__init__(self.manual_clock)
        self._random = None if seed is None else random.Random(seed)
        self.steps = 0

    def schedule(self, runnable: Runnable) -> None:
        """Put a cell into the ready queue; a later step runs it."""
        self._ready.append(runnable)

    def step(self) -> bool:
        """Run one slice; False when nothing is ready."""
        if not self._ready:
            return False
        if self._random is not None:
            _bring_to_front(self._ready, self._random.randrange(len(self._ready)))
        runnable = self._ready.popleft()
        self.steps += 1
        outer = here.dispatcher, here.cell, here.envelope
        here.dispatcher, here.cell, here.envelope = self, None, None
        try:
            runnable.run_slice()
        finally:
            here.dispatcher, here.cell, here.envelope = outer
        return True

    def settle(self, limit: int = SETTLE_LIMIT) -> int:
        """Run until nothing is ready and no timer is due; gives the number of steps taken."""
        steps = 0
        while self.timers.fire_due() or self._ready:
            while self.step():
                steps += 1
                if steps >= limit:
                    raise NothingToRun(f"still not settled after {limit} steps: do actors keep telling each other?")
        return steps

    def advance(self, seconds: float) -> None:
        """Let time pass: at each moment at which timers are due, run them and what follows from them."""
        target = self.clock.monotonic() + seconds
        self.settle()
        while (due := self.timers.next_due()) is not None and due <= target:
            self.manual_clock.move_to(max(due, self.clock.monotonic()))
            self.settle()
        self.manual_clock.move_to(target)

    def wait_for(self, future: Future[Any], timeout: float | None) -> bool:
        """Run steps, and with a timeout let time pass, until the future is done."""
        deadline = None if timeout is None else self.clock.monotonic() + timeout
        while not future.done:
            if self.step() or self.timers.fire_due():
                continue
            due = self.timers.next_due()
            if deadline is not None and (due is None or due > deadline):
                self.manual_clock.move_to(max(deadline, self.clock.monotonic()))
                return future.done
            if due is None:
                raise NothingToRun(
                    "no step and no timer is left that could complete this future: is a reply missing, "
                    "or does something outside the dispatcher owe it?"
                )
            self.manual_clock.move_to(max(due, self.clock.monotonic()))
        return True


def _bring_to_front(ready: deque[Runnable], index: int) -> None:
    chosen = ready[index]
    del ready[index]
    ready.appendleft(chosen)


class Probe(Actor):
    """An actor that keeps what it gets, for assertions; ``Probe.start()`` under a manual dispatcher."""

    registered = False

    def __init__(self) -> None:
        super().__init__()
        self.received: list[Any] = []

    def on_receive(self, message: Any) -> None:
        """Keep the message."""
        self.received.append(message)


def probe() -> "tuple[ActorRef[Probe], list[Any]]":
    """Start a probe and give its ref and the list that its messages go to."""
    ref = Probe.start()
    actor = ref._actor
    if not isinstance(actor, Probe):
        raise pykka.ActorDeadError(f"{ref} not found")
    return ref, actor.received
