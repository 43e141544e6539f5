"""go test, alone and under gotestsum."""

import re
from collections.abc import Sequence
from typing import Final

from showcaller.actors.relay.test_counts.tally import Found, Tally, Verdict, out_of

_TEST: Final = re.compile(r" *--- (PASS|FAIL|SKIP): \S.* \(\d+\.\d+s\)")
_RUN: Final = re.compile(r"=== RUN +\S.*")
_PACKAGE: Final = re.compile(
    r"(ok|FAIL|\?) +(\S+) +(?:\d+\.\d+s|\(cached\)|\[(?:build|setup) failed\]|\[no test files\])"
    r"(?: +coverage: .*?)?( +\[no tests to run\])?"
)
_VERDICTS: Final[dict[str, Verdict]] = {
    "PASS": "passed",
    "ok": "passed",
    "FAIL": "failed",
    "SKIP": "skipped",
    "?": "skipped",
}


def go_test(lines: Sequence[str]) -> Found | None:
    """Count tests and their subtests when ``-v`` lists them all, else packages, which is all that go tells.

    A package that could not be built has failed, one without a test to run was skipped. There is no last word
    for the whole: the counts are final as long as no test runs in a package that has not ended.
    """
    tests, current = Tally(), Tally()
    packages: dict[str, Verdict] = {}
    verbose = underway = False
    last: int | None = None
    for at, line in enumerate(lines):
        if test := _TEST.fullmatch(line):
            current.count(_VERDICTS[test[1]])
            verbose = verbose or test[1] == "PASS"
            underway = True
        elif _RUN.fullmatch(line):
            verbose = underway = True
        elif package := _PACKAGE.fullmatch(line):
            if package[2] in packages:
                tests, packages = Tally(), {}  # go was run again
            packages[package[2]] = "skipped" if package[3] else _VERDICTS[package[1]]
            tests.add(current)
            current, underway = Tally(), False
        else:
            continue
        last = at
    if last is None:
        return None
    tests.add(current)
    return (tests if verbose else _by_package(packages)).found("go", last, final=not underway)


def _by_package(packages: dict[str, Verdict]) -> Tally:
    tally = Tally()
    for verdict in packages.values():
        tally.count(verdict)
    return tally


_DONE: Final = re.compile(
    r"DONE (?:\d+ runs, )?(\d{1,9}) tests?(?:, (\d{1,9}) skipped)?(?:, (\d{1,9}) failures?)?"
    r"(?:, \d+ errors?)? in \S+"
)


def gotestsum(lines: Sequence[str]) -> Found | None:
    """Read the last line of gotestsum, which runs go for others and counts tests and subtests."""
    for at in range(len(lines) - 1, -1, -1):
        if done := _DONE.fullmatch(lines[at]):
            total, skipped, failures = (int(number or 0) for number in done.groups())
            return out_of(total, failures, skipped).found("go", at)
    return None
