"""Showcaller: a relay for agent sessions, built as an actor runtime.

The public names are loaded when they are first used, so that a worker process, or a program that wants
the actors alone, does not load the database and the sockets.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from showcaller._version import VERSION as __version__  # noqa: N811

if TYPE_CHECKING:
    from showcaller.actors.contract.errors import Refusal
    from showcaller.actors.contract.fanout import FanoutSpec, ItemResult
    from showcaller.actors.contract.settings import Settings
    from showcaller.actors.runtime import Actor
    from showcaller.embedding import Relay
    from showcaller.transport.doors.start_error import RelayStartError

__all__ = [
    "Actor",
    "FanoutSpec",
    "ItemResult",
    "Refusal",
    "Relay",
    "RelayStartError",
    "Settings",
    "__version__",
]

_HOMES: Final = {
    "Actor": "showcaller.actors.runtime",
    "FanoutSpec": "showcaller.actors.contract.fanout",
    "ItemResult": "showcaller.actors.contract.fanout",
    "Refusal": "showcaller.actors.contract.errors",
    "Relay": "showcaller.embedding",
    "RelayStartError": "showcaller.transport.doors.start_error",
    "Settings": "showcaller.actors.contract.settings",
}


def _load(name: str) -> object:
    """Load a public name from the module that defines it, and keep it; any thread may ask."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(__all__)}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Name what completion should show, loaded or not."""
    return list(__all__)


if not TYPE_CHECKING:  # a type checker that saw it would believe in every name
    __getattr__ = _load
