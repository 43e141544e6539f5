"""What can be asked of a supervisor, and what it answers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from showcaller.actors.runtime.child_spec import ChildSpec
from showcaller.actors.runtime.choices import is_a

if TYPE_CHECKING:
    from showcaller.actors.runtime.ref import ActorRef

ChildState = Literal["starting", "running", "stopping", "waiting", "stopped"]


@dataclass(frozen=True, slots=True)
class StartChild:
    """Add a child at the end and start it; answered with its ref, or ``StartFailed`` and not added."""

    spec: ChildSpec

    def __post_init__(self) -> None:
        if not is_a(self.spec, ChildSpec):
            raise TypeError(f"a child to start cannot be {self.spec!r}: give a ChildSpec(name, class, …)")


@dataclass(frozen=True, slots=True)
class _Named:
    """About the child of that name."""

    name: str

    def __post_init__(self) -> None:
        if not is_a(self.name, str):
            raise TypeError(f"the name of a child cannot be {self.name!r}: give text")


@dataclass(frozen=True, slots=True)
class StopChild(_Named):
    """Stop a child and keep its specification; answered with None once it has ended.

    It stays so until ``RestartChild``, or until a later failure under ``one_for_all`` or ``rest_for_one``
    restarts a group that it belongs to, as in OTP. ``RemoveChild`` is for good.
    """


@dataclass(frozen=True, slots=True)
class RestartChild(_Named):
    """Start a stopped child again, with a new ref; answered with that, or ``StartFailed``."""


@dataclass(frozen=True, slots=True)
class RemoveChild(_Named):
    """Stop a child and forget its specification; answered with None."""


Command = StartChild | StopChild | RestartChild | RemoveChild
"""What changes the children of a supervisor."""


@dataclass(frozen=True, slots=True)
class GetChild(_Named):
    """Answered with a child's ref, or None when it has none (stopped, or never heard of).

    The answer comes when the supervisor's first children have all started; ``StartFailed`` if one could not.
    """


@dataclass(frozen=True, slots=True)
class ListChildren:
    """Answered with a tuple of ``ChildInfo`` in starting order."""


@dataclass(frozen=True, slots=True)
class ChildInfo:
    """A child as the supervisor sees it; ``waiting`` is between two lives, ``ref`` is None when stopped."""

    name: str
    ref: "ActorRef[Any] | None"
    state: ChildState
    restarts: int
