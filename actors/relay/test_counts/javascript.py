"""vitest, jest, mocha and the test runner of Node.js."""

import re
from collections.abc import Sequence
from typing import Final

from showcaller.actors.relay.test_counts.tally import Found, Tally, Verdict, numbered, out_of

_VITEST_NUMBERS: Final = r"(\d{1,9} [a-z ]+?(?: \| \d{1,9} [a-z ]+?)*)"
_VITEST_FILES: Final = re.compile(rf" *Test Files  ?{_VITEST_NUMBERS} \((\d{{1,9}})\)")
_VITEST_TESTS: Final = re.compile(rf" *Tests  ?(?:no tests|{_VITEST_NUMBERS} \(\d{{1,9}}\))")
_VITEST_NONE: Final = re.compile(r"No test files found, exiting with code \d+")


def vitest(lines: Sequence[str]) -> Found | None:
    """Read vitest's summary, which it shows and keeps up to date while it runs; a todo counts as skipped."""
    found: Found | None = None
    files: dict[str, int] = {}
    complete = True
    for at, line in enumerate(lines):
        if head := _VITEST_FILES.fullmatch(line):
            files = numbered(head[1])
            complete = sum(files.values()) == int(head[2])
        elif (tests := _VITEST_TESTS.fullmatch(line)) and files:
            found = _with_files(numbered(tests[1] or ""), files).found("vitest", at, final=complete)
            files = {}
        elif _VITEST_NONE.fullmatch(line):
            found = Tally().found("vitest", at)
    return found


_JEST_SUITES: Final = re.compile(r"Test Suites: +((?:\d{1,9} [a-z]+, )*)(\d{1,9} of )?\d{1,9} total")
_JEST_TESTS: Final = re.compile(r"Tests: +((?:\d{1,9} [a-z]+, )*)\d{1,9} total")
_JEST_NONE: Final = re.compile(r"No tests found, exiting with code \d+")


def jest(lines: Sequence[str]) -> Found | None:
    """Read jest's summary, which it shows and keeps up to date while it runs; a todo counts as skipped."""
    found: Found | None = None
    suites: dict[str, int] = {}
    complete = True
    for at, line in enumerate(lines):
        if head := _JEST_SUITES.fullmatch(line):
            suites, complete = numbered(head[1]), not head[2]
        elif tests := _JEST_TESTS.fullmatch(line):
            found = _with_files(numbered(tests[1]), suites).found("jest", at, final=complete)
        elif _JEST_NONE.fullmatch(line):
            found = Tally().found("jest", at)
    return found


def _with_files(tests: dict[str, int], files: dict[str, int]) -> Tally:
    """Count files that failed without a test that did: they could not even be loaded."""
    failed = tests.get("failed", 0) or files.get("failed", 0)
    skipped = tests.get("skipped", 0) + tests.get("todo", 0) + tests.get("pending", 0)
    return Tally(tests.get("passed", 0), failed, skipped)


_MOCHA_PASSING: Final = re.compile(r" +(\d{1,9}) passing \(\d+(?:\.\d+)?(?:ms|[smhd])\)")
_MOCHA_OTHERS: Final = re.compile(r" +(\d{1,9}) (pending|failing)")


def mocha(lines: Sequence[str]) -> Found | None:
    """Read the three lines that mocha ends with."""
    found: Found | None = None
    tally: Tally | None = None
    for at, line in enumerate(lines):
        if passing := _MOCHA_PASSING.fullmatch(line):
            tally = Tally(passed=int(passing[1]))
            found = tally.found("mocha", at)
        elif tally is not None and (other := _MOCHA_OTHERS.fullmatch(line)):
            tally.count("skipped" if other[2] == "pending" else "failed", int(other[1]))
            found = tally.found("mocha", at)
        elif line:
            tally = None
    return found


_NODE_SUMMARY: Final = re.compile(
    r"[\u2139#] (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) (\d{1,9})(?:\.\d+)?"
)
_NODE_LINE: Final = re.compile(r"( *)([✔✖﹣]) (.+) \(\d+\.\d+ms\)(?: # (?:SKIP|TODO|EXPECTED FAILURE)\b.*)?")
_NODE_SIGNS: Final[dict[str, Verdict]] = {"✔": "passed", "✖": "failed", "﹣": "skipped"}
_NODE_SUITE: Final = re.compile(r"( *)▶ (.+)")
_NODE_FAILING: Final = "✖ failing tests:"


def node(lines: Sequence[str]) -> Found | None:
    """Read the summary of Node's runner, spec or TAP, or until it comes the tests of the spec form.

    What was cancelled counts as failed, a todo as skipped.
    """
    found: Found | None = None
    summary: dict[str, int] = {}
    so_far = Tally()
    suites: set[tuple[str, str]] = set()
    listing = False
    for at, line in enumerate(lines):
        if number := _NODE_SUMMARY.fullmatch(line):
            if number[1] == "tests":
                summary = {}
            summary[number[1]] = int(number[2])
            if number[1] == "duration_ms" and summary.keys() >= {"tests", "pass", "fail"}:
                found = _node_summed(summary).found("node", at)
                so_far, listing = Tally(), False
        elif line == _NODE_FAILING:
            listing = True  # the failed ones come a second time
        elif suite := _NODE_SUITE.fullmatch(line):
            suites.add((suite[1], suite[2]))
            listing = False
        elif not listing and (test := _NODE_LINE.fullmatch(line)) and (test[1], test[3]) not in suites:
            so_far.count(_NODE_SIGNS[test[2]])
            found = so_far.found("node", at, final=False)
    return found


def _node_summed(summary: dict[str, int]) -> Tally:
    failed = summary["fail"] + summary.get("cancelled", 0)
    return out_of(
        summary["pass"] + failed + summary.get("skipped", 0) + summary.get("todo", 0),
        failed,
        summary.get("skipped", 0) + summary.get("todo", 0),
    )
