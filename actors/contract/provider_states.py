"""Which providers can be used here, as the owner reads of it."""

import platform
import shutil
from collections.abc import Callable, Iterable
from typing import Literal

from showcaller.actors.contract.provider_entries import Kind, ProviderCatalogue, ProviderEntry
from showcaller.actors.contract.settings import Settings
from showcaller.actors.contract.views import ResultModel

ProviderState = Literal["unknown", "missing", "available", "ready"]
"""Not in the catalogue; its program is not installed; installed; it has answered, so that it works."""
FindProgram = Callable[[str], str | None]


class ProviderRow(ResultModel):
    """A provider and whether it can be used; of an unknown one only the name is known.

    ``to_install`` says how to get a missing one.
    """

    provider: str
    state: ProviderState
    kind: Kind | None = None
    label: str | None = None
    version: str | None = None
    takes: Literal["folder", "repo"] | None = None
    steers: bool | None = None
    agents_may_start: bool | None = None
    note: str | None = None
    to_install: str | None = None


class ProviderList(ResultModel):
    """The answer to who asks for the providers."""

    ok: Literal[True] = True
    providers: tuple[ProviderRow, ...]


def provider_list(
    catalogue: ProviderCatalogue,
    settings: Settings,
    names: Iterable[str] = (),
    find: FindProgram = shutil.which,
) -> ProviderList:
    """Give the providers of these names, all of the catalogue without any; ``find`` looks for a program."""
    by_name = {entry.provider: entry for entry in catalogue}
    wanted = tuple(dict.fromkeys(names)) or tuple(by_name)
    return ProviderList(
        providers=tuple(
            _row(by_name[name], settings, find)
            if name in by_name
            else ProviderRow(provider=name, state="unknown")
            for name in wanted
        )
    )


def _row(entry: ProviderEntry, settings: Settings, find: FindProgram) -> ProviderRow:
    state = _state(entry, find)
    return ProviderRow(
        provider=entry.provider,
        state=state,
        kind=entry.kind,
        label=entry.label,
        version=f"Python {platform.python_version()}" if entry.kind == "callable" else None,
        takes=entry.takes,
        steers=entry.steers,
        agents_may_start=settings.agents_may_start(entry),
        note=entry.note,
        to_install=entry.to_install if state == "missing" else None,
    )


def _state(entry: ProviderEntry, find: FindProgram) -> ProviderState:
    """Say how usable a provider is: those that need no handshake are ready once they are there."""
    if entry.program is not None and find(entry.program) is None:
        return "missing"
    return "available" if entry.kind == "acp" else "ready"
