"""Threads that switch a thousand times as often as usual, in a process of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SECONDS = 2


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_and_nothing_hangs_when_threads_switch_all_the_time(seed: int) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "tests.actors.runtime.stress", str(SECONDS), str(seed)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 100
    assert done.stderr == ""
