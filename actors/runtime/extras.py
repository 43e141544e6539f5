"""What few actors need, made when first asked for, so that an idle actor does not pay for it."""

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from showcaller.actors.runtime.debts import Debt
    from showcaller.actors.runtime.exits import Exit
    from showcaller.actors.runtime.handler import Handler
    from showcaller.actors.runtime.lineage import Link
    from showcaller.actors.runtime.timers import Timer


class Extras:
    """The rarely needed parts of a cell. ``extras_lock`` guards all but ``pending``, which the gate does.

    What ``owed`` and ``timers`` hold is changed by any thread, in single orders.
    """

    __slots__ = (
        "children", "exit", "link", "owed", "pending", "stopped", "timers", "urn", "watchers", "watches",
    )  # fmt: skip

    def __init__(self) -> None:
        self.urn: str | None = None
        self.stopped: threading.Event | None = None
        self.exit: Exit | None = None  # set before the actor counts as dead, unless it ended normally
        self.link: Link | None = None  # to the supervisor
        self.children: dict[Any, None] | None = None  # of a supervisor: they die with it
        self.watchers: dict[Any, None] | None = None
        self.watches: dict[Any, None] | None = None  # who has us among its watchers
        self.pending: dict[Handler, None] | None = None  # coroutines of a reentrant actor that wait
        self.owed: dict[Debt, None] | None = None  # replies that this life has taken over
        self.timers: dict[Timer, None] | None = None  # that this life has set for itself

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
