"""A relay that ends at any failpoint loses nothing that it acknowledged and runs nothing twice."""

import os
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.crash.failpoints import IN_RELAY, IN_WRITER
from tests.crash.runs import counts, crash
from tests.simulation.runs import fast_place

EVERYWHERE = os.environ.get("CRASH_EVERYWHERE") == "1"
"""Every pass of every failpoint, instead of the first ones and a few later ones."""

JOBS = 2
STATEMENTS = 10  # of the writer's some 300, spread over all of them
PAIRS = 10


pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def passes() -> dict[str, int]:
    """How often each failpoint is passed when nothing goes wrong."""
    with folder() as home:
        return dict(counts(Path(home)))


def folder() -> "TemporaryDirectory[str]":
    return TemporaryDirectory(prefix="showcaller-crash-", dir=fast_place())


def chosen(passed: int, few: int) -> Iterator[int]:
    """Give the passes at which to end: all of them, or the first, the last, and some between."""
    if EVERYWHERE or passed <= few:
        yield from range(1, passed + 1)
    else:
        yield from sorted({1 + (passed - 1) * n // (few - 1) for n in range(few)})


def broken_by(*armed: str) -> list[str]:
    with folder() as home:
        return [f"{' '.join(armed)}: {finding}" for finding in crash(Path(home), *armed)]


def all_broken(plans: Sequence[tuple[str, ...]]) -> list[str]:
    with ThreadPoolExecutor(JOBS) as pool:
        return [finding for found in pool.map(lambda armed: broken_by(*armed), plans) for finding in found]


def test_a_relay_that_ends_at_any_point_loses_nothing(passes: dict[str, int]) -> None:
    plans = [(f"{name}@{n}",) for name in IN_RELAY for n in chosen(passes.get(name, 0), 3)]
    assert len(plans) > 50
    assert all_broken(plans) == []


def test_a_writer_that_ends_at_any_point_loses_nothing(passes: dict[str, int]) -> None:
    plans = [
        (f"{name}@{n}{who}",)
        for name in IN_WRITER
        for who in ("", "+relay")
        for n in chosen(passes[name], STATEMENTS if "statement" in name else 3)
    ]
    assert all_broken(plans) == []


def test_two_deaths_lose_nothing(passes: dict[str, int]) -> None:
    random_ = random.Random(4)
    points = [name for name in (*IN_RELAY, *IN_WRITER) if passes.get(name)]
    plans: list[tuple[str, ...]] = []
    for _ in range(PAIRS * 20 if EVERYWHERE else PAIRS):
        first, second = random_.choice(points), random_.choice(points)
        plans.append((f"{first}@{random_.randint(1, passes[first])}", f"{second}@{random_.randint(1, 6)}"))
    assert all_broken(plans) == []


@pytest.mark.parametrize(
    ("bug", "point"),
    [
        ("repeat_what_was_cut", "workers.deliver.turn_ended.before@1"),
        ("lose_the_outbox", "caller.call.after@3"),
    ],
)
def test_a_planted_bug_is_found_at_a_failpoint(bug: str, point: str) -> None:
    assert broken_by(f"plant:{bug}", point) != []
    assert broken_by(point) == []
