"""Handlers under a manual dispatcher: each has a stack of its own, so one that blocks can stay waiting.

Only one thread runs at any time: the one that has the turn. Who wants steps to be taken (``settle``, or a
``get()`` of the test) hands in a plan and sleeps until it is carried out; a helper thread takes the steps.
A handler that blocks keeps the helper's stack, and another helper goes on with the plan. So whoever has asked
for steps can go on whatever the handlers wait for, and a handler as soon as its reply is there.
"""

import contextvars
import threading
from _thread import get_ident
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from showcaller.actors.runtime.base_dispatcher import Runnable
from showcaller.actors.runtime.context import Turn, here
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.handler import Blocked, broken_off
from showcaller.actors.runtime.taking_turns import Helper, Sleeper, idle_helper

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell
    from showcaller.actors.runtime.testkit import ManualDispatcher

T = TypeVar("T")

Plan = Generator[None, bool, T]
"""Asks for a step with each ``yield``, which gives False when nothing is ready; returns what comes of it."""


class Wait(Sleeper):
    """A handler that waits for a future."""

    __slots__ = ("blocked", "deadline", "future")

    def __init__(self, future: Future[Any], deadline: float | None, blocked: Blocked) -> None:
        super().__init__()
        self.future = future
        self.deadline = deadline
        self.blocked = blocked

    def over(self, now: float) -> bool:
        """True when the handler can go on."""
        in_time = self.deadline is None or now < self.deadline
        return self.future.done or self.blocked.broken_off or not in_time


class Stint(Sleeper):
    """A plan that is carried out while who handed it in sleeps."""

    __slots__ = ("fault", "found", "nested", "plan", "result")

    def __init__(self, plan: Plan[Any], *, nested: bool) -> None:
        super().__init__()
        self.nested = nested  # a handler has handed it in, which goes on with its own step afterwards
        self.plan = plan
        self.found: Any = None  # what the step before has found; the first of a generator must be None
        self.result: Any = None
        self.fault: BaseException | None = None


