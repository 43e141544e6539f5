"""How an actor's life ended, and the message that tells its watchers."""

from dataclasses import dataclass
from typing import Any, Literal

from showcaller.actors.runtime.unfailing_log import shown

ExitKind = Literal["normal", "shutdown", "failed", "unstarted", "killed"]


@dataclass(frozen=True, slots=True)
class Exit:
    """Why an actor ended.

    ``normal``: it was stopped. ``shutdown``: its supervisor stopped it. ``failed``: a told message, or a
    coroutine that nobody waits for, raised ``error``. ``unstarted``: making it or ``on_start`` raised
    ``error``. ``killed``: it had no say in it: by ``ref.kill()``, by its supervisor after the shutdown time
    or with ``shutdown="kill"``, with a supervisor that was killed or failed, or because its dispatcher was
    closed.
    """

    kind: ExitKind
    error: BaseException | None = None

    @property
    def abnormal(self) -> bool:
        """True when a transient actor is to be restarted after this."""
        return self.kind not in ("normal", "shutdown")

    def __str__(self) -> str:
        return self.kind if self.error is None else f"{self.kind} ({shown(self.error)})"


NORMAL = Exit("normal")
SHUTDOWN = Exit("shutdown")
KILLED = Exit("killed")


@dataclass(frozen=True, slots=True)
class Terminated:
    """Told once to everyone who watched ``ref``: it has ended for good, and will not be restarted."""

    ref: Any
    reason: Exit


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Told to everyone who watches a dispatcher's dead letters: ``message`` was told to ``ref`` in vain."""

    ref: Any
    message: Any
