"""Server-sent events: the log as it grows, read from the store at each reader's own pace."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from showcaller.actors.contract.outside import Events, Monitor
from showcaller.transport.doors.http.replies import HEADERS, json_bytes
from showcaller.transport.doors.http.server import CUT
from showcaller.transport.doors.local import LocalDoor

logger = logging.getLogger("showcaller.http")

MOST_STREAMS: Final = 64
"""Streams that are open at a time."""
FOR_THE_OWNER: Final = 16
"""Those of them that nobody else may take."""
HEARTBEAT_SECONDS: Final = 20.0
STALLED_SECONDS: Final = 120.0
"""Seconds after which a reader that takes nothing loses its connection; it comes back where it was."""
PAGE: Final = 100


class EventStream(StreamingResponse):
    """Events after a cursor, and then each as it happens.

    Nothing is kept for a reader but its cursor: a page is read when the one before has been taken.
    """

    def __init__(
        self,
        door: LocalDoor,
        since: int,
        open_ones: "set[EventStream]",
        heartbeat: float = HEARTBEAT_SECONDS,
        stalled: float = STALLED_SECONDS,
    ) -> None:
        """``open_ones`` holds it from here on until it has ended."""
        super().__init__(event_lines(door, since, heartbeat), 200, HEADERS, "text/event-stream")
        open_ones.add(self)
        self._open_ones = open_ones
        self._stalled = stalled

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the reader goes, stops reading, or the relay ends."""
        stalled = False

        async def send_in_time(message: Message) -> None:
            nonlocal stalled
            try:
                async with asyncio.timeout(self._stalled):
                    await send(message)
            except TimeoutError:
                stalled = True
                raise

        try:
            await super().__call__(scope, receive, send_in_time)
        except Exception:
            if not stalled:
                raise
            await self._cut(scope, receive)
        finally:
            self._open_ones.discard(self)

    async def _cut(self, scope: Scope, receive: Receive) -> None:
        """Cut the connection: to close it would wait until the reader has taken what is on its way."""
        logger.info("A reader of events has taken nothing for %d s: its connection is cut", self._stalled)
        scope["state"][CUT]()
        while (await receive())["type"] != "http.disconnect":
            pass


async def event_lines(door: LocalDoor, since: int, heartbeat: float) -> AsyncIterator[bytes]:
    """Give the lines of a stream: events with their cursors, gaps, and a comment when nothing happens.

    A refusal is the last event, named ``refused``, and so is the end of the relay.
    """
    yield b": events of a Showcaller relay\n\n"
    while True:
        page = await door.watch_async(Events(since=since, limit=PAGE))
        if not page["ok"]:
            yield _event("refused", None, page)
            return
        yield b"".join(_page_lines(page))
        since = page["next"]
        if page["more"]:
            continue
        news = await door.watch_async(Monitor(until=("any",), timeout=heartbeat, since=since))
        if not news["ok"]:
            yield _event("refused", None, news)
            return
        if news["timedOut"]:
            yield b": nothing happened\n\n"


def _page_lines(page: dict[str, Any]) -> list[bytes]:
    lines = [] if page["gap"] is None else [_event("gap", None, {"gap": page["gap"]})]
    return [*lines, *(_event(event["event"], event["cursor"], event) for event in page["events"])]


def _event(name: str, cursor: int | None, data: dict[str, Any]) -> bytes:
    identified = b"" if cursor is None else b"id: %d\n" % cursor
    return b"%sevent: %s\ndata: %s\n\n" % (identified, name.encode(), json_bytes(data))
