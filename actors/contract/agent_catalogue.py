"""The catalogue of agents: the entries that come with the package, extended by a file of the owner's."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from showcaller.actors.contract.agent_entries import AgentEntry
from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.problems import problem
from showcaller.actors.contract.provider_entries import BUILT_IN, EXTERNAL, ProviderCatalogue, ProviderEntry

SHIPPED_FILE: Final = "agents.toml"
MOST_ENTRIES: Final = 200
_TABLE: Final = "providers"
_KEYS: Final = tuple(sorted({*AgentEntry.model_fields, "like"} - {"name"}))
Tables = Mapping[str, Mapping[str, Any]]


@cache
def shipped_agents() -> Mapping[str, AgentEntry]:
    """Give the entries that come with the package, by their names."""
    text = (files("showcaller.actors.contract") / SHIPPED_FILE).read_text(encoding="utf-8")
    return MappingProxyType(read_agents(text, SHIPPED_FILE))


@cache
def known_providers() -> ProviderCatalogue:
    """Give the catalogue of a relay whose owner has added nothing."""
    return catalogue_of(shipped_agents().values())


def catalogue_of(agents: Iterable[AgentEntry]) -> ProviderCatalogue:
    """Give the catalogue with what needs nothing installed, and these agents."""
    return ProviderCatalogue(*BUILT_IN, *map(provider_entry, agents), GENERIC)


def read_agents(
    text: str, file: str, known: Mapping[str, AgentEntry] = MappingProxyType({})
) -> dict[str, AgentEntry]:
    """Give ``known`` with what a TOML text says besides: new entries, and other values for those there are.

    A table ``[providers.NAME]`` holds the keys of ``AgentEntry``; with ``like = "OTHER"`` a new one takes
    from that entry what it does not say. Variables and MCP servers are added to those that were there.

    Raises:
        Refusal: what is wrong, with the file, the key and the way out. ``file`` is only its name for that.

    """
    found = dict(known)
    for name, table in _tables(text, file).items():
        found[name] = _entry(name, table, found, file)
    for name, entry in found.items():
        if entry.billing_of is not None and (entry.billing_of == name or entry.billing_of not in found):
            raise _wrong(file, f"{_TABLE}.{name}.billing_of", f"there is no other agent {entry.billing_of!a}")
    return found


def provider_entry(agent: AgentEntry) -> ProviderEntry:
    """Give the entry of a provider whose sessions run this agent."""
    return ProviderEntry(
        agent.name,
        agent.label,
        takes=agent.takes,
        steers=agent.steers,
        agents_may_start=agent.agents_may_start,
        note="Has no tools of ours: it takes no MCP servers." if agent.mcp == "none" else None,
        kind="acp",
        program=agent.command[0],
        to_install=agent.install or f"Install the program {agent.command[0]}.",
        patient=agent.patient,
        agent=agent,
    )


GENERIC: Final = ProviderEntry(
    "generic",
    "Any agent",
    named_work="COMMAND",
    note="Named generic:COMMAND; runs a command that speaks the Agent Client Protocol.",
    kind="acp",
)
"""Any command that speaks the protocol; closed to agents, because it may be any command."""


def _tables(text: str, file: str) -> Tables:
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _wrong(file, None, f"it is no TOML: {error}") from error
    for key in content:
        if key != _TABLE:
            raise _wrong(file, quote_foreign(key, 64), f"there is no such key; there is {_TABLE}")
    tables = content.get(_TABLE, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise _wrong(file, _TABLE, "it holds a table for each provider: [providers.NAME]")
    if len(tables) > MOST_ENTRIES:
        raise _wrong(file, _TABLE, f"it may hold {MOST_ENTRIES} tables, and holds {len(tables)}")
    return tables


def _entry(name: str, table: Mapping[str, Any], known: Mapping[str, AgentEntry], file: str) -> AgentEntry:
    place = f"{_TABLE}.{quote_foreign(name, 40)}" if not name.isidentifier() else f"{_TABLE}.{name}"
    if name in _RESERVED:
        raise _wrong(file, place, f"{name} is no agent and cannot be described here; choose another name")
    for key in table:
        if key not in _KEYS:
            shown = quote_foreign(key, 64)
            raise _wrong(file, f"{place}.{shown}", f"there is no such key; there are {', '.join(_KEYS)}")
    told: dict[str, Any] = {key: value for key, value in table.items() if key != "like"}
    base = _base(name, table, known, file, place)
    if base is not None:
        kept = {key: value for key, value in base.model_dump(exclude_unset=True).items() if key != "name"}
        for key in ("environment", "mcp_servers"):
            if isinstance(told.get(key), dict):
                told = {**told, key: {**getattr(base, key), **told[key]}}
        told = {**kept, **told}
    try:
        return AgentEntry(name=name, **told)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join([place, *map(str, first["loc"])])
        raise _wrong(file, key, _why(first)) from error


def _base(
    name: str, table: Mapping[str, Any], known: Mapping[str, AgentEntry], file: str, place: str
) -> AgentEntry | None:
    """Give the entry that a table starts from: the one of its name, else the one that it is like."""
    like = table.get("like")
    if like is None:
        return known.get(name)
    if not isinstance(like, str) or like not in known:
        shown = quote_foreign(like, 40) if isinstance(like, str) else type(like).__name__
        raise _wrong(
            file,
            f"{place}.like",
            f"there is no agent {shown} above it; there are {', '.join(known) or 'none'}",
        )
    return known[like]


def _why(detail: ErrorDetails) -> str:
    if detail["type"] == "missing":
        return "it has to be said"
    if detail["loc"] == ("name",):
        return "a name is of small letters, digits and '-', begins with a letter, and has up to 32 characters"
    return problem(detail)


def _wrong(file: str, key: str | None, why: str) -> Refusal:
    place = file if key is None else f"{file}: {key}"
    return invalid(f"{place}: {why}. Mend it, or move the file away.", file=file, key=key)


_RESERVED: Final = frozenset({*(entry.provider for entry in BUILT_IN), EXTERNAL, GENERIC.provider})
