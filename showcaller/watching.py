"""How a Python program watches a relay that it has opened: a part of ``Relay``."""

from collections.abc import Sequence
from typing import Any

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.outside import Events, Monitor, Output, OutsideRequest, Until, read_request
from showcaller.transport.doors.local import LocalDoor


class Watching:
    """What a relay tells of what happens in its sessions."""

    _door: LocalDoor

    def monitor(
        self,
        sessions: Sequence[str] | None = None,
        *,
        until: Sequence[Until] = ("turn-end", "awaiting-input", "exited"),
        timeout: float = 120,
        since: int | None = None,
        reconnect: float = 0,
    ) -> dict[str, Any]:
        """Wait until something happens in sessions; gives all that fired and all that is still pending. ::

            seen = relay.monitor([session], until=["turn-end"], timeout=600)
            again = relay.monitor([session], until=["turn-end"], since=seen["next"])

        Args:
            sessions: their ids; None for all there are and will be.
            until: what to wait for; ``any`` is whatever happens.
            timeout: seconds, 0 to look without waiting.
            since: the cursor ``next`` of the answer before. Without it only what happens from now on fires,
                and named sessions are told at once that are idle already, under ``alreadyIdle``, or wait for
                an answer, under ``alreadyWaiting``.
            reconnect: of no use here; a relay in a process of its own may go and come back.

        Returns:
            A result as of ``call``: ``fired``, ``pending``, ``alreadyIdle``, ``alreadyWaiting``, ``next``,
            ``gap`` (the log was cut up to there), ``more`` and ``timedOut``.

        """
        del reconnect
        return self._watch(Monitor, **_monitored(sessions, until, timeout, since))

    async def monitor_async(
        self,
        sessions: Sequence[str] | None = None,
        *,
        until: Sequence[Until] = ("turn-end", "awaiting-input", "exited"),
        timeout: float = 120,  # noqa: ASYNC109 - it is the relay's to keep
        since: int | None = None,
    ) -> dict[str, Any]:
        """Wait as ``monitor`` does, without blocking the running asyncio loop."""
        return await self._watch_async(Monitor, **_monitored(sessions, until, timeout, since))

    def events(self, since: int = 0, limit: int = 100) -> dict[str, Any]:
        """Read the log of events after a cursor, without waiting.

        Gives a result as ``call`` does, with ``events``, ``next``, ``gap`` and ``more`` as in ``monitor``.
        """
        return self._watch(Events, since=since, limit=limit)

    async def events_async(self, since: int = 0, limit: int = 100) -> dict[str, Any]:
        """Read the log as ``events`` does, without blocking the running asyncio loop."""
        return await self._watch_async(Events, since=since, limit=limit)

    def output(
        self, session: str, *, since: str | None = None, last: int | None = None, wait: float = 0
    ) -> dict[str, Any]:
        """Read the lines that a session's agent has written: those after a cursor, or the last 50.

        Gives a result as ``call`` does, with ``lines`` (each a ``text``), the cursor ``next``, ``more`` and
        ``cut``; ``wait`` are the seconds to wait for a line when there is none.
        """
        return self._watch(Output, session=session, since=since, last=last, wait=wait)

    async def output_async(
        self, session: str, *, since: str | None = None, last: int | None = None, wait: float = 0
    ) -> dict[str, Any]:
        """Read lines as ``output`` does, without blocking the running asyncio loop."""
        return await self._watch_async(Output, session=session, since=since, last=last, wait=wait)

    def _watch(self, model: type[OutsideRequest], **asked: Any) -> dict[str, Any]:
        try:
            return self._door.watch(read_request(model, asked))
        except Refusal as refusal:
            return refusal.to_result()

    async def _watch_async(self, model: type[OutsideRequest], **asked: Any) -> dict[str, Any]:
        try:
            return await self._door.watch_async(read_request(model, asked))
        except Refusal as refusal:
            return refusal.to_result()


def _monitored(
    sessions: Sequence[str] | None, until: Sequence[Until], timeout: float, since: int | None
) -> dict[str, Any]:
    named = sessions if sessions is None or isinstance(sessions, str) else list(sessions)
    words = until if isinstance(until, str) else list(until)
    return {"sessions": named, "until": words, "timeout": timeout, "since": since}
