"""Workers and relays that end between any two messages and notes lose nothing and run nothing twice."""

import os
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.crash.callers import Callers
from tests.crash.failing_daemon import ARMED, NOTES
from tests.crash.failpoints import FROM_WORKER, IN_WORKER, TO_WORKER
from tests.crash.victims import Victims
from tests.simulation.runs import fast_place

EVERYWHERE = os.environ.get("CRASH_EVERYWHERE") == "1"
"""Every failpoint at several passes, instead of some at one."""

DAEMON = (sys.executable, "-m", "tests.crash.failing_daemon")
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
CHOSEN = POINTS if EVERYWHERE else POINTS[::6]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def ends_at(place: Path, armed: str) -> tuple[Callers, list[str]]:
    """Run a daemon with this failpoint until all prompts have ended; give what is broken."""
    victims = Victims(place, DAEMON, {NOTES: str(place), ARMED: armed})
    callers = Callers(victims, place, random.Random(armed))
    victims.start()
    try:
        for _ in range(PROMPTS):
            callers.prompt()
            victims.start_again()
        broken = callers.see_to_the_end()
        broken += victims.stop()
    finally:
        victims.clear()
    return callers, broken + callers.broken_by_commands()


@pytest.mark.parametrize("passes", [1, 2, 3] if EVERYWHERE else [2])
@pytest.mark.parametrize("point", CHOSEN)
def test_a_process_that_ends_there_loses_nothing(point: str, passes: int) -> None:
    with TemporaryDirectory(prefix="showcaller-points-", dir=fast_place()) as folder:
        place = Path(folder)
        armed = f"{point}@{passes}"
        callers, broken = ends_at(place, armed)
        assert broken == []
        assert (place / f"fired {armed}").exists(), "no process has come there"
        assert callers.ends["done end"] > 0
