"""How a worker runs the agent of a turn, made of the catalogue's entry and of what is stored. Pure."""

from collections.abc import Iterator
from typing import Any

from showcaller.actors.contract.agent_entries import AgentEntry
from showcaller.actors.contract.agent_messages import AgentSpec, CloneSource, McpServer
from showcaller.actors.relay.turn_signals import Waiting


def agent_spec(
    entry: AgentEntry,
    session: dict[str, Any],
    message: Waiting,
    door: McpServer | None,
    folders: tuple[str, ...] = (),
    hosts: tuple[str, ...] = (),
) -> AgentSpec:
    """Give how the agent of this session is run for this message; ``door`` is the relay's own MCP server.

    ``folders`` are those that its requests for files and terminals may reach, beside its own, unless it works
    on a clone; that is of one of ``hosts``.

    A conversation that the agent has is continued or the turn fails: its name is stored only once it has been
    given a prompt.
    """
    native: str | None = session.get("agent_session_id")
    repo: str | None = session.get("repo")
    clone = None
    if repo is not None or entry.takes == "repo":
        clone = CloneSource(url=repo or "", branch=session.get("branch"), hosts=hosts)
    return AgentSpec(
        name=entry.name,
        label=entry.label,
        command=entry.command,
        environment=entry.environment,
        install=entry.install,
        mcp=entry.mcp,
        servers=(*(() if door is None else (door,)), *_owners(entry)),
        folders=folders if clone is None else (),
        clone=clone,
        model=message.model or session.get("model"),
        mode=message.mode or session["mode"],
        effort=message.effort or session.get("effort"),
        resume=native,
        resume_required=native is not None,
        loads=entry.loads,
        resumes=entry.resumes,
        model_option=entry.model_option,
        session_meta=entry.session_meta,
        kill_grace=entry.kill_grace,
    )


def _owners(entry: AgentEntry) -> Iterator[McpServer]:
    """Give the MCP servers that the owner has named for this agent; none of them gets the agent's token."""
    for name, server in entry.mcp_servers.items():
        yield McpServer(name=name, **server.model_dump())
