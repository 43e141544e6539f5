"""Opening an agent's conversation: a new one, or one that it had, which is then no other and no blank one."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from acp import schema
from acp.exceptions import RequestError
from acp.meta import AGENT_METHODS

from showcaller.actors.contract.agent_messages import AgentSpec, ResumedVia
from showcaller.transport.worker.acp.ends import AUTH_REQUIRED, error_words
from showcaller.transport.worker.acp.peer import AgentPeer
from showcaller.transport.worker.acp.servers import Server

PAGES: Final = 50
"""Pages of an agent's list of conversations that are looked through."""


class NotOpenedError(Exception):
    """A conversation cannot be continued; the text says why."""


class Opened(NamedTuple):
    """An open conversation, how it was opened, and what the agent offers in it."""

    native: str
    via: ResumedVia
    modes: schema.SessionModeState | None
    options: list[Any] | None


async def open_conversation(
    peer: AgentPeer,
    spec: AgentSpec,
    capabilities: schema.AgentCapabilities,
    cwd: str,
    servers: Sequence[Server],
    resume: str | None,
    *,
    required: bool,
    told_again: Callable[[], int],
) -> Opened:
    """Continue the conversation ``resume`` by the best way that there is, or begin one if that is allowed.

    ``told_again`` counts what the agent has told of it again. Raises NotOpenedError for one that is
    ``required`` and cannot be continued, RequestError for what the agent answers else.
    """
    if resume is None:
        return await _new(peer, spec, cwd, servers)
    try:
        return await _continued(peer, spec, capabilities, cwd, list(servers), resume, told_again)
    except (RequestError, NotOpenedError) as error:
        if isinstance(error, RequestError) and error.code == AUTH_REQUIRED:
            raise
        if not required:
            return await _new(peer, spec, cwd, servers)
        why = error_words(str(error), error.data) if isinstance(error, RequestError) else str(error)
        raise NotOpenedError(
            f"{spec.label} cannot continue its conversation {resume}: {why}. Nothing was begun anew in its "
            "place; for a new conversation start a new session"
        ) from error


async def _new(peer: AgentPeer, spec: AgentSpec, cwd: str, servers: Sequence[Server]) -> Opened:
    meta = spec.session_meta or None
    request = schema.NewSessionRequest(cwd=cwd, mcp_servers=list(servers), field_meta=meta)
    answer = await peer.request(AGENT_METHODS["session_new"], request, schema.NewSessionResponse)
    return Opened(answer.session_id, "new", answer.modes, answer.config_options)


async def _continued(
    peer: AgentPeer,
    spec: AgentSpec,
    capabilities: schema.AgentCapabilities,
    cwd: str,
    servers: list[Server],
    native: str,
    told_again: Callable[[], int],
) -> Opened:
    sessions = capabilities.session_capabilities or schema.SessionCapabilities()
    meta = spec.session_meta or None
    may_load = spec.loads and bool(capabilities.load_session)
    if spec.resumes and sessions.resume is not None:
        is_known = sessions.list is None or await _is_listed(peer, native, cwd)
        if is_known or not may_load:
            if not is_known:
                raise NotOpenedError("it is not among the conversations that the agent lists")
            request = schema.ResumeSessionRequest(
                cwd=cwd, mcp_servers=servers, session_id=native, field_meta=meta
            )
            method = AGENT_METHODS["session_resume"]
            resumed = await peer.request(method, request, schema.ResumeSessionResponse)
            return Opened(native, "resume", resumed.modes, resumed.config_options)
    if not may_load:
        raise NotOpenedError("it has no way to do so after its process has ended")
    load = schema.LoadSessionRequest(cwd=cwd, mcp_servers=servers, session_id=native, field_meta=meta)
    loaded = await peer.request(AGENT_METHODS["session_load"], load, schema.LoadSessionResponse)
    if not told_again():
        raise NotOpenedError("what it has loaded under that name holds no message")
    return Opened(native, "load", loaded.modes, loaded.config_options)


async def _is_listed(peer: AgentPeer, native: str, cwd: str) -> bool:
    """Tell whether the agent lists a conversation; one that has too many to look through counts as yes."""
    cursor: str | None = None
    for _ in range(PAGES):
        request = schema.ListSessionsRequest(cwd=cwd, cursor=cursor)
        page = await peer.request(AGENT_METHODS["session_list"], request, schema.ListSessionsResponse)
        if any(session.session_id == native for session in page.sessions):
            return True
        cursor = page.next_cursor
        if not cursor:
            return False
    return True
