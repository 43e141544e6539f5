"""A worker that is cut off from its relay for an hour, of virtual time, hands over all that it has."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    RunTurn,
    StopTurn,
    TurnEnded,
    TurnOutput,
    TurnTaken,
)
from showcaller.transport.links.conversation import BATCH_BYTES, HEARTBEAT, SILENCE, News
from showcaller.transport.links.relay import RelayLink
from showcaller.transport.links.workers import WorkerLink
from showcaller.transport.worker.host import Host
from showcaller.transport.worker.journal import SpoolJournal
from showcaller.transport.worker.providers import Providers, Result, Sink
from showcaller.transport.worker.spool import Spool
from tests.transport.links.virtual import HeldMemory, Sockets, VirtualLoop, Wire

HOUR = 3600.0
MINUTE = 60.0
BATCHES = 50
NOTICED = HEARTBEAT * (SILENCE + 1)


class Steady:
    """A provider whose turns write a line a minute, for as many minutes as their text says."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    async def run(self, turn: RunTurn, sink: Sink) -> Result:
        """Write; a halt ends it within the minute."""
        halted = asyncio.Event()
        sink.on_halt(halted.set)
        lines = [f"{turn.turn} {minute}\n" for minute in range(int(turn.text))]
        for line in lines:
            await self._loop.pass_by(MINUTE)
            if halted.is_set():
                return Result()
            sink.write(line)
        return Result("".join(lines))

    async def close(self) -> None:
        """Nothing to close."""


class Scene:
    """A relay's end and a whole worker, apart from its process, over one kind of link."""

    def __init__(self, loop: VirtualLoop, wire: Wire, folder: Path) -> None:
        self.loop = loop
        self.wire = wire
        self.told: list[FromWorkerMessage] = []
        self.host = Host(
            RelayLink(wire.worker_end),
            Providers({"steady": Steady(loop)}),
            journal=SpoolJournal(Spool(folder)),
        )
        self.relay = WorkerLink(wire.relay_end)
        self.relay.connect(self._deliver)

    def _deliver(self, messages: Sequence[FromWorkerMessage]) -> None:
        self.told.extend(messages)

    def run(self, turn: str, minutes: int) -> None:
        self.relay.send(
            [
                RunTurn(
                    session=f"ses_{turn}", turn=turn, provider="steady", text=str(minutes), timeout=2 * HOUR
                )
            ]
        )

    def stop(self, turn: str) -> None:
        self.relay.send([StopTurn(session=f"ses_{turn}", turn=turn)])

    def told_of(self, turn: str) -> list[FromWorkerMessage]:
        return [message for message in self.told if getattr(message, "turn", None) == turn]

    def output_of(self, turn: str) -> str:
        return "".join(message.text for message in self.told_of(turn) if isinstance(message, TurnOutput))


Play = Callable[[Callable[[Scene], Coroutine[Any, Any, None]]], None]


@pytest.fixture(params=[HeldMemory, Sockets], ids=["memory", "sockets"])
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Play:
    """Give what plays a scene on a loop of virtual time, over each kind of link."""

    def played(acts: Callable[[Scene], Awaitable[None]]) -> None:
        async def scene() -> None:
            loop = asyncio.get_running_loop()
            assert isinstance(loop, VirtualLoop)
            stage = Scene(loop, request.param(loop), tmp_path / "spool")
            await acts(stage)
            await stage.host.close()

        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(scene())

    return played


def lines(turn: str, minutes: int) -> str:
    return "".join(f"{turn} {minute}\n" for minute in range(minutes))


def test_what_turns_do_while_the_link_is_cut_is_handed_over_once_and_in_order(play: Play) -> None:
    async def acts(scene: Scene) -> None:
        scene.run("long", 90)
        scene.run("short", 20)
        await scene.loop.pass_by(10 * MINUTE + 1)
        assert scene.output_of("long") == lines("long", 10)
        scene.wire.cut()
        await scene.loop.pass_by(HOUR)
        assert scene.output_of("long") == lines("long", 10), "nothing comes through"
        scene.wire.mend()
        await scene.loop.pass_by(2 * HEARTBEAT)
        assert scene.output_of("long") == lines("long", 70)
        for turn, minutes in (("short", 20), ("long", 90)):
            if turn == "long":
                await scene.loop.pass_by(20 * MINUTE)
            told = scene.told_of(turn)
            assert [type(message) for message in told] == [TurnTaken, *[TurnOutput] * minutes, TurnEnded]
            end = told[-1]
            assert isinstance(end, TurnEnded)
            assert (
                (end.outcome, end.reply) == ("done", scene.output_of(turn)) == ("done", lines(turn, minutes))
            )

    play(acts)


def test_what_a_relay_asks_for_meanwhile_is_done_once_the_link_is_back(play: Play) -> None:
    async def acts(scene: Scene) -> None:
        scene.run("running", 100)
        await scene.loop.pass_by(MINUTE + 1)
        scene.wire.cut()
        scene.stop("running")
        scene.run("later", 1)
        await scene.loop.pass_by(HOUR)
        assert scene.told_of("later") == []
        scene.wire.mend()
        await scene.loop.pass_by(2 * MINUTE)
        assert [type(message) for message in scene.told_of("later")] == [TurnTaken, TurnOutput, TurnEnded]
        ends = [message for message in scene.told_of("running") if isinstance(message, TurnEnded)]
        assert [end.outcome for end in ends] == ["stopped"]
        assert HOUR < ends[0].seconds < HOUR + 2 * MINUTE

    play(acts)


def test_both_ends_notice_and_while_apart_write_no_more_than_signs_of_life() -> None:
    async def scene() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        wire = Sockets(loop)
        came: list[bytes] = []
        for end in (wire.relay_end, wire.worker_end):
            end.connect(came.extend)
        await loop.pass_by(1)
        wire.cut()
        for end in (wire.relay_end, wire.worker_end):
            for _ in range(BATCHES):
                end.send([b"x" * BATCH_BYTES])
        await loop.pass_by(NOTICED)
        before = wire.carried
        await loop.pass_by(HOUR)
        assert wire.carried - before <= 2 * (HOUR / HEARTBEAT + 1)
        wire.mend()
        await loop.pass_by(2 * HEARTBEAT)
        told: tuple[News, ...] = ("met", "away", "back")
        assert sorted(wire.news) == sorted((who, news) for who in ("relay", "worker") for news in told)
        assert came == [b"x" * BATCH_BYTES] * 2 * BATCHES

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(scene())
