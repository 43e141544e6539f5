"""What a supervisor does step by step: stop this child, start that one, each when the one before is done."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    when the supervisor drops the job because it ends.
    """

    __slots__ = ("done", "failed", "steps")

    def __init__(
        self,
        steps: Iterable[Step],
        *,
        done: "Callable[[], None]",
        failed: "Callable[[Child | None, Exit], None]",
    ) -> None:
        self.steps = deque(steps)
        self.done = done
        self.failed = failed

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


def nothing() -> None:
    """What follows a job that nobody waits for."""


def cannot_fail(child: "Child | None", reason: Exit) -> None:
    """Stopping starts nobody."""
