"""The agent at the other end of a connection: requests to it, and what it asks and tells us."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from acp.connection import Connection
from acp.exceptions import RequestError
from pydantic import BaseModel, ValidationError

from showcaller.transport.worker.acp.stream import AgentStream

MOST_REQUESTS: Final = 64
"""Requests of an agent that may be open at once."""

Asked = Callable[[str, dict[str, Any]], Awaitable[Any]]
Told = Callable[[str, dict[str, Any]], None]
T = TypeVar("T", bound=BaseModel)

log = logging.getLogger("showcaller.worker")


class StrangeAnswerError(Exception):
    """The agent has answered something that the protocol does not know; the text says what."""


class AgentPeer:
    """Speaks JSON-RPC with an agent; ``asked`` answers its requests, and ``told`` gets its notifications.

    What it says amiss costs it an error or nothing, and never the connection.
    """

    def __init__(self, stream: AgentStream, asked: Asked, told: Told) -> None:
        self._asked = asked
        self._told = told
        self._open = 0
        self._connection = Connection(self._take, stream)

    async def request(self, method: str, params: BaseModel, answer: type[T]) -> T:
        """Ask the agent for something.

        Raises RequestError for its error, ConnectionError when it has gone or hung up, StrangeAnswerError.
        """
        result = await self._connection.send_request(method, _plain(params))
        try:
            return answer.model_validate({} if result is None else result)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = ".".join(str(step) for step in problem["loc"]) or "the answer"
            raise StrangeAnswerError(
                f"the agent has answered {method} with something unknown: {place}: {problem['msg']}"
            ) from error

    async def notify(self, method: str, params: BaseModel) -> None:
        """Tell the agent something; raises ConnectionError when it has gone or hung up."""
        await self._connection.send_notification(method, _plain(params))

    async def close(self) -> None:
        """End what the agent still waits for, and hang up."""
        await self._connection.close()

    async def _take(self, method: str, params: Any, is_notification: bool) -> Any:
        if is_notification:
            self._tell(method, params)
            return None
        if self._open >= MOST_REQUESTS:
            raise RequestError.internal_error({"details": f"{MOST_REQUESTS} requests are open already"})
        self._open += 1
        try:
            return await self._asked(method, params)
        finally:
            self._open -= 1

    def _tell(self, method: str, params: dict[str, Any]) -> None:
        try:
            self._told(method, params)
        except ValidationError as error:
            log.debug("An agent has told something that the protocol does not know: %s: %s", method, error)


def _plain(params: BaseModel) -> Any:
    return params.model_dump(mode="json", by_alias=True, exclude_none=True)
