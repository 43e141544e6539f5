"""The relay keeps its promises in a thousand worlds, and the worlds would tell if it did not."""

import os
import subprocess
import sys

import pytest

from tests.simulation.planted import PLANTS, Plant, lose_the_outbox
from tests.simulation.runs import first_failure, live_through, live_through_many

SEEDS = int(os.environ.get("SIMULATION_SEEDS", "1000"))
JOBS = 2
SOON = 800


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_promise_holds_in_a_thousand_worlds() -> None:
    failures = [outcome.told for outcome in live_through_many(range(SEEDS), JOBS) if outcome.failure]
    assert failures == []


def test_every_promise_holds_in_a_few_worlds() -> None:
    failures = [
        outcome.told for outcome in live_through_many(range(2_000_000, 2_000_025), 1) if outcome.failure
    ]
    assert failures == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found_soon(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    found = first_failure(range(SOON))
    assert found is not None, f"nothing found in {SOON} worlds: {plant.__doc__}"
    monkeypatch.undo()
    assert live_through(found.seed).failure is None, "this seed fails without the bug too"


@pytest.mark.parametrize("seed", [7, 24, 205])
def test_the_same_seed_gives_the_same_trace_byte_for_byte(seed: int) -> None:
    told = [
        subprocess.run(
            [sys.executable, "-m", "tests.simulation", "replay", str(seed)],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": hashes},
        ).stdout
        for hashes in ("1", "2")
    ]
    assert told[0] == told[1]
    assert told[0].count(b"\n") > 10


def test_a_failing_seed_tells_the_command_that_repeats_it(monkeypatch: pytest.MonkeyPatch) -> None:
    lose_the_outbox(monkeypatch)
    found = first_failure(range(20))
    assert found is not None
    assert found.told.endswith(f"python -m tests.simulation replay {found.seed}")
    assert "BROKEN" in found.trace
