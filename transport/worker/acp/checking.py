"""Seeing whether an agent works: its process is started, a conversation opened, and nothing prompted."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from acp import schema
from acp.exceptions import RequestError

from showcaller.actors.contract.agent_entries import AgentEntry
from showcaller.actors.contract.agent_messages import AgentSpec
from showcaller.actors.contract.handshakes import Handshake
from showcaller.transport.worker.acp.agent_process import AgentNotStartedError, AgentProcess
from showcaller.transport.worker.acp.ends import TurnResult
from showcaller.transport.worker.acp.handshake import Hello, StartError, greet, start_error
from showcaller.transport.worker.acp.opening import NotOpenedError, Opened, open_conversation
from showcaller.transport.worker.acp.options import Choice, offer_of
from showcaller.transport.worker.acp.peer import AgentPeer, StrangeAnswerError
from showcaller.transport.worker.acp.stream import LINE_LIMIT

SECONDS: Final = 180.0


async def check_agent(
    agent: AgentEntry, folder: str, around: Mapping[str, str], at: int, seconds: float = SECONDS
) -> Handshake:
    """Start an agent in a folder, open a conversation there, and end it; gives what it has told.

    ``around`` is the environment, and ``at`` the time that is noted. Raises StartError, whose text says what
    to do.
    """
    spec = _spec(agent)
    try:
        process = AgentProcess(spec, folder, around, {}, set(), _nothing, LINE_LIMIT)
    except AgentNotStartedError as error:
        raise StartError(TurnResult("end", str(error), "other")) from error
    peer = AgentPeer(process.stream, _refused, _unheard)
    try:
        hello, opened = await _met(peer, process, spec, folder, seconds)
    finally:
        process.kill()
        await process.buried()
        await peer.close()
    return _handshake(agent, hello, opened, at)


async def _met(
    peer: AgentPeer, process: AgentProcess, spec: AgentSpec, folder: str, seconds: float
) -> tuple[Hello, Opened]:
    ways_in = ""
    try:
        async with asyncio.timeout(seconds):
            hello = await greet(peer)
            ways_in = hello.ways_in
            opened = await open_conversation(
                peer, spec, hello.capabilities, folder, (), None, required=False, told_again=lambda: 0
            )
    except ConnectionError as error:
        await process.buried()
        told = f"{spec.label} {process.how_it_ended()} before it had opened a conversation"
        words = process.last_words()
        behind = f"; it wrote last: {words}" if words else ""
        raise StartError(TurnResult("died", f"{told}{behind}", "other")) from error
    except (TimeoutError, NotOpenedError, RequestError, StrangeAnswerError) as error:
        words = process.last_words()
        raise start_error(spec, error, seconds=seconds, ways_in=ways_in, last_words=words) from error
    return hello, opened


def _handshake(agent: AgentEntry, hello: Hello, opened: Opened, at: int) -> Handshake:
    offer = offer_of(opened.modes, opened.options, agent.model_option)
    sessions = hello.capabilities.session_capabilities or schema.SessionCapabilities()
    return Handshake(
        command=agent.command,
        version=(hello.version or "")[:200],
        models=_values(offer.model),
        modes=_values(offer.modes),
        efforts=_values(offer.effort),
        loads=bool(hello.capabilities.load_session),
        resumes=sessions.resume is not None,
        http=hello.takes_http,
        at=at,
    )


def _values(choice: Choice | None) -> tuple[str, ...]:
    return () if choice is None else tuple(value[:200] for value in choice.values[:1_000])


def _spec(agent: AgentEntry) -> AgentSpec:
    return AgentSpec(
        name=agent.name,
        label=agent.label,
        command=agent.command,
        environment=agent.environment,
        install=agent.install,
    )


async def _refused(method: str, params: dict[str, Any]) -> Any:
    del params
    raise RequestError.method_not_found(method)


def _unheard(method: str, params: dict[str, Any]) -> None:
    del method, params


def _nothing() -> None:
    """Do nothing: its end is awaited."""
