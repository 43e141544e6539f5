"""How long a worker goes on without its relay, in virtual time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from showcaller.transport.worker.options import WorkerOptions
from showcaller.transport.worker.solitude import FIRST_MEETING, Solitude
from tests.transport.links.virtual import VirtualLoop

HOUR = 3600.0
DAY = 24 * HOUR


class Scene:
    """A worker's solitude, and when it has ended the worker."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.loop = loop
        self.ended: list[float] = []
        options = WorkerOptions(name="wrk_000000000000", address="ipc:///links", token="x" * 16, folder="/")
        self.solitude = Solitude(loop, options.alone, lambda: self.ended.append(loop.now))


def play(acts: Callable[[Scene], Coroutine[Any, Any, None]]) -> None:
    async def scene() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        await acts(Scene(loop))

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(scene())


def test_a_worker_that_is_alone_for_24_hours_ends() -> None:
    async def acts(scene: Scene) -> None:
        scene.solitude.heard("met")
        await scene.loop.pass_by(3 * DAY)
        assert not scene.solitude.is_alone
        scene.solitude.heard("away")
        await scene.loop.pass_by(DAY - 1)
        assert scene.ended == []
        await scene.loop.pass_by(2)
        assert scene.ended == [4 * DAY]

    play(acts)


def test_a_relay_that_comes_back_in_time_has_it_go_on_and_the_hours_begin_anew() -> None:
    async def acts(scene: Scene) -> None:
        scene.solitude.heard("met")
        for news in ("back", "changed", "met"):
            scene.solitude.heard("away")
            await scene.loop.pass_by(23 * HOUR)
            assert scene.solitude.is_alone
            scene.solitude.heard(news)
        await scene.loop.pass_by(DAY)
        assert scene.ended == []

    play(acts)


def test_a_relay_that_refuses_it_again_and_again_is_as_good_as_none() -> None:
    async def acts(scene: Scene) -> None:
        scene.solitude.heard("met")
        for _ in range(23):
            scene.solitude.heard("refused")
            await scene.loop.pass_by(HOUR)
        assert scene.ended == []
        await scene.loop.pass_by(HOUR)
        assert len(scene.ended) == 1

    play(acts)


def test_a_worker_whose_relay_has_died_at_once_ends_soon() -> None:
    async def acts(scene: Scene) -> None:
        await scene.loop.pass_by(FIRST_MEETING + 1)
        assert scene.ended == [FIRST_MEETING]

    play(acts)
