"""CMake's ctest."""

import re
from collections.abc import Sequence
from typing import Final

from showcaller.actors.relay.test_counts.tally import Found, Tally, out_of

_BEGINS: Final = re.compile(r"Test project \S.*")
_TEST: Final = re.compile(r" *\d+/\d+ Test +#\d+: .*?(Passed|\*\*\*\S.*?) +\d+\.\d+ sec.*")
_SUMMARY: Final = re.compile(r"\d{1,3}% tests passed(?:, |; )(\d{1,9}) tests? failed out of (\d{1,9})")
_DID_NOT_RUN: Final = re.compile(r"\s+\d+ - .* \((Skipped|Disabled)\)")
_NONE: Final = re.compile(r"No tests were found!!!")


def ctest(lines: Sequence[str]) -> Found | None:
    """Read ctest's summary and its list of what did not run, or until they come the tests that have ended."""
    found: Found | None = None
    so_far = Tally()
    for at, line in enumerate(lines):
        if _BEGINS.fullmatch(line):
            so_far = Tally()
        elif test := _TEST.fullmatch(line):
            _count(so_far, test[1])
            found = so_far.found("ctest", at, final=False)
        elif summary := _SUMMARY.fullmatch(line):
            end = out_of(int(summary[2]), int(summary[1]), 0)
            found = end.found("ctest", at)
            so_far = end
        elif found and found.counts.final and (left := _DID_NOT_RUN.fullmatch(line)):
            # Who was skipped stands among the passed before; who is disabled does not stand there at all.
            so_far.count("skipped")
            so_far.count("passed", -1 if left[1] == "Skipped" else 0)
            found = so_far.found("ctest", at)
        elif _NONE.fullmatch(line):
            found = Tally().found("ctest", at)
    return found


def _count(tally: Tally, end: str) -> None:
    if end == "Passed":
        tally.count("passed")
    elif end.startswith("***Skipped") or "(Disabled)" in end:
        tally.count("skipped")
    else:
        tally.count("failed")
