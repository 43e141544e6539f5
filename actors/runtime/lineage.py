"""The tie between a supervised actor and its supervisor: what to make, when to restart, what to report."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from showcaller.actors.runtime.envelope import OwnMail
from showcaller.actors.runtime.exits import Exit

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell

Restart = Literal["permanent", "transient", "temporary"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to make an actor: its class and arguments. An actor's every life is made from the same recipe."""

    actor_class: type[Any]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


class ChildStarted(OwnMail):
    """Told to the supervisor: a child's ``on_start`` has ended well."""

    __slots__ = ("child",)

    def __init__(self, child: Any) -> None:
        self.child = child


class ChildExited(OwnMail):
    """Told to the supervisor: a life of a child has ended; when ``kept``, its ref waits for the next one."""

    __slots__ = ("child", "kept", "reason")

    def __init__(self, child: Any, reason: Exit, *, kept: bool) -> None:
        self.child = child
        self.reason = reason
        self.kept = kept


class Link:
    """What a supervised cell knows of its supervisor."""

    __slots__ = ("name", "restart", "supervisor")

    def __init__(self, supervisor: "Cell", name: str, restart: Restart) -> None:
        self.supervisor = supervisor
        self.name = name
        self.restart: Restart = restart

    def restarts(self, reason: Exit) -> bool:
        """Whether the actor is to live again after this end."""
        return self.restart == "permanent" or (self.restart == "transient" and reason.abnormal)

    def root(self) -> "Cell":
        """The supervisor at the top of the tree."""
        top = self.supervisor
        while top._extras is not None and top._extras.link is not None:
            top = top._extras.link.supervisor
        return top
