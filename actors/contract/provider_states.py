"""Which providers can be used here, as the owner reads of it."""

import platform
import shutil
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final, Literal

from showcaller.actors.contract.agent_entries import AgentEntry
from showcaller.actors.contract.handshakes import Handshake
from showcaller.actors.contract.provider_entries import Kind, ProviderCatalogue, ProviderEntry
from showcaller.actors.contract.settings import Settings
from showcaller.actors.contract.times import time_text
from showcaller.actors.contract.views import ResultModel

ProviderState = Literal["unknown", "missing", "available", "ready"]
"""Not in the catalogue; its program is not installed; installed; it has answered, so that it works."""
FindProgram = Callable[[str], str | None]
NO_HANDSHAKES: Final[Mapping[str, Handshake]] = MappingProxyType({})


class ProviderRow(ResultModel):
    """A provider and whether it can be used; of an unknown one only the name is known, and what is close.

    ``to_install`` says how to get a missing one. ``version``, ``models``, ``modes`` and ``efforts`` are what
    the agent told in the handshake of ``checked_at``; ``traps`` are what is known to go wrong with it.
    """

    provider: str
    state: ProviderState
    kind: Kind | None = None
    label: str | None = None
    version: str | None = None
    takes: Literal["folder", "repo"] | None = None
    steers: bool | None = None
    loads: bool | None = None
    resumes: bool | None = None
    mcp: Literal["http", "stdio", "both", "none"] | None = None
    models: tuple[str, ...] | None = None
    modes: tuple[str, ...] | None = None
    efforts: tuple[str, ...] | None = None
    checked_at: str | None = None
    agents_may_start: bool | None = None
    billing_of: str | None = None
    note: str | None = None
    to_install: str | None = None
    traps: tuple[str, ...] | None = None
    suggestions: tuple[str, ...] | None = None


class ProviderList(ResultModel):
    """The answer to who asks for the providers."""

    ok: Literal[True] = True
    providers: tuple[ProviderRow, ...]


def provider_list(
    catalogue: ProviderCatalogue,
    settings: Settings,
    names: Iterable[str] = (),
    find: FindProgram = shutil.which,
    handshakes: Mapping[str, Handshake] = NO_HANDSHAKES,
) -> ProviderList:
    """Give the providers of these names, all of the catalogue without any; ``find`` looks for a program.

    A name may say what to run as well, as a session's does: ``generic:COMMAND``.
    """
    by_name = {entry.provider: entry for entry in catalogue}
    wanted = tuple(dict.fromkeys(names)) or tuple(by_name)
    rows: list[ProviderRow] = []
    for name in wanted:
        entry = by_name.get(name) or catalogue.find(name)
        if entry is None:
            close = tuple(get_close_matches(name.partition(":")[0].casefold(), by_name, 3))
            rows.append(ProviderRow(provider=name, state="unknown", suggestions=close or None))
        else:
            rows.append(_row(name, entry, catalogue.agent_of(name), settings, find, handshakes.get(name)))
    return ProviderList(providers=tuple(rows))


def is_installed(entry: ProviderEntry, find: FindProgram = shutil.which) -> bool:
    """Tell whether what a provider needs is there."""
    return entry.program is None or find(entry.program) is not None


def provider_state(
    entry: ProviderEntry, find: FindProgram, handshake: Handshake | None, agent: AgentEntry | None = None
) -> ProviderState:
    """Say how usable a provider is: those that need no handshake are ready once they are there.

    ``agent`` is the one that the name of a session's provider means, if that says what to run.
    """
    agent = agent or entry.agent
    program = entry.program if agent is None or entry.agent is agent else agent.command[0]
    if program is not None and find(program) is None:
        return "missing"
    if entry.kind != "acp":
        return "ready"
    proven = handshake is not None and agent is not None and handshake.is_of(agent)
    return "ready" if proven else "available"


def _row(
    name: str,
    entry: ProviderEntry,
    agent: AgentEntry | None,
    settings: Settings,
    find: FindProgram,
    handshake: Handshake | None,
) -> ProviderRow:
    state = provider_state(entry, find, handshake, agent)
    row = ProviderRow(
        provider=name,
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
    if agent is not None:
        known = {"loads": agent.loads, "resumes": agent.resumes, "mcp": agent.mcp}
        row = row.model_copy(update={**known, "billing_of": agent.billing_of, "traps": agent.traps or None})
    if state != "ready" or agent is None or handshake is None:
        return row
    told = {name: getattr(handshake, name) for name in ("version", "models", "modes", "efforts")}
    can = {"loads": handshake.loads, "resumes": handshake.resumes}
    return row.model_copy(update={**told, **can, "checked_at": time_text(handshake.at)})
