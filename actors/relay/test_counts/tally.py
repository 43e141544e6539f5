"""Counting, and what a recognizer of one runner gives."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from showcaller.actors.contract.views import TaskCounts

Verdict = Literal["passed", "failed", "skipped"]


class Found(NamedTuple):
    """The counts of a run, and the number of the last line that told about it."""

    counts: TaskCounts
    at: int


Recognizer = Callable[[Sequence[str]], Found | None]
"""Reads lines, oldest first, and gives the last run of its runner in them, if there is any."""


@dataclass(slots=True)
class Tally:
    """Tests by how they ended. Not thread-safe."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def count(self, verdict: Verdict | None, times: int = 1) -> None:
        """Add tests that ended in one way; None is not counted."""
        if verdict == "passed":
            self.passed += times
        elif verdict == "failed":
            self.failed += times
        elif verdict == "skipped":
            self.skipped += times

    def add(self, other: "Tally") -> None:
        """Add all of another one."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def found(self, runner: str, at: int, *, final: bool = True) -> Found:
        """Give these counts as those of a runner."""
        return Found(
            TaskCounts(
                runner=runner,
                passed=max(0, self.passed),
                failed=self.failed,
                skipped=self.skipped,
                final=final,
            ),
            at,
        )

    def __bool__(self) -> bool:
        return bool(self.passed or self.failed or self.skipped)


def out_of(total: int, failed: int, skipped: int) -> Tally:
    """Give the tally of a runner that tells all, the failed and the skipped, but not the passed."""
    return Tally(total - failed - skipped, failed, skipped)


_NUMBERED: Final = re.compile(r"(?<![\w.])(\d{1,9}) ([a-z]+(?: [a-z]+)*)")
_NAMED: Final = re.compile(r"([A-Za-z]+(?: [A-Za-z]+)*)(?:=|: ?)(\d{1,9})(?!\w)")


def numbered(text: str) -> dict[str, int]:
    """Read ``3 passed, 1 failed``."""
    return {word: int(number) for number, word in _NUMBERED.findall(text)}


def named(text: str) -> dict[str, int]:
    """Read ``failures=3, errors=1`` or ``Failures: 3, Errors: 1``; names in lower case."""
    return {word.lower(): int(number) for word, number in _NAMED.findall(text)}
