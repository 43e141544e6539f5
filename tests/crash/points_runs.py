"""Runs of a daemon with failpoints, from its start until all prompts have ended."""

import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.crash.callers import WORK, Callers
from tests.crash.failing_daemon import ARMED, NOTES
from tests.crash.victims import Victims

EVERYWHERE = os.environ.get("CRASH_EVERYWHERE") == "1"
"""Every failpoint at several passes, instead of some at one."""

DAEMON = (sys.executable, "-m", "tests.crash.failing_daemon")


def ends_at(place: Path, armed: str, prompts: int, work: Sequence[str] = WORK) -> tuple[Callers, list[str]]:
    """Run a daemon with these failpoints until all prompts have ended; give what is broken.

    Its data folder is ``home`` in ``place``.
    """
    victims = Victims(place, DAEMON, {NOTES: str(place), ARMED: armed})
    callers = Callers(victims, place, random.Random(armed), work)
    victims.start()
    try:
        for _ in range(prompts):
            callers.prompt()
            victims.start_again()
        broken = callers.see_to_the_end()
        broken += victims.stop()
    finally:
        victims.clear()
    return callers, broken + callers.broken_by_commands()


def fired(place: Path) -> set[str]:
    """Give the failpoints at which a process has ended."""
    return {path.name.removeprefix("fired ") for path in place.glob("fired *")}
