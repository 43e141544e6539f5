"""Whoever is slow, or one too many, harms nobody else."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from showcaller.actors.contract.errors import Refusal
from showcaller.transport.doors.http import lingering, server
from showcaller.transport.doors.http.access import check_protocol
from showcaller.transport.doors.http.bodies import UnreadBody, read_body, read_object
from showcaller.transport.doors.http.replies import refusal_reply
from showcaller.transport.doors.http.server import Connection, HttpServer, bind

Port = int
LIMIT = 20.0


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    try:
        body = await read_body(Request(scope, receive), 1000)
    except UnreadBody as refusal:
        await refusal_reply(refusal)(scope, receive, send)
        return
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]}
    )
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
async def port() -> AsyncIterator[Port]:
    bound = bind(0)
    serving = HttpServer(echo, bound)
    await serving.start()
    yield bound.getsockname()[1]
    await serving.close(0)


@asynccontextmanager
async def connected(port: Port) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(LIMIT):
            yield reader, writer
    finally:
        writer.close()


async def rest(reader: asyncio.StreamReader) -> bytes:
    """Give all that comes until the other end closes, or cuts the connection."""
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


async def ask(port: Port, sent: bytes = b"") -> bytes:
    """Send something, and give all that comes back."""
    async with connected(port) as (reader, writer):
        writer.write(sent)
        return await rest(reader)


async def test_a_head_that_does_not_come_is_given_up(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "seconds", 0.05)
    assert await ask(port, b"POST / HTTP/1.1\r\nhost: a\r\n") == b""
    assert await ask(port) == b""


async def test_a_next_head_that_does_not_come_is_given_up_too(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection, "seconds", 0.05)
    async with connected(port) as (reader, writer):
        writer.write(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhiPOST")
        assert (await reader.readuntil(b"hi")).startswith(b"HTTP/1.1 200")
        assert await rest(reader) == b""


async def test_one_connection_too_many_is_refused_and_the_others_go_on(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 1)
    async with connected(port) as (reader, writer):
        writer.write(b"POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        assert await ask(port) == b""
        writer.write(b"hi")
        assert await reader.readuntil(b"hi")


HI = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi"


async def test_where_all_places_are_taken_who_is_silent_for_longest_makes_place(
    port: Port, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 2)
    async with connected(port) as (idle, asks), connected(port) as (silent, _):
        asks.write(HI)
        await idle.readuntil(b"hi")  # its silence begins after the other's
        async with connected(port) as (reader, writer):
            writer.write(HI)
            assert await reader.readuntil(b"hi")
            assert await rest(silent) == b""
            asks.write(HI)
            assert await idle.readuntil(b"hi")
            for _ in range(3):
                async with connected(port) as (newer, writes):
                    writes.write(HI)
                    assert await newer.readuntil(b"hi")
    assert [record.message for record in caplog.records if "places" in record.message] == [
        "All 2 places for connections are taken: those silent for longest are ended for new ones"
    ]


@pytest.mark.parametrize("protocol", [b"websocket", b"h2c"])
async def test_another_protocol_that_is_offered_is_not_logged(
    port: Port, protocol: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(port) as (reader, writer):
        writer.write(HI.replace(b"\r\n\r\n", b"\r\nconnection: upgrade\r\nupgrade: %s\r\n\r\n" % protocol))
        assert (await reader.readuntil(b"hi")).startswith(b"HTTP/1.1 200")
    assert not [record for record in caplog.records if record.name.startswith("uvicorn")]


def test_a_websocket_is_refused_in_our_own_words() -> None:
    check_protocol([(b"upgrade", b"h2c")])
    with pytest.raises(Refusal, match="speaks no WebSocket"):
        check_protocol([(b"connection", b"Upgrade"), (b"upgrade", b"WebSocket")])


async def test_nonsense_is_answered_and_its_connection_closed(port: Port) -> None:
    head, _, body = (await ask(port, b"\0\0\0\r\n\r\n")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body)["code"] == "REMOTE_RELAY_INVALID_INPUT"


def huge(given: str) -> bytes:
    """A request that is refused while most of it is still to come."""
    head = "\0nonsense\r\n\r\n" if given == "nonsense" else "POST / HTTP/1.1\r\nhost: a\r\n"
    return (
        head.encode()
        + {
            "nonsense": b"",
            "announced": b"content-length: 4000000\r\n\r\n",
            "as it comes": b"transfer-encoding: chunked\r\n\r\n3d0900\r\n" + b"x" * 100_000,
        }[given]
    )


@pytest.mark.parametrize("given", ["announced", "as it comes", "nonsense"])
async def test_who_still_sends_can_read_the_refusal_nevertheless(port: Port, given: str) -> None:
    async with connected(port) as (reader, writer):
        writer.write(huge(given))
        head = await reader.readuntil(b"\r\n")
        for _ in range(30):
            writer.write(b"x" * 100_000)
            await writer.drain()
        assert b"400" in head
        assert b"INVALID_INPUT" in await reader.read()


async def send_for_ever(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"x" * 100_000)
        await writer.drain()


async def test_who_sends_for_ever_after_a_refusal_is_cut(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lingering, "LINGER_SECONDS", 0.05)
    async with connected(port) as (_, writer):
        writer.write(huge("announced"))
        with pytest.raises(ConnectionError):
            await send_for_ever(writer)


async def test_closing_cuts_what_does_not_end_in_time() -> None:
    bound = bind(0)
    begun = asyncio.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        await asyncio.Event().wait()

    serving = HttpServer(endless, bound)
    await serving.start()
    async with connected(bound.getsockname()[1]) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        await begun.wait()
        await serving.close(0.01)
        assert b" 200 " not in await rest(reader)


def request(*messages: Message, length: int | None = None) -> Request:
    """A request whose body comes in these messages, and then nothing more."""
    waiting = list(messages)

    async def receive() -> Message:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop(0)

    headers = [] if length is None else [(b"content-length", b"%d" % length)]
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


def part(body: bytes, *, more: bool = True) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


async def test_a_slow_body_is_given_up() -> None:
    with pytest.raises(UnreadBody, match="did not arrive"):
        await read_body(request(part(b"{")), 10, seconds=0.01)


@pytest.mark.parametrize(
    "sent",
    [request(part(b"x" * 6), part(b"x" * 6)), request(length=11), request(length=10**30)],
    ids=["as it comes", "announced", "absurd"],
)
async def test_a_long_body_is_not_read(sent: Request) -> None:
    with pytest.raises(UnreadBody, match="longer than the 10 bytes"):
        await read_body(sent, 10)


async def test_no_body_is_an_empty_object_and_another_value_is_refused() -> None:
    assert await read_object(request(part(b"", more=False)), 10) == {}
    with pytest.raises(Refusal, match="JSON object"):
        await read_object(request(part(b"[]", more=False)), 10)


def test_an_answer_in_two_packets_does_not_wait_for_an_acknowledgement() -> None:
    """asyncio sets TCP_NODELAY on the connections of sockets that say that they are TCP."""
    with bind(0) as bound:
        assert bound.proto == socket.IPPROTO_TCP