class Stacks:
    """The stacks of a manual dispatcher: handlers that wait, and who waits for steps to be taken."""

    def __init__(self, dispatcher: "ManualDispatcher") -> None:
        self.waits: list[Wait] = []  # the last has waited shortest
        self._dispatcher = dispatcher
        self._stints: list[Stint] = []  # the last is under way: a handler of those before has handed it in
        self._pinned: dict[Runnable, Helper] = {}
        self._threads: set[int] = set()  # those that take steps, or whose handler waits
        self._lock = threading.RLock()  # for those that hand in a plan and the helper that looks for one
        self._out = False  # a helper has the turn: after an interrupt perhaps without any plan

    @property
    def at_work(self) -> bool:
        """True while steps are taken."""
        return self._out or bool(self._stints)

    def helps(self, thread: int) -> bool:
        """True of a thread on which steps are taken."""
        return thread in self._threads

    def next_deadline(self) -> float | None:
        """When (monotonic) the first of the handlers that wait gives up; None if none ever does."""
        return min((wait.deadline for wait in self.waits if wait.deadline is not None), default=None)

    def carry_out(self, plan: Plan[T]) -> T:
        """Have the steps taken that a plan asks for, and give or raise what comes of it."""
        stint = Stint(plan, nested=self.helps(get_ident()))
        woken = False
        try:
            with self._lock:
                self._stints.append(stint)
                at_work, self._out = self._out and not stint.nested, True
            if not at_work:  # else an interrupt has left a step under way: who takes it goes on with us
                self._helper().wake()
            woken = True
            stint.sleep()
        except BaseException:  # an interrupt: nobody is to go on with it
            with self._lock:
                if stint in self._stints:
                    self._stints.remove(stint)
                self._out = self._out and woken
            raise
        if not stint.nested:
            self._go_on_with_others()
        if stint.fault is not None:
            try:
                raise stint.fault
            finally:
                del stint  # which the traceback would keep, and it the traceback
        result: T = stint.result
        return result

    def _go_on_with_others(self) -> None:
        """Let a helper go on with the plan of whom a signal handler has interrupted to hand in its own."""
        with self._lock:
            left = bool(self._stints) and not self._out
            self._out = self._out or left
        if left:
            self._helper().wake()

    def wait(self, cell: "Cell", future: Future[Any], deadline: float | None, blocked: Blocked) -> bool:
        """Block the handler that runs; False at the deadline.

        Raises ``pykka.ActorDeadError`` when its actor is killed by, or with, its supervisor.
        """
        wait = Wait(future, deadline, blocked)
        self.waits.append(wait)
        self._helper().wake()
        wait.sleep()
        if blocked.broken_off and not future.done:
            raise broken_off(cell)
        return future.done

    # -- on helper threads -------------------------------------------------------------------------

    def _helper(self) -> Helper:
        """Give a helper that goes on with the plans when it is woken, as part of what its waker does."""
        context = contextvars.copy_context()
        return idle_helper(lambda: context.run(self._work, self._go_on))

    def _work(self, job: "Callable[[], Sleeper | None]") -> Sleeper | None:
        before = here.dispatcher, here.turn
        here.dispatcher, here.turn = self._dispatcher, Turn()
        self._threads.add(get_ident())
        try:
            return job()
        finally:
            self._threads.discard(get_ident())
            here.dispatcher, here.turn = before

    def _go_on(self) -> Sleeper | None:
        """Take steps until it is another thread's turn, which is given."""
        while True:
            with self._lock:
                if not self._stints:
                    self._out = False
                    return None
                stint = self._stints[-1]
            following = self._further(stint)
            if following is not None:
                return following

    def _further(self, stint: Stint) -> Sleeper | None:
        """Go a step further with a plan."""
        try:
            stint.plan.send(stint.found)
        except StopIteration as end:
            stint.result = end.value
            return self._finish(stint, None)
        except BaseException as error:
            return self._finish(stint, error)
        stint.found = True  # for others, who go on with it while the step is not over
        try:
            found = self._step()
        except BaseException as error:
            return self._finish(self._stints[-1], error) if self._stints else None
        if found is False:
            stint.found = False
        return found if isinstance(found, Sleeper) else None

    def _finish(self, stint: Stint, fault: BaseException | None) -> Stint | None:
        """Give the turn back to who has handed in a plan, unless an interrupt has ended that wait."""
        stint.fault = fault
        stint.plan.close()
        with self._lock:
            if stint not in self._stints:
                return None
            self._stints.remove(stint)
            self._out = stint.nested
        return stint

    def _step(self) -> Sleeper | bool:
        """Give who is to go on, or True after a step, or False if nothing is left to do by now.

        Whoever waits shortest goes on at once, the others when no step is left.
        """
        if self.waits and self.waits[-1].over(self._dispatcher.clock.monotonic()):
            return self.waits.pop()
        runnable = self._dispatcher.take_ready()
        if runnable is None:
            return self._first_over() or False
        if runnable.counters.actor_class.pinned:
            return self._pinned_helper(runnable)
        self._dispatcher.run(runnable)
        return True

    def _first_over(self) -> Wait | None:
        now = self._dispatcher.clock.monotonic()
        for wait in reversed(self.waits):
            if wait.over(now):
                self.waits.remove(wait)
                return wait
        return None

    def _pinned_helper(self, runnable: Runnable) -> Helper:
        """Give the helper that alone runs a pinned actor, about to run a slice of it."""
        helper = self._pinned.get(runnable)
        if helper is None:
            helper = self._pinned[runnable] = Helper(kept_by=self)
        helper.job = partial(self._work, partial(self._run_pinned, runnable, helper))
        return helper

    def _run_pinned(self, runnable: Any, helper: Helper) -> Sleeper | None:
        """Run one slice, and let another helper go on: this one is not to wait for others."""
        fault: BaseException | None = None
        try:
            self._dispatcher.run(runnable)
        except BaseException as error:
            fault = error
        if runnable._actor is None:
            helper.release()
            self._pinned.pop(runnable, None)
        if fault is not None and self._stints:
            return self._finish(self._stints[-1], fault) or self._helper()
        return self._helper()
