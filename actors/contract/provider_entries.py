"""The catalogue of providers, as a relay knows them: what each is called, takes, and can."""

import shlex
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from showcaller.actors.contract.agent_entries import AgentEntry
from showcaller.actors.contract.command_entries import CommandEntry

Kind = Literal["acp", "command", "callable"]


class ProviderEntry(NamedTuple):
    """What is known of a provider before any session of it runs.

    ``kind`` says how its turns are run; ``program`` is what has to be installed for that, None for nothing,
    and ``to_install`` how to get it. ``takes`` is what its sessions work in; ``steers``: a message can join
    its running turn; ``note`` is for agents that choose; ``patient``: its MCP client waits for a call without
    hearing of progress. With ``named_work``, such as ``MODULE:FUNCTION``, a session's provider is the name,
    a colon, and what it is to run. ``agent`` says how the agent of an ``acp`` provider is started, where
    that is not named by the session, and ``fixed`` which command gets the prompts of a ``command`` provider
    as its input, where they are no command lines.
    """

    provider: str
    label: str
    takes: Literal["folder", "repo"] = "folder"
    steers: bool = False
    agents_may_start: bool = False
    named_work: str | None = None
    note: str | None = None
    kind: Kind = "command"
    program: str | None = None
    to_install: str | None = None
    patient: bool = False
    agent: AgentEntry | None = None
    fixed: CommandEntry | None = None

    @property
    def runs_lines(self) -> bool:
        """Whether the prompts of its sessions are run as command lines."""
        return self.kind == "command" and self.fixed is None

    @property
    def written(self) -> str:
        """How a session's provider is written."""
        return self.provider if self.named_work is None else f"{self.provider}:{self.named_work}"


class ProviderCatalogue:
    """The entries by their names, in order. Immutable."""

    def __init__(self, *entries: ProviderEntry) -> None:
        self._entries: Mapping[str, ProviderEntry] = MappingProxyType({e.provider: e for e in entries})

    def __iter__(self) -> Iterator[ProviderEntry]:
        return iter(self._entries.values())

    def find(self, provider: str) -> ProviderEntry | None:
        """Give the entry of a session's provider; None when there is none, or its name says too little."""
        name, colon, work = provider.partition(":")
        entry = self._entries.get(name)
        if entry is None or bool(colon) != bool(entry.named_work) or bool(work) != bool(colon):
            return None
        return None if entry.kind == "acp" and work and not _arguments(work) else entry

    def agent_of(self, provider: str) -> AgentEntry | None:
        """Give how the agent of a session's provider is started; None where it runs none, or is unknown."""
        entry = self.find(provider)
        if entry is None or entry.kind != "acp":
            return None
        command = _arguments(provider.partition(":")[2])
        if entry.agent is not None or not command:
            return entry.agent
        return AgentEntry(name=entry.provider, label=entry.label, command=command, loads=True, resumes=True)


def _arguments(command: str) -> tuple[str, ...]:
    """Split a command as a shell would; gives nothing for one that cannot be split."""
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()


EXTERNAL: Final = "external"
"""The provider of conversations whose client the relay did not start; no entry, so nobody can start one."""

BUILT_IN: Final = ProviderCatalogue(
    ProviderEntry(
        "command",
        "Command",
        note="Runs the prompt as a command line of the shell in the session's folder.",
        program="/bin/sh",
        to_install="Install a POSIX shell as /bin/sh; every Linux and macOS has one.",
    ),
    ProviderEntry(
        "callable",
        "Python function",
        named_work="MODULE:FUNCTION",
        note="Named callable:MODULE:FUNCTION; calls the function with the prompt's text.",
        kind="callable",
    ),
)
"""The providers that need nothing installed."""
