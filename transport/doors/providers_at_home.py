"""What a data folder says of providers: the owner's entries, and which agents have answered there."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.handshakes import MOST_BYTES, Handshake, handshakes_in, handshakes_text
from showcaller.actors.contract.provider_catalogue import catalogue_of, read_providers, shipped_agents
from showcaller.actors.contract.provider_entries import ProviderCatalogue
from showcaller.transport.doors.start_error import RelayStartError
from showcaller.transport.ordinary_files import open_ordinary, read_ordinary

OWNERS: Final = "providers.toml"
HANDSHAKES: Final = "handshakes.json"
MOST_OF_OWNERS: Final = 1024 * 1024


def catalogue_at(home: Path) -> ProviderCatalogue:
    """Give what sessions can run here: what comes with the package, and what the owner's file adds.

    Raises ``RelayStartError``: the file cannot be read, or what is wrong in it.
    """
    path = home / OWNERS
    try:
        content = read_ordinary(path, MOST_OF_OWNERS + 1)
    except FileNotFoundError:
        return catalogue_of(shipped_agents().values())
    except OSError as error:
        raise RelayStartError(
            f"The catalogue {path} cannot be read: {error.strerror}.", "Move it away."
        ) from error
    if len(content) > MOST_OF_OWNERS:
        raise RelayStartError(f"The catalogue {path} is larger than a mebibyte.", "Make it smaller.")
    try:
        text = content.decode()
        entries = read_providers(text, str(path), shipped_agents())
        return catalogue_of(entries.agents.values(), entries.commands.values())
    except UnicodeDecodeError as error:
        raise RelayStartError(f"The catalogue {path} is not UTF-8: {error}.", "Write it in UTF-8.") from error
    except Refusal as refusal:
        raise RelayStartError(refusal.error, "") from refusal


def handshakes_at(home: Path) -> Mapping[str, Handshake]:
    """Give the handshakes that have worked here; none where the file cannot be read."""
    try:
        content = read_ordinary(home / HANDSHAKES, MOST_BYTES + 1)
    except OSError:
        return {}
    return handshakes_in(content) if len(content) <= MOST_BYTES else {}


def keep_handshake(home: Path, provider: str, handshake: Handshake) -> None:
    """Keep what an agent told, in the place of what it told before; raises OSError."""
    _write(home, {**handshakes_at(home), provider: handshake})


def forget_handshake(home: Path, provider: str) -> None:
    """Forget what an agent told that does not work any more; raises OSError."""
    kept = handshakes_at(home)
    if provider in kept:
        _write(home, {name: handshake for name, handshake in kept.items() if name != provider})


def _write(home: Path, kept: Mapping[str, Handshake]) -> None:
    path = home / f"{HANDSHAKES}.{os.getpid()}"
    with suppress(FileNotFoundError):
        path.unlink()
    with os.fdopen(open_ordinary(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w", encoding="utf-8") as file:
        file.write(handshakes_text(kept))
    path.replace(home / HANDSHAKES)
