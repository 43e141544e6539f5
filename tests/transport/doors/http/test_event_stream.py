"""A stream of events to a reader that is slow, or to whom nothing happens."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from showcaller.actors.contract.outside import Events, Monitor
from showcaller.transport.doors.http.event_stream import HEARTBEAT_SECONDS, EventStream, event_lines
from showcaller.transport.doors.http.server import HttpServer, bind

LIMIT = 30.0
EVENT = {"event": "turn_end", "session": "ses_a", "text": "x" * 1_000}


class FakeDoor:
    """A log in which nothing is, or that never ends."""

    def __init__(self, *, endless: bool) -> None:
        self.endless = endless
        self.waited: list[float] = []

    async def watch_async(self, asked: Events | Monitor) -> dict[str, Any]:
        """Give a page, or say that nothing has happened in the time that was asked for."""
        if isinstance(asked, Monitor):
            self.waited.append(asked.timeout)
            return {"ok": True, "timedOut": True}
        first = asked.since + 1
        events = [{**EVENT, "cursor": first + number} for number in range(100 if self.endless else 0)]
        return {
            "ok": True,
            "gap": None,
            "events": events,
            "next": asked.since + len(events),
            "more": self.endless,
        }


class Streams:
    """A server whose every answer is a stream; ``open_ones`` are those that go on."""

    def __init__(self, door: FakeDoor, stalled: float) -> None:
        self.open_ones: set[EventStream] = set()
        self._door = door
        self._stalled = stalled

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = EventStream(self._door, 0, self.open_ones, stalled=self._stalled)  # type: ignore[arg-type]
        await stream(scope, receive, send)


@asynccontextmanager
async def opened(streams: Streams) -> AsyncGenerator[tuple[HttpServer, asyncio.StreamReader]]:
    """Have a reader ask for a stream, and read the head of the answer."""
    bound = bind(0)
    serving = HttpServer(streams, bound)
    await serving.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", bound.getsockname()[1], limit=1024)
    try:
        async with asyncio.timeout(LIMIT):
            writer.write(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
            yield serving, reader
    finally:
        writer.close()
        await serving.close(0)


async def test_a_reader_that_takes_nothing_loses_its_connection(caplog: pytest.LogCaptureFixture) -> None:
    streams = Streams(FakeDoor(endless=True), stalled=0.05)
    async with opened(streams) as (serving, _):
        await serving.all_lost()
        assert streams.open_ones == set()
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_reader_that_takes_what_comes_keeps_its_connection() -> None:
    streams = Streams(FakeDoor(endless=True), stalled=LIMIT)
    async with opened(streams) as (_, reader):
        for _ in range(20):
            assert len(await reader.readexactly(100_000)) == 100_000
        assert len(streams.open_ones) == 1


async def test_a_reader_to_whom_nothing_happens_hears_that_every_20_seconds() -> None:
    door = FakeDoor(endless=False)
    lines = event_lines(door, 0, HEARTBEAT_SECONDS)  # type: ignore[arg-type]
    told = [await anext(lines) for _ in range(7)]
    await lines.aclose()  # type: ignore[attr-defined]
    assert [line for line in told if line] == [
        b": events of a Showcaller relay\n\n",
        *[b": nothing happened\n\n"] * 3,
    ]
    assert door.waited == [20.0, 20.0, 20.0]
