"""cargo test and cargo-nextest."""

import re
from collections.abc import Sequence
from typing import Final

from showcaller.actors.relay.test_counts.tally import Found, Tally, Verdict, numbered

_BUILT: Final = re.compile(r" +Finished .*(?:test|dev|release|debug|profile|target\(s\)).*")
_TARGET: Final = re.compile(
    r" +(?:Running (?:unittests |tests/|benches/|examples/)\S+ \(\S+\)|Doc-tests \S+)"
)
_RUNNING: Final = re.compile(r"running \d{1,9} tests?")
_TEST: Final = re.compile(r"test \S.* \.\.\. (ok|FAILED|ignored)(?:, .*)?")
_RESULT: Final = re.compile(
    r"test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; \d+ measured;"
    r"(?: \d+ filtered out)?.*"
)
_VERDICTS: Final[dict[str, Verdict]] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


def cargo_test(lines: Sequence[str]) -> Found | None:
    """Add up the results of all targets since the last build; final when every one begun has its result."""
    ended, target = Tally(), Tally()
    underway = False
    last: int | None = None
    for at, line in enumerate(lines):
        if _BUILT.fullmatch(line):
            ended, target, underway, last = Tally(), Tally(), False, None
            continue
        if result := _RESULT.fullmatch(line):
            ended.add(Tally(*(int(number) for number in result.groups())))
            target, underway = Tally(), False
        elif _TARGET.fullmatch(line):
            target, underway = Tally(), True
        elif _RUNNING.fullmatch(line):
            target, underway = Tally(), True
            continue  # others say that as well
        elif underway and (test := _TEST.fullmatch(line)):
            target.count(_VERDICTS[test[1]])
        else:
            continue
        last = at
    if last is None:
        return None
    ended.add(target)
    return ended.found("cargo", last, final=not underway)


_SUMMARY: Final = re.compile(r" +Summary \[ *\d+\.\d+s\] (?:\d+/)?\d+ tests? run: (.*)")
_STARTING: Final = re.compile(r" +Starting \d+ tests? across .*")
_ENDED: Final = re.compile(r" +([A-Z][A-Z0-9-]*) \[ *\d+\.\d+s\] .*")
_PASSED: Final = frozenset({"PASS", "LEAK"})
_NO_END: Final = frozenset({"SLOW", "TERMINATING", "RETRY", "DELAY"})


def nextest(lines: Sequence[str]) -> Found | None:
    """Read nextest's summary, or until it comes the tests that have ended."""
    found: Found | None = None
    so_far = Tally()
    summed = False
    for at, line in enumerate(lines):
        if summary := _SUMMARY.fullmatch(line):
            found = _summed(summary[1]).found("nextest", at)
            summed = True  # the failed ones come a second time
        elif _STARTING.fullmatch(line):
            so_far, summed = Tally(), False
            found = so_far.found("nextest", at, final=False)
        elif not summed and (test := _ENDED.fullmatch(line)) and test[1] not in _NO_END:
            so_far.count("passed" if test[1] in _PASSED else "skipped" if test[1] == "SKIP" else "failed")
            found = so_far.found("nextest", at, final=False)
    return found


def _summed(text: str) -> Tally:
    counts = numbered(text)
    failed = sum(counts.get(each, 0) for each in ("failed", "timed out", "exec failed"))
    return Tally(counts.get("passed", 0), failed, counts.get("skipped", 0))
