"""The catalogue: the agents that come with the package, and the agents and commands that the owner adds."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from showcaller.actors.contract.agent_entries import AgentEntry
from showcaller.actors.contract.command_entries import CommandEntry
from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.problems import problem
from showcaller.actors.contract.provider_entries import BUILT_IN, EXTERNAL, ProviderCatalogue, ProviderEntry

SHIPPED_FILE: Final = "agents.toml"
MOST_ENTRIES: Final = 200
_TABLE: Final = "providers"
_COMMAND: Final = "command"
_AGENT: Final = "acp"
_AGENTS_KEYS: Final = tuple(sorted({*AgentEntry.model_fields, "kind", "like"} - {"name"}))
_COMMANDS_KEYS: Final = tuple(sorted({*CommandEntry.model_fields, "kind", "like"} - {"name"}))
Entry = TypeVar("Entry", AgentEntry, CommandEntry)
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


class Entries(NamedTuple):
    """What a catalogue's file comes to, by their names."""

    agents: dict[str, AgentEntry]
    commands: dict[str, CommandEntry]


def catalogue_of(agents: Iterable[AgentEntry], commands: Iterable[CommandEntry] = ()) -> ProviderCatalogue:
    """Give the catalogue with what needs nothing installed, and these agents and commands."""
    return ProviderCatalogue(
        *BUILT_IN, *map(command_provider, commands), *map(provider_entry, agents), GENERIC
    )


def read_agents(
    text: str, file: str, known: Mapping[str, AgentEntry] = MappingProxyType({})
) -> dict[str, AgentEntry]:
    """Give the agents of ``read_providers``."""
    return read_providers(text, file, known).agents


def read_providers(text: str, file: str, known: Mapping[str, AgentEntry] = MappingProxyType({})) -> Entries:
    """Give ``known`` with what a TOML text says besides: new entries, and other values for those there are.

    A table ``[providers.NAME]`` holds the keys of ``AgentEntry``, or with ``kind = "command"`` those of
    ``CommandEntry``; with ``like = "OTHER"`` a new one takes from that one what it does not say. Variables
    and MCP servers are added to those that were there.

    Raises:
        Refusal: what is wrong, with the file, the key and the way out. ``file`` is only its name for that.

    """
    found, commands = dict(known), dict[str, CommandEntry]()
    for name, table in _tables(text, file).items():
        _refuse_reserved(name, file)
        kind = table.get("kind", _AGENT)
        if kind == _COMMAND:
            found.pop(name, None)
            commands[name] = _entry(CommandEntry, _COMMANDS_KEYS, name, table, commands, file)
        elif kind == _AGENT:
            found[name] = _entry(AgentEntry, _AGENTS_KEYS, name, table, found, file)
        else:
            raise _wrong(file, f"{_place(name)}.kind", f'a kind is "{_AGENT}" or "{_COMMAND}"')
    for name, entry in found.items():
        if entry.billing_of is not None and (entry.billing_of == name or entry.billing_of not in found):
            raise _wrong(file, f"{_TABLE}.{name}.billing_of", f"there is no other agent {entry.billing_of!a}")
    return Entries(found, commands)


def command_provider(command: CommandEntry) -> ProviderEntry:
    """Give the entry of a provider whose sessions run this command."""
    program = command.command[0]
    return ProviderEntry(
        command.name,
        command.label,
        agents_may_start=command.agents_may_start,
        note="Gets each prompt as its input.",
        kind="command",
        program=program,
        to_install=command.install or f"Install the program {program}.",
        fixed=command,
    )


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


def _place(name: str) -> str:
    return f"{_TABLE}.{quote_foreign(name, 40)}" if not name.isidentifier() else f"{_TABLE}.{name}"


def _refuse_reserved(name: str, file: str) -> None:
    if name in _RESERVED:
        why = f"{name} is no agent and cannot be described here; choose another name"
        raise _wrong(file, _place(name), why)


def _entry(
    model: type[Entry],
    keys: Iterable[str],
    name: str,
    table: Mapping[str, Any],
    known: Mapping[str, Entry],
    file: str,
) -> Entry:
    place = _place(name)
    for key in table:
        if key not in keys:
            shown = quote_foreign(key, 64)
            raise _wrong(file, f"{place}.{shown}", f"there is no such key; there are {', '.join(keys)}")
    told: dict[str, Any] = {key: value for key, value in table.items() if key not in {"kind", "like"}}
    base = _base(name, table, known, file, place)
    if base is not None:
        kept = {key: value for key, value in base.model_dump(exclude_unset=True).items() if key != "name"}
        for key in ("environment", "mcp_servers"):
            if isinstance(told.get(key), dict):
                told = {**told, key: {**getattr(base, key, {}), **told[key]}}
        told = {**kept, **told}
    try:
        return model(name=name, **told)
    except ValidationError as error:
        first: ErrorDetails = error.errors(include_url=False)[0]
        key = ".".join([place, *map(str, first["loc"])])
        raise _wrong(file, key, _why(first)) from error


def _base(
    name: str, table: Mapping[str, Any], known: Mapping[str, Entry], file: str, place: str
) -> Entry | None:
    """Give the entry that a table starts from: the one of its name, else the one that it is like."""
    like = table.get("like")
    if like is None:
        return known.get(name)
    if not isinstance(like, str) or like not in known:
        shown = quote_foreign(like, 40) if isinstance(like, str) else type(like).__name__
        raise _wrong(
            file,
            f"{place}.like",
            f"there is no entry {shown} of its kind above it; there are {', '.join(known) or 'none'}",
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
