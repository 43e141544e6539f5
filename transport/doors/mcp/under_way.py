"""The requests under way, so that a message that comes by another way can end the waiting of one."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NamedTuple

from showcaller.actors.relay.calls import Caller
from showcaller.transport.doors.mcp.messages import RequestId


class RequestKey(NamedTuple):
    """Which request: ids are a connection's own, and nobody but its caller may name one of it."""

    caller: Caller
    connection: str
    request: RequestId


class UnderWay:
    """What ends the waiting of each request; used on one asyncio loop alone."""

    def __init__(self) -> None:
        self._ends: dict[RequestKey, Callable[[], object]] = {}

    @contextmanager
    def entered(self, key: RequestKey | None, end: Callable[[], object]) -> Generator[None]:
        """Let a request be ended by its key for the length of a ``with``; without a key it cannot be.

        Of two of the same key the later one is meant.
        """
        if key is None:
            yield
            return
        self._ends[key] = end
        try:
            yield
        finally:
            if self._ends.get(key) is end:
                del self._ends[key]

    def end(self, key: RequestKey) -> bool:
        """End the waiting of a request; False when there is none of that key, or no more."""
        end = self._ends.get(key)
        if end is not None:
            end()
        return end is not None

    def __len__(self) -> int:
        return len(self._ends)
