"""Requests under way of callers whose token can be revoked, so that they can be ended with it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from showcaller.actors.contract.errors import Code, Refusal

MOST_OF_ONE: Final = 256
"""Requests under way of one conversation: as many as a bridge carries."""
MOST_TOGETHER: Final = 384
"""Those of all conversations; what is left of the door's places is for the owner, to stop them."""


class ShutOut(Exception):
    """A request is ended because its caller is let in no more; ``refusal`` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


class OpenRequests:
    """The tasks of requests by the conversation of their caller. Used on one asyncio loop."""

    def __init__(self) -> None:
        self._tasks: dict[str, set[asyncio.Task[object]]] = {}
        self._ended: dict[asyncio.Task[object], Refusal] = {}

    def admit(self, session: str | None) -> None:
        """Refuse one request too many of a conversation, or of all together; raises ``Refusal``.

        None is the owner, or nobody known, whom no other may lock out.
        """
        if session is None:
            return
        if len(self._tasks.get(session, ())) >= MOST_OF_ONE:
            raise _too_many(f"{MOST_OF_ONE} requests with this token")
        if sum(map(len, self._tasks.values())) >= MOST_TOGETHER:
            raise _too_many(f"{MOST_TOGETHER} requests of agents and clients")

    @asynccontextmanager
    async def hold(self, session: str | None) -> AsyncGenerator[None]:
        """Hold for the length of a request of this conversation; raises ``ShutOut`` when it is ended.

        None is the owner, or nobody known: such a request is never ended.
        """
        task = asyncio.current_task()
        if session is None or task is None:
            yield
            return
        tasks = self._tasks.setdefault(session, set())
        tasks.add(task)
        try:
            yield
        except asyncio.CancelledError:
            refusal = self._ended.get(task)
            if refusal is None or task.uncancel():
                raise  # somebody else has cancelled it, too
            raise ShutOut(refusal) from None
        finally:
            self._ended.pop(task, None)
            tasks.discard(task)
            if not tasks and self._tasks.get(session) is tasks:
                del self._tasks[session]

    def end(self, session: str | None, refusal: Refusal) -> None:
        """End all requests of a conversation."""
        for task in list(self._tasks.get(session or "", ())):
            self._ended[task] = refusal
            task.cancel()


def _too_many(what: str) -> Refusal:
    error = f"{what} are under way, and no more are taken: wait for an answer."
    return Refusal(Code.RATE_LIMITED, error, retry_after_seconds=1)
