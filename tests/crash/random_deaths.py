"""A daemon whose processes are killed at random while prompts keep coming, and what must hold at the end.

``python -m tests.crash.random_deaths --minutes 30 --seed 1`` prints what was done and what is broken, and
ends with 1 when anything is.
"""

import argparse
import json
import random
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.crash.callers import Callers
from tests.crash.victims import KINDS, Victims
from tests.simulation.runs import fast_place

PAUSE = 0.4
LONGEST_PAUSE = 2.0
"""Seconds without a relay."""


class RandomDeaths:
    """One run: a data folder, the processes on it, and those who call."""

    def __init__(self, place: Path, seed: int) -> None:
        self._random = random.Random(seed)
        self._pause = threading.Event()
        self.victims = Victims(place)
        self.callers = Callers(self.victims, place, self._random)
        self.deaths: Counter[str] = Counter()

    def run(self, seconds: float, most: int | None = None) -> list[str]:
        """Kill for so long, at most so often; then see everything to its end, and give what is broken."""
        until = time.monotonic() + seconds
        self.victims.start()
        try:
            while time.monotonic() < until and (most is None or self.deaths.total() < most):
                self._one_death()
            broken = self.callers.see_to_the_end()
            broken += self.victims.leaks()
            broken += self.victims.stop()
        finally:
            self.victims.clear()
        return broken + self.callers.broken_by_commands()

    def _one_death(self) -> None:
        for _ in range(self._random.randrange(1, 8)):
            self.callers.prompt()
        self._wait(PAUSE)
        kind = self._random.choice(KINDS)
        self.victims.kill(kind)
        self.deaths[kind] += 1
        self._wait(PAUSE)
        if not self.victims.runs:
            self._wait(LONGEST_PAUSE)
            self.victims.start()
        self.callers.ask_again()

    def _wait(self, most: float) -> None:
        self._pause.wait(self._random.random() ** 2 * most)


def main() -> int:
    """Run by the command line; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with TemporaryDirectory(prefix="showcaller-deaths-", dir=fast_place()) as place:
        deaths = RandomDeaths(Path(place), options.seed)
        broken = deaths.run(options.minutes * 60)
    told: dict[str, Any] = {
        "deaths": dict(deaths.deaths),
        "prompts": deaths.callers.told,
        "ends": dict(deaths.callers.ends),
        "refused": dict(deaths.callers.refused),
        "broken": broken,
    }
    sys.stdout.write(json.dumps(told, indent=2) + "\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
