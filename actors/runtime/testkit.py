"""The test kit: a dispatcher that runs one step at a time, a clock that stands still, and a probe.

::

    with ManualDispatcher(seed=7) as dispatcher:
        ref = MyActor.start()
        ref.tell("hello")
        dispatcher.settle()  # run until nothing is left to do
        dispatcher.advance(60)  # a minute passes; what is due runs in order
"""

import asyncio
import random
from _thread import get_ident
from collections import deque
from typing import Any, Self

import pykka

from showcaller.actors.runtime.actor import Actor
from showcaller.actors.runtime.base_dispatcher import BaseDispatcher, Runnable
from showcaller.actors.runtime.bridge import has_work
from showcaller.actors.runtime.choices import is_a
from showcaller.actors.runtime.clock import Clock
from showcaller.actors.runtime.context import Turn, current_cell, here
from showcaller.actors.runtime.cycles import cycle_of
from showcaller.actors.runtime.errors import NeverSettles, NothingToRun
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.handler import Blocked, may_not_wait
from showcaller.actors.runtime.ref import ActorRef
from showcaller.actors.runtime.registry import RUNNING
from showcaller.actors.runtime.stacks import Plan, Stacks
from showcaller.actors.runtime.timers import LONGEST
from showcaller.actors.runtime.waits import owner_elsewhere

SETTLE_LIMIT = 1_000_000  # steps after which settle() believes that it runs for ever
LOOP_GRACE = 0.1  # real seconds in which other threads may still complete what until() waits for


def _refuse_no_moment(seconds: float) -> None:
    """Raise ``TypeError`` or ``ValueError`` for what is no time that a clock can show or let pass."""
    if isinstance(seconds, bool) or not is_a(seconds, int, float):
        raise TypeError(f"time is a number of seconds, not {seconds!r}")
    if not 0 <= seconds < LONGEST:
        raise ValueError(f"time is a number of seconds from 0 to {LONGEST:.0e}, not {seconds!r}")


class ManualClock(Clock):
    """A clock that moves only when told. ``monotonic`` and ``wall`` move together, until ``set_wall``."""

    def __init__(self, *, wall: int = 1_767_225_600_000) -> None:
        self._seconds = 0.0
        self._wall = wall

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self._seconds

    def wall(self) -> int:
        """Milliseconds since the epoch: the start given (2026-01-01 UTC), and what has passed since."""
        return self._wall + round(self._seconds * 1000)

    def set_wall(self, wall: int) -> None:
        """Let the wall clock jump, as a host's may; ``monotonic`` stays."""
        self._wall = wall - round(self._seconds * 1000)

    def move_to(self, seconds: float) -> None:
        """Set ``monotonic``; use ``ManualDispatcher.advance``, which also runs what is due."""
        _refuse_no_moment(seconds)
        if seconds < self._seconds:
            raise ValueError(f"the clock shows {self._seconds} s and cannot go back to {seconds} s")
        self._seconds = seconds


