"""PHPUnit."""

import re
from collections.abc import Sequence
from typing import Final

from showcaller.actors.relay.test_counts.tally import Found, Tally, Verdict, named, out_of

_GOOD: Final = re.compile(r"OK \((\d{1,9}) tests?, \d+ assertions?\)")
_SUMMARY: Final = re.compile(r"Tests: (\d{1,9}), Assertions: \d+(, .*)?\.")
_NONE: Final = re.compile(r"No tests executed!")
_PROGRESS: Final = re.compile(r"([.FEWRSIDNP]+) +\d+ / \d+ \( *\d+%\)")
_LETTERS: Final[dict[str, Verdict]] = {
    "F": "failed",
    "E": "failed",
    "S": "skipped",
    "I": "skipped",
    ".": "passed",
    "W": "passed",
    "R": "passed",
    "D": "passed",
    "N": "passed",
    "P": "passed",
}


def phpunit(lines: Sequence[str]) -> Found | None:
    """Read PHPUnit's last line, or until it comes the letters of its progress.

    An incomplete test counts as skipped; a risky one, or one with warnings or deprecations, as what it did.
    """
    found: Found | None = None
    so_far = Tally()
    for at, line in enumerate(lines):
        if progress := _PROGRESS.fullmatch(line):
            for letter in progress[1]:
                so_far.count(_LETTERS[letter])
            found = so_far.found("phpunit", at, final=False)
        elif (end := _end(line)) is not None:
            found, so_far = end.found("phpunit", at), Tally()
    return found


def _end(line: str) -> Tally | None:
    if good := _GOOD.fullmatch(line):
        return Tally(passed=int(good[1]))
    if summary := _SUMMARY.fullmatch(line):
        counts = named(summary[2] or "")
        return out_of(
            int(summary[1]),
            counts.get("failures", 0) + counts.get("errors", 0),
            counts.get("skipped", 0) + counts.get("incomplete", 0),
        )
    return Tally() if _NONE.fullmatch(line) else None
