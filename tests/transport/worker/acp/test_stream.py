"""Messages in two pipes: whole, in order, within bounds, and an end for whoever waits."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest

from showcaller.transport.worker.acp.stream import AgentStream

LIMIT = 20.0


class Pipes(NamedTuple):
    """A stream, and the agent's ends of its pipes."""

    stream: AgentStream
    agent_writes: int
    agent_reads: int


@pytest.fixture
async def pipes() -> AsyncIterator[Pipes]:
    output, agent_writes = os.pipe()
    agent_reads, given = os.pipe()
    opened = Pipes(AgentStream(output, given, 1_000_000), agent_writes, agent_reads)
    yield opened
    opened.stream.hang_up()
    os.close(agent_writes)
    os.close(agent_reads)


async def test_messages_arrive_whole_whatever_the_pipe_makes_of_them(pipes: Pipes) -> None:
    told = b'{"method": "a", "params": {"text": "\xc3\xa4"}}\n'
    for byte in told + told:
        os.write(pipes.agent_writes, bytes([byte]))
        await asyncio.sleep(0)
    async with asyncio.timeout(LIMIT):
        for _ in range(2):
            assert await pipes.stream.receive() == {"method": "a", "params": {"text": "ä"}}


async def test_what_waits_to_be_read_is_bounded(pipes: Pipes) -> None:
    await pipes.stream.send({"small": 1})
    with pytest.raises(ConnectionError, match="has not read"):
        await pipes.stream.send({"large": "x" * 2_000_000})
    assert "has not read" in str(pipes.stream.fault)
    with pytest.raises(ConnectionError):
        await pipes.stream.send({"small": 2})
    async with asyncio.timeout(LIMIT):
        assert await pipes.stream.receive() is None


async def test_what_is_sent_comes_out_in_order_as_the_agent_reads(pipes: Pipes) -> None:
    for number in range(20):
        await pipes.stream.send({"id": number, "text": "x" * 10_000})
    read = b""
    async with asyncio.timeout(LIMIT):
        while read.count(b"\n") < 20:
            read += await asyncio.to_thread(os.read, pipes.agent_reads, 100_000)
    assert [json.loads(line)["id"] for line in read.splitlines()] == list(range(20))


async def test_who_waits_is_told_that_nothing_more_comes(pipes: Pipes) -> None:
    waiting = asyncio.ensure_future(pipes.stream.receive())
    await asyncio.sleep(0)
    pipes.stream.hang_up()
    async with asyncio.timeout(LIMIT):
        assert await waiting is None
    assert pipes.stream.ended.done()