class ManualDispatcher(BaseDispatcher):
    """Runs actors while the caller waits, one slice per step, in order or in an order drawn from a seed.

    Inside ``with dispatcher:`` actors start here, and ``future.get()`` runs steps until the future is
    done; when nothing is left that could complete it, ``NothingToRun`` says so, and names an actor of
    another dispatcher that owes it. Time passes in ``advance`` and in such a ``get()`` of the test, nowhere
    else. A handler that waits in ``get()`` stays waiting until its reply comes or its time is over.

    Slices run on helper threads, one at a time and in the same order each time, while the caller sleeps.
    Only mail may come from other threads of the test.
    """

    _by_hand = True

    def __init__(self, *, seed: int | None = None, clock: ManualClock | None = None) -> None:
        if clock is not None and not is_a(clock, ManualClock):
            raise TypeError(f"the clock of a manual dispatcher cannot be {clock!r}: give a ManualClock()")
        self.manual_clock = ManualClock() if clock is None else clock
        super().__init__(self.manual_clock)
        self._random = None if seed is None else random.Random(seed)
        self.steps = 0
        self._stacks = Stacks(self)
        self._entered_by = 0  # the thread that entered the block last
        self._blocks = 0  # that are open
        self._away: list[pykka.ActorRef[Any]] = []  # those that come back to the registry with the next block

    def __enter__(self) -> Self:
        """Let actors that this thread starts inside the ``with`` run here."""
        self._entered_by = get_ident()
        with self._tally:
            self._blocks += 1
            away, self._away = self._away, []
        for ref in away:
            if ref.is_alive():
                RUNNING.append(ref)
        return super().__enter__()

    def __exit__(self, *exc_info: object) -> None:
        """Leave the block; with the last one its actors leave ``ActorRegistry``, as nobody can stop them."""
        super().__exit__(*exc_info)
        with self._tally:
            self._blocks -= 1
            if self._blocks == 0:
                self._away += [ref for ref in RUNNING if self._runs(ref) and RUNNING.discard(ref)]

    def _runs(self, ref: Any) -> bool:
        return isinstance(ref, ActorRef) and ref.dispatcher is self

    def refuse_wait(self, owner: Any) -> None:
        """Raise ``NothingToRun`` if this thread was to run the steps, and has left the block."""
        if self._entered_by == get_ident() or self._stacks.helps(get_ident()):
            raise NothingToRun(
                f"{owner} lives on another dispatcher than the one here: a manual one, whose steps are run "
                "inside its own `with` block only"
            )

    def schedule(self, runnable: Runnable) -> None:
        """Put a cell into the ready queue; a later step runs it."""
        self._ready.append(runnable)

    def will_run(self, runnable: Any) -> bool | None:
        """True when a cell is ready, or its handler waits."""
        return super().will_run(runnable) or type(runnable._hold) is Blocked

    def step(self) -> bool:
        """Run one slice, or let a handler that waits go on; False when nothing is ready. No time passes."""
        return self._stacks.carry_out(_one_step())

    def take_ready(self) -> Runnable | None:
        """Take who is to run next from the ready queue; None when nobody is ready."""
        if not self._ready:
            return None
        if self._random is not None:
            _bring_to_front(self._ready, self._random.randrange(len(self._ready)))
        return self._ready.popleft()

    def run(self, runnable: Runnable) -> None:
        """Run one slice on the stack of the caller."""
        self.steps += 1
        outer = here.dispatcher, here.turn
        here.dispatcher, here.turn = self, Turn()
        here.turn.runnable = runnable
        try:
            taken = runnable.run_slice()
        finally:
            here.dispatcher, here.turn = outer
        runnable.counters.note_slice(taken, 0.0)

    def settle(self, limit: int = SETTLE_LIMIT) -> int:
        """Run until nothing is ready and no timer is due; gives the number of steps taken. No time passes.

        A handler that waits for what is not there stays waiting. Raises ``NeverSettles`` when ``limit``
        steps were not enough.
        """
        return self._stacks.carry_out(self._settling(limit))

    def _settling(self, limit: int = SETTLE_LIMIT) -> Plan[int]:
        steps = 0
        self.timers.fire_due()
        while True:
            while (yield):
                steps += 1
                if steps >= limit:
                    raise NeverSettles(
                        f"still not settled after {limit} steps: do actors keep telling each other?"
                    )
            if not self.timers.fire_due():
                return steps

    def advance(self, seconds: float) -> None:
        """Let time pass, and run what is due at each moment on the way: timers, and waits that time out.

        Raises ``ValueError`` for less than 0 seconds, and for more than any timer can wait.
        """
        _refuse_no_moment(seconds)
        self._stacks.carry_out(self._advancing(seconds))

    def _advancing(self, seconds: float) -> Plan[None]:
        target = self.clock.monotonic() + seconds
        yield from self._settling()
        while (due := self._next_moment()) is not None and due <= target:
            self._move_to(due)
            yield from self._settling()
        self._move_to(target)

    def _next_moment(self) -> float | None:
        """When (monotonic) something happens by itself: a timer fires, or a handler has waited enough."""
        moments = self.timers.next_due(), self._stacks.next_deadline()
        return min((moment for moment in moments if moment is not None), default=None)

    def _move_to(self, moment: float) -> None:
        self.manual_clock.move_to(max(moment, self.clock.monotonic()))

    def wait_for(self, future: Future[Any], timeout: float | None) -> bool:
        """Run steps, and let time pass when nothing else is left to do, until the future is done.

        It passes up to the ``timeout``, and without one as far as there are timers. In a handler, waits until
        others have done that; raises ``AskCycle`` when the reply can never come.
        """
        deadline = None if timeout is None else self.clock.monotonic() + timeout
        cell = current_cell()
        if cell is None or not self._stacks.at_work:
            self._refuse_elsewhere(future)
            return self._stacks.carry_out(self._until_done(future, deadline))
        blocked = Blocked(future)
        before, cell._hold = cell._hold, blocked
        try:
            problem = cycle_of(cell, before)
            if problem is not None:
                raise problem
            self._refuse_elsewhere(future)
            blocked.broken_off = may_not_wait(cell)
            return self._stacks.wait(cell, future, deadline, blocked)
        finally:
            cell._hold = before

    async def until(self, future: Future[Any]) -> Any:
        """Run steps in a running asyncio loop until ``future`` is done, and give its value.

        The loop gets its turns. Timers fire when the actors have nothing left to do. Raises ``NothingToRun``
        when even the loop has nothing that could complete the future: no task but the caller's, no callback
        and no coroutine of ``on_loop``, and other threads have not done it within a tenth of a real second.
        """
        loop = asyncio.get_running_loop()
        while not future.done:
            if self.step() or self.timers.fire_due():
                await _turn_of_the_loop()
            elif (due := self._next_moment()) is not None:
                self._move_to(due)
            elif has_work(loop):
                await _turn_of_the_loop()
            elif not (await _comes_soon(future) or self._ready):
                raise NothingToRun("no step, no timer and no task is left that could complete this future")
        return future.get()

    def _until_done(self, future: Future[Any], deadline: float | None) -> Plan[bool]:
        for _ in range(SETTLE_LIMIT):
            if future.done:
                return True
            if (yield) or self.timers.fire_due():
                continue
            self._refuse_elsewhere(future)
            due = self._next_moment()
            if deadline is not None and (due is None or due > deadline):
                self._move_to(deadline)
                return future.done
            if due is None:
                raise NothingToRun(
                    "no step and no timer is left that could complete this future: is a reply missing, "
                    "or does something outside the dispatcher owe it?"
                )
            self._move_to(due)
        raise NeverSettles(
            f"still not done after {SETTLE_LIMIT} steps, though timers go on firing: is a reply missing?"
        )

    def _refuse_elsewhere(self, future: Future[Any]) -> None:
        fault = self.owed_elsewhere(future)
        if fault is not None:
            raise fault

    def owed_elsewhere(self, future: Future[Any]) -> NothingToRun | None:
        """Give the error of who waits for an actor of another dispatcher."""
        owner = owner_elsewhere(future, self)
        if owner is None:
            return None
        return NothingToRun(
            f"{owner} lives on another dispatcher, which runs no steps here and has another clock: "
            "start it inside this `with` block, or ask it outside"
        )


def _one_step() -> Plan[bool]:
    return (yield)


def _bring_to_front(ready: deque[Runnable], index: int) -> None:
    chosen = ready[index]
    del ready[index]
    ready.appendleft(chosen)


async def _turn_of_the_loop() -> None:
    await asyncio.sleep(0)  # noqa: TID251 - no time passes


async def _comes_soon(future: Future[Any]) -> bool:
    """Let the loop sleep until the future is done, or the grace is over."""
    woken = future._on_running_loop()
    await asyncio.wait({woken}, timeout=LOOP_GRACE)
    woken.cancel()
    return future.done


class Probe(Actor):
    """An actor that keeps what it gets, for assertions; ``Probe.start()`` under a manual dispatcher."""

    registered = False

    received: list[Any]
    """What it got, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.received = []

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


__all__ = ["ManualClock", "ManualDispatcher", "NeverSettles", "NothingToRun", "Probe", "probe"]
