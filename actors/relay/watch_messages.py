"""What is told between who watches, the feed that reads the log for all of them, and their sessions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from showcaller.actors.relay.messages import Prompt
from showcaller.actors.relay.watching import Row

if TYPE_CHECKING:
    from showcaller.actors.runtime import ActorRef


class ForWatcher(NamedTuple):
    """To the supervisor, from it to the feed, and from that to the watcher of this conversation."""

    watcher: str
    message: Any


class ChangeWatching(NamedTuple):
    """To a watcher: have a command about its subscriptions stored, by its name in the store.

    Answered with what that gives, or with a Refusal. ``told`` is what the feed knows when it passes this on:
    the event up to which the watcher was told all that it follows.
    """

    command: str
    arguments: dict[str, Any]
    told: int = 0


class WakeUpsChanged(NamedTuple):
    """To the supervisor, from it to the feed, and to every watcher: a setting about wake-ups is another."""


class Follow(NamedTuple):
    """From a watcher to the feed: tell me what happens in these ``sessions`` (None: in all) after ``since``.

    What is found for one of the ``subscriptions`` is told too, and that the watcher's own was put away.
    Without ``since`` nothing is followed. ``life`` comes back with what is told, so that the watcher knows
    what an earlier wish had brought on its way.
    """

    watcher: str
    ref: "ActorRef[Any]"
    life: int
    sessions: frozenset[str] | None
    since: int | None
    subscriptions: frozenset[str] = frozenset()


class Heard(NamedTuple):
    """From the feed to a watcher: events of the log, in order, none of them told before in this ``life``."""

    rows: Sequence[Row]
    life: int


class WatcherOver(NamedTuple):
    """From a watcher that has nothing to do: let me end if you have passed on no more than ``handled``."""

    watcher: str
    ref: "ActorRef[Any]"
    handled: int


class WakeUp(NamedTuple):
    """To a session that watches: what has left for it.

    ``prompt`` is stored as any prompt, but with what its watcher ``keeps`` from now on and with its
    ``events``, by relay and cursor, in one transaction. With ``extends`` it is no message of its own: the
    text of the one of this id, which still waits, becomes that of the prompt.

    Answered as a ``Prompt`` is, or with a ``WatcherBehind``.
    """

    prompt: Prompt
    keeps: dict[str, Any]
    events: tuple[tuple[str, int], ...]
    extends: str | None = None
