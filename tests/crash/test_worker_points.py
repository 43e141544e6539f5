"""Workers and relays that end between any two messages and notes lose nothing and run nothing twice."""

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.crash.failpoints import FROM_WORKER, IN_WORKER, IN_WRITER, TO_WORKER
from tests.crash.points_runs import EVERYWHERE, ends_at, fired
from tests.simulation.runs import fast_place

PROMPTS = 8
KINDS = ("run_turn", "turn_stored", "turn_taken", "turn_output", "turn_ended")
"""The messages that the prompts of these tests cause."""

IN_RELAY = tuple(
    f"workers.{way}.{kind}.{when}"
    for way, kinds in (("send", TO_WORKER), ("deliver", FROM_WORKER))
    for kind in kinds
    for when in ("before", "after")
)
POINTS = [point for point in (*IN_WORKER, *IN_RELAY) if point.split(".")[-2] in {*KINDS, "take", "forget"}]
IN_WORKER_REACHED = [point for point in IN_WORKER if point in POINTS]
CHOSEN = POINTS if EVERYWHERE else POINTS[::6]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.parametrize("passes", [1, 2, 3] if EVERYWHERE else [2])
@pytest.mark.parametrize("point", CHOSEN)
def test_a_process_that_ends_there_loses_nothing(point: str, passes: int) -> None:
    with TemporaryDirectory(prefix="showcaller-points-", dir=fast_place()) as folder:
        place = Path(folder)
        armed = f"{point}@{passes}"
        callers, broken = ends_at(place, armed, PROMPTS)
        assert broken == []
        assert fired(place) == {armed}, "no process has come there"
        assert callers.ends["done end"] > 0


def deaths_together(count: int) -> list[str]:
    """Draw deaths of two or all three of relay, writer and worker, one after another or at one moment."""
    dice = random.Random(2027)
    places = {"relay": [p for p in IN_RELAY if p in POINTS], "writer": IN_WRITER, "worker": IN_WORKER_REACHED}
    drawn = []
    for number in range(count):
        dying = list(places) if number % 3 == 0 else dice.sample(list(places), 2)
        armed = [(who, dice.choice(places[who])) for who in dying]
        drawn.append(",".join(f"{point}@{_pass(dice, point)}{_takes(dice, who)}" for who, point in armed))
    return drawn


def _pass(dice: random.Random, point: str) -> int:
    return dice.randint(1, 300) if "statement" in point else dice.randint(1, 6)


def _takes(dice: random.Random, who: str) -> str:
    """A writer may take its relay with it."""
    return "+relay" if who == "writer" and dice.random() < 0.5 else ""


@pytest.mark.parametrize("armed", deaths_together(60 if EVERYWHERE else 3))
def test_relay_writer_and_worker_that_end_together_lose_nothing(armed: str) -> None:
    with TemporaryDirectory(prefix="showcaller-points-", dir=fast_place()) as folder:
        place = Path(folder)
        _, broken = ends_at(place, armed, PROMPTS)
        assert broken == []
        assert fired(place), "no process has come there"
