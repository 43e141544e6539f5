"""The first words with an agent, and what it means for a turn when they lead to nothing."""

from typing import Final, NamedTuple

from acp import schema
from acp.exceptions import RequestError
from acp.meta import AGENT_METHODS, PROTOCOL_VERSION

from showcaller._version import VERSION
from showcaller.actors.contract.agent_messages import AgentSpec
from showcaller.transport.worker.acp.ends import TurnResult, end_of_error
from showcaller.transport.worker.acp.opening import NotOpenedError
from showcaller.transport.worker.acp.peer import AgentPeer, StrangeAnswerError

CAPABILITIES: Final = schema.ClientCapabilities(
    fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True),
    terminal=True,
    elicitation=schema.ElicitationCapabilities(
        form=schema.ElicitationFormCapabilities(), url=schema.ElicitationUrlCapabilities()
    ),
)
"""What an agent may ask of us."""


class StartError(Exception):
    """An agent could not be started, or its conversation not be opened; ``result`` is the turn's.

    ``counts``: it is one of the ends after which the next start has to wait.
    """

    def __init__(self, result: TurnResult, *, counts: bool = True) -> None:
        super().__init__(result.error_text)
        self.result = result
        self.counts = counts


class Hello(NamedTuple):
    """What an agent says of itself; ``ways_in`` is a sentence on how somebody signs in to it, or empty."""

    version: str | None
    capabilities: schema.AgentCapabilities
    ways_in: str

    @property
    def takes_http(self) -> bool:
        """Whether it takes MCP servers by their address."""
        return bool(self.capabilities.mcp_capabilities and self.capabilities.mcp_capabilities.http)


async def greet(peer: AgentPeer) -> Hello:
    """Say hello; raises as ``AgentPeer.request`` does."""
    request = schema.InitializeRequest(
        protocol_version=PROTOCOL_VERSION,
        client_capabilities=CAPABILITIES,
        client_info=schema.Implementation(name="showcaller", title="Showcaller", version=VERSION),
    )
    answer = await peer.request(AGENT_METHODS["initialize"], request, schema.InitializeResponse)
    named = [
        f"{method.name} ({method.description})" if method.description else method.name
        for method in answer.auth_methods or ()
    ]
    return Hello(
        answer.agent_info.version if answer.agent_info else None,
        answer.agent_capabilities or schema.AgentCapabilities(),
        f" It offers: {'; '.join(named)}." if named else "",
    )


def start_error(
    spec: AgentSpec, error: Exception, *, seconds: float, ways_in: str, last_words: str
) -> StartError:
    """Give what a start that has led to nothing means: the words say what to do. Pure.

    ``error`` is a TimeoutError, a NotOpenedError, or what ``AgentPeer.request`` raises but a ConnectionError.
    """
    behind = f"; it wrote last: {last_words}" if last_words else ""
    if isinstance(error, RequestError):
        result = end_of_error(error.code, str(error), error.data, "")
        if result.error_class == "auth":
            told = (
                f"{spec.label}: {result.error_text}. Sign in with the agent's own program, then prompt again."
            )
            return StartError(result._replace(error_text=f"{told}{ways_in}"), counts=False)
        told = f"{spec.label} could not open a conversation: {result.error_text}{behind}"
        return StartError(result._replace(error_text=told))
    if isinstance(error, NotOpenedError):
        told = str(error)
    elif isinstance(error, StrangeAnswerError):
        told = f"{spec.label}: {error}{behind}"
    else:
        told = f"{spec.label} had not opened a conversation within {seconds:g} s, and was ended{behind}"
    return StartError(TurnResult("end", told, "other"))
