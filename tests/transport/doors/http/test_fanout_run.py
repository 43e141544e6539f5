"""Followers of a fan-out get each result once, whenever they come and however slow they are."""

import asyncio
import random
from typing import Any, cast

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.fanout import FanoutSpec, ItemResult
from showcaller.transport.doors.http import fanout_run
from showcaller.transport.doors.http.fanout_run import FanoutRun
from showcaller.transport.doors.local import LocalDoor

SPEC = FanoutSpec(kind="command", template="echo {}", provider="command", jobs=3, cwd="/")


class Stored:
    """Stands in for the door: has all results by their numbers, and counts how often it is asked."""

    def __init__(self) -> None:
        self.results: dict[int, ItemResult] = {}
        self.asked: list[tuple[int, int]] = []

    async def fanout_results(self, group: str, after: int, limit: int) -> list[ItemResult]:
        assert group == "grp_a"
        self.asked.append((after, limit))
        return [self.results[number] for number in range(after + 1, after + limit + 1)]


def result(number: int, reply: str = "") -> ItemResult:
    return ItemResult(item=f"item {number}", number=number, status="done", attempts=1, reply=reply)


def begun(stored: Stored) -> FanoutRun:
    run = FanoutRun("grp_a", "run", cast(LocalDoor, stored), asyncio.get_running_loop())
    run.ready(SPEC, "name", 0)
    return run


def end(run: FanoutRun, stored: Stored, numbers: list[int], reply: str = "") -> None:
    for number in numbers:
        stored.results[number] = result(number, reply)
        run.result(stored.results[number])


async def numbers_from(run: FanoutRun, place: int) -> list[int]:
    return [each.number async for news in run.follow(place) for each in news.results]


async def test_whoever_follows_gets_all_from_its_place_in_the_order_in_which_they_ended() -> None:
    stored = Stored()
    run = begun(stored)
    order = random.Random(7).sample(range(1, 501), 500)
    early = asyncio.create_task(numbers_from(run, 0))
    end(run, stored, order[:200])
    middle = asyncio.create_task(numbers_from(run, 150))
    end(run, stored, order[200:])
    run.finished(None)
    assert await early == order
    assert await middle == order[150:]
    assert await numbers_from(run, 499) == order[499:]
    assert await numbers_from(run, 500) == []
    assert stored.asked == []


async def test_what_is_not_kept_any_more_is_read_from_the_store_in_few_questions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fanout_run, "MOST_KEPT", 10)
    stored = Stored()
    run = begun(stored)
    order = [*range(1, 151), *reversed(range(151, 161))]
    end(run, stored, order)
    run.finished(None)
    assert await numbers_from(run, 0) == order
    assert stored.asked == [(0, 100), (100, 50)]


async def test_only_so_much_text_is_kept() -> None:
    stored = Stored()
    run = begun(stored)
    end(run, stored, [*range(1, 11)], "x" * 1_000_000)
    run.finished(None)
    assert await numbers_from(run, 0) == [*range(1, 11)]
    assert sum(limit for _, limit in stored.asked) == 6


async def test_how_it_goes_is_told_also_while_nothing_ends() -> None:
    run = begun(Stored())
    news = run.follow(0)
    run.moved(1, 1)
    first = await anext(news)
    assert (first.results, first.started, first.running) == ([], 1, 1)
    waiting = asyncio.ensure_future(anext(news))
    done, _ = await asyncio.wait([waiting], timeout=0)
    assert not done
    run.moved(2, 2)
    assert (await waiting).running == 2
    run.finished(None)
    assert (await anext(news)).is_over


async def test_what_keeps_it_from_its_beginning_is_raised() -> None:
    run = FanoutRun("grp_a", "run", cast(LocalDoor, Stored()), asyncio.get_running_loop())
    run.finished(Refusal(Code.STORAGE, "The disk is full."))
    with pytest.raises(Refusal, match="The disk is full"):
        await run.begun()


async def test_a_follower_that_leaves_is_forgotten() -> None:
    run = begun(Stored())
    leaving = asyncio.ensure_future(numbers_from(run, 0))
    staying = asyncio.ensure_future(numbers_from(run, 0))
    await asyncio.wait([leaving], timeout=0)
    leaving.cancel()
    await asyncio.wait([leaving])
    stored: Any = Stored()
    end(run, stored, [1])
    run.finished(None)
    assert await staying == [1]
