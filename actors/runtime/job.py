"""What a supervisor does step by step: stop this child, start that one, each when the one before is done."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.child import NotMade
from showcaller.actors.runtime.exits import Exit

if TYPE_CHECKING:
    from showcaller.actors.runtime.child import Child
    from showcaller.actors.runtime.ref import ActorRef


@dataclass(frozen=True, slots=True)
class StopStep:
    """Have a child end, and ``keep`` its ref for a restart."""

    child: "Child"
    keep: bool

    def carry_out(self) -> bool:
        """Do what is to do now; True when the step is done."""
        child = self.child
        if child.state in ("running", "starting"):
            child.stop(keep=self.keep)
            return False
        if child.state == "waiting" and not self.keep:
            child.give_up()
        return child.state != "stopping"


@dataclass(frozen=True, slots=True)
class StartStep:
    """Have a child live."""

    child: "Child"

    def carry_out(self) -> bool:
        """Do what is to do now; True when the step is done."""
        child = self.child
        if child.gone:
            return True
        if child.state in ("stopped", "waiting"):
            child.cancel_timer()
            child.begin()
            return False
        return child.state == "running"


Step = StopStep | StartStep


class Job:
    """Steps to do in order, what follows them, and what a failed start means.

    ``failed`` is called instead of ``done``: with the child that did not start and why, or with None
    when the supervisor drops the job because it ends. One that starts children ``again`` goes on without
    a child that did not start when that is not to be tried once more.
    """

    __slots__ = ("again", "done", "failed", "steps")

    def __init__(
        self,
        steps: Iterable[Step],
        *,
        done: "Callable[[], None]",
        failed: "Callable[[Child | None, Exit], None]",
        again: bool = False,
    ) -> None:
        self.steps = deque(steps)
        self.done = done
        self.failed = failed
        self.again = again

    def starts(self, child: "Child") -> bool:
        """True while this child's start is the step that is under way."""
        step = self.steps[0] if self.steps else None
        return isinstance(step, StartStep) and step.child is child

    @property
    def has_stops(self) -> bool:
        """True while stops are still to come: they stand before the starts."""
        return bool(self.steps) and isinstance(self.steps[0], StopStep)

    def stops(self, child: "Child") -> bool:
        """True while a stop of this child is still to come."""
        return any(isinstance(step, StopStep) and step.child is child for step in self.steps)

    @property
    def waits_for_child(self) -> "ActorRef[Any] | None":
        """Whom it waits for just now for as long as it takes, if for anybody. Thread-safe."""
        try:
            step = self.steps[0]
        except IndexError:
            return None
        child = step.child
        return child.ref if isinstance(step, StartStep) or child.shutdown == "infinity" else None

    def go_on(self) -> bool:
        """Do steps as long as they are done at once; True when all are."""
        while self.steps:
            if not self.steps[0].carry_out():
                return False
            self.steps.popleft()
        return True


class Agenda:
    """The jobs of a supervisor in the order in which they came; the first is under way."""

    __slots__ = ("_jobs", "_stopping")

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._stopping: dict[Job, None] = {}  # those of them that had stops to do when last looked at

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, job: Job) -> None:
        """Do this one after the others."""
        self._jobs.append(job)
        if job.has_stops:
            self._stopping[job] = None

    def add_first(self, job: Job) -> None:
        """Do this one before the others, which wait."""
        self._jobs.appendleft(job)

    def go_on(self) -> None:
        """Do what can be done now."""
        while self._jobs:
            try:
                if not self._jobs[0].go_on():
                    return
            except NotMade as fault:
                self.start_failed(fault.child, fault.reason)
            else:
                self._take_off().done()

    def _take_off(self) -> Job:
        job = self._jobs.popleft()
        self._stopping.pop(job, None)
        return job

    def drop(self, reason: Exit) -> None:
        """Do none of them any more."""
        jobs, self._jobs, self._stopping = self._jobs, deque(), {}
        for job in jobs:
            job.failed(None, reason)

    def is_to_stop(self, child: "Child") -> bool:
        """True while a stop of this child is still to come: its job says what follows its end."""
        self._stopping = {job: None for job in self._stopping if job.has_stops}
        return any(job.stops(child) for job in self._stopping)

    def start_failed(self, child: "Child", reason: Exit) -> None:
        """Let the job in which the child was to start go on without it, or drop the job and say so to it."""
        if not self._jobs or not self._jobs[0].starts(child):
            return  # that job is dropped: all are to stop
        if self._jobs[0].again and (child.state != "waiting" or self.is_to_stop(child)):
            self._jobs[0].steps.popleft()  # who stood behind it was stopped to be started again
        else:
            self._take_off().failed(child, reason)

    def waits_for_child(self) -> "ActorRef[Any] | None":
        """Whom the first job waits for just now, if for anybody. Thread-safe."""
        try:
            return self._jobs[0].waits_for_child
        except IndexError:
            return None


def nothing() -> None:
    """What follows a job that nobody waits for."""


def cannot_fail(child: "Child | None", reason: Exit) -> None:
    """Stopping starts nobody."""
