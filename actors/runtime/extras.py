"""What few actors need, made when first asked for, so that an idle actor does not pay for it."""

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from showcaller.actors.runtime.exits import Exit
    from showcaller.actors.runtime.handler import Handler
    from showcaller.actors.runtime.lineage import Link


class Extras:
    """The rarely needed parts of a cell. ``extras_lock`` guards all but ``pending``, which the gate does."""

    __slots__ = ("children", "exit", "link", "pending", "stopped", "urn", "watchers", "watches")

    def __init__(self) -> None:
        self.urn: str | None = None
        self.stopped: threading.Event | None = None
        self.exit: Exit | None = None  # set before the actor counts as dead, unless it ended normally
        self.link: Link | None = None  # to the supervisor
        self.children: dict[Any, None] | None = None  # of a supervisor: they die with it
        self.watchers: dict[Any, None] | None = None
        self.watches: dict[Any, None] | None = None  # who has us among its watchers
        self.pending: dict[Handler, None] | None = None  # coroutines of a reentrant actor that wait

    def no_longer_watched_by(self, watcher: Any) -> None:
        """Take ``watcher`` out of the watchers, if it is there; the lock is held."""
        if self.watchers is not None and self.watchers.pop(watcher, self) is None and not self.watchers:
            self.watchers = None

    def no_longer_watches(self, watched: Any) -> None:
        """Forget that ``watched`` has us among its watchers; the lock is held."""
        if self.watches is not None and self.watches.pop(watched, self) is None and not self.watches:
            self.watches = None


# As all locks that senders take: a signal handler may send while its thread sends.
extras_lock = threading.RLock()
