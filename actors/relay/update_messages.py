"""What calls and sessions tell each other about changes of settings; plain data."""

from typing import Any, NamedTuple

from showcaller.actors.relay.messages import WriteId


class Update(NamedTuple):
    """To a session: change these settings of it, for its next turns.

    ``place`` is where it is moved, as the store takes it; with ``only_if_idle`` it is refused as busy while
    anything runs or waits; what waits with one of the modes ``looser`` runs in the new one. ``changed`` is
    what a repeat of the write gets. Answered with ``Updated`` once it is stored, ``Repeated``, or a Refusal.
    """

    values: dict[str, Any]
    changed: tuple[str, ...]
    place: dict[str, Any] | None = None
    only_if_idle: bool = False
    looser: tuple[str, ...] = ()
    call: WriteId | None = None


class Updated(NamedTuple):
    """The answer to ``Update``: it is stored; ``group_created``: with a group that there was not."""

    group_created: bool
