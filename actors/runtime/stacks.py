"""Handlers that block under a manual dispatcher: each keeps its stack while others run.

Only one thread runs at any time: the one whose turn it is. A handler that blocks sleeps with its stack,
and the steps go on in the caller of ``step`` if that one sleeps too, or else in a helper thread. So a handler
can go on as soon as its reply is there, whichever handlers have begun to wait since.
"""

import math
import threading
from _thread import LockType, allocate_lock
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.errors import NothingToRun
from showcaller.actors.runtime.futures import Future

if TYPE_CHECKING:
    from showcaller.actors.runtime.testkit import ManualDispatcher


class Sleeper:
    """A thread that waits for its turn; ``fault`` is raised in it then."""

    __slots__ = ("_turn", "fault")

    def __init__(self) -> None:
        self.fault: BaseException | None = None
        self._turn: LockType = allocate_lock()
        self._turn.acquire()

    def sleep(self) -> None:
        """Wait for the turn."""
        self._turn.acquire()
        if self.fault is not None:
            raise self.fault

    def wake(self) -> None:
        """Give the turn away: whoever calls this does nothing more."""
        self._turn.release()


class Wait(Sleeper):
    """A handler that waits for a future."""

    __slots__ = ("deadline", "future")

    def __init__(self, future: Future[Any], deadline: float | None) -> None:
        super().__init__()
        self.future = future
        self.deadline = deadline

    def over(self, now: float) -> bool:
        """True when the handler can go on."""
        return self.future.done or (self.deadline is not None and self.deadline <= now)


class Stacks:
    """The stacks of a manual dispatcher: handlers that wait, and callers of ``step`` below those that run."""

    def __init__(self, dispatcher: "ManualDispatcher") -> None:
        self.waits: list[Wait] = []  # the last has waited shortest
        self._dispatcher = dispatcher
        self._callers: list[Sleeper] = []

    def wait(self, future: Future[Any], deadline: float | None) -> bool:
        """Block the handler that runs; False at the deadline.

        Raises ``NothingToRun`` when nothing is left that could end the wait.
        """
        if future.done:
            return True
        wait = Wait(future, deadline)
        self.waits.append(wait)
        if self._callers:
            self._callers.pop().wake()
        else:
            threading.Thread(target=self._help, name="manual", daemon=True).start()
        wait.sleep()
        return future.done

    def step(self, limit: float | None = None) -> bool:
        """Run one slice, or let one that waits go on; False when nothing is left to do (by that time)."""
        callers = len(self._callers)
        found = self._step(limit)
        if isinstance(found, Wait):
            self.waits.remove(found)
            self._lend_turn(found)
        elif len(self._callers) > callers:  # a handler took steps itself, and let ours go on first
            self._lend_turn(self._callers.pop())
        return found is not False

    def _lend_turn(self, sleeper: Sleeper) -> None:
        """Give the turn away until that thread's handler ends or waits."""
        caller = Sleeper()
        self._callers.append(caller)
        sleeper.wake()
        caller.sleep()

    def _help(self) -> None:
        """Take steps until it is the turn of a thread that sleeps."""
        sleeper: Sleeper | None = None
        fault: BaseException | None = None
        while sleeper is None:
            try:
                found = None if self._callers else self._step()
            except BaseException as error:
                found, fault = None, error
            if isinstance(found, Wait):
                self.waits.remove(found)
                sleeper = found
            elif found is None:
                sleeper = self._callers.pop() if self._callers else self.waits.pop()
        sleeper.fault = sleeper.fault or fault
        sleeper.wake()

    def _step(self, limit: float | None = None) -> Wait | bool:
        """Give who is to go on, or True after a step, or False if nothing is left to do.

        Whoever waits shortest goes on at once, the others when no step is left; then time passes.
        """
        dispatcher, now = self._dispatcher, self._dispatcher.clock.monotonic
        if self.waits and self.waits[-1].over(now()):
            return self.waits[-1]
        if dispatcher.run_next() or (self.waits and dispatcher.timers.fire_due()):
            return True
        for wait in reversed(self.waits):
            if wait.over(now()):
                return wait
        return bool(self.waits) and self._let_time_pass(limit)

    def _let_time_pass(self, limit: float | None) -> Wait | bool:
        dispatcher = self._dispatcher
        for wait in reversed(self.waits):
            wait.fault = dispatcher.owed_elsewhere(wait.future)
            if wait.fault is not None:
                return wait
        moments = [wait.deadline for wait in self.waits if wait.deadline is not None]
        due = dispatcher.timers.next_due()
        if due is not None:
            moments.append(due)
        if limit is not None and limit < min(moments, default=math.inf):
            return False
        if moments:
            dispatcher.manual_clock.move_to(max(min(moments), dispatcher.clock.monotonic()))
            return True
        last = self.waits[-1]
        last.fault = NothingToRun(
            "no step and no timer is left that could complete this future: is a reply missing, "
            "or does something outside the dispatcher owe it?"
        )
        return last
