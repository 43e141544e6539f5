"""A line to another process: all that is sent arrives, and an end is told once."""

import asyncio
import socket
from collections.abc import Iterator

import pytest

from showcaller.transport.worker.line import Line

LIMIT = 10.0


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, its = socket.socketpair()
    yield ours, its
    ours.close()
    its.close()


def read_all(other: socket.socket, size: int) -> bytes:
    with other.makefile("rb") as file:
        return file.read(size)


async def test_more_than_the_system_holds_arrives_in_order_behind_what_waits(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    line = Line(pair[0], lambda _: None)
    pieces = [bytes([number]) * 1_000_000 for number in range(8)]
    for piece in pieces:
        line.send(piece)
    got = await asyncio.wait_for(asyncio.to_thread(read_all, pair[1], 8_000_000), LIMIT)
    assert got == b"".join(pieces)
    line.close()


async def test_what_comes_before_the_end_is_heard_and_the_end_told(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    heard = bytearray()
    line = Line(pair[0], heard.extend)
    pair[1].sendall(b"last words")
    pair[1].close()
    await asyncio.wait_for(line.hung_up, LIMIT)
    assert heard == b"last words"
    line.send(b"to nobody")
    line.close()
    line.close()


async def test_a_line_that_is_closed_with_something_unsent_tells_its_end_and_leaves_no_watcher(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    line = Line(pair[0], lambda _: None)
    line.send(bytes(8_000_000))
    line.close()
    await asyncio.wait_for(line.hung_up, LIMIT)
    line.send(b"dropped")
    assert len(await asyncio.to_thread(read_all, pair[1], 8_000_000)) < 8_000_000
