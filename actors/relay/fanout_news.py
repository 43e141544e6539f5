"""What comes back to a fan-out from what it asked of the store, of sessions and of the writer."""

from typing import Any, NamedTuple

from showcaller.actors.contract.fanout import ItemResult
from showcaller.actors.relay.fanout_items import Attempt


class Page(NamedTuple):
    """Items read from the store."""

    rows: list[dict[str, Any]]


class Known(NamedTuple):
    """The latest attempt at an item, as the store has it."""

    attempt: Attempt
    message: dict[str, Any] | None
    first_look: bool


class Asked(NamedTuple):
    """The session has what we asked of it for this item: its prompt is stored, or it tells us of its end."""

    number: int


class LookAgain(NamedTuple):
    """What the session of this item wrote is stored, so that the store says how its attempt stands."""

    number: int


class Failed(NamedTuple):
    """Something that was asked for, for the item of that number if any, ended in an error."""

    error: Exception
    number: int | None = None


class Stored(NamedTuple):
    """Tag: the fan-out itself is stored."""


class Finished(NamedTuple):
    """Tag: the end of the whole fan-out is stored."""


class Recorded(NamedTuple):
    """Tag: the result of an item is stored."""

    number: int
    result: ItemResult


class Found(NamedTuple):
    """The fan-out to go on with."""

    row: dict[str, Any] | None
