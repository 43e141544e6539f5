"""pytest and unittest."""

import re
from collections.abc import Sequence
from typing import Final

from showcaller.actors.relay.test_counts.tally import Found, Tally, Verdict, named, numbered, out_of

_WORDS: Final[dict[str, Verdict]] = {
    "passed": "passed",
    "xpassed": "passed",
    "failed": "failed",
    "error": "failed",
    "errors": "failed",
    "skipped": "skipped",
    "xfailed": "skipped",
}
_OTHER_WORDS: Final = frozenset(
    {"warning", "warnings", "deselected", "rerun", "subtests passed", "subtest passed"}
)
_VERDICTS: Final[dict[str, Verdict]] = {
    "PASSED": "passed",
    "XPASS": "passed",
    "FAILED": "failed",
    "ERROR": "failed",
    "SUBFAILED": "failed",
    "SKIPPED": "skipped",
    "XFAIL": "skipped",
}
_LETTERS: Final[dict[str, Verdict]] = {
    ".": "passed",
    "X": "passed",
    "F": "failed",
    "E": "failed",
    "s": "skipped",
    "x": "skipped",
}
_START: Final = re.compile(r"=+ test session starts (?:\(.*\) )?=+")
_SUMMARY: Final = re.compile(
    r"(?P<bar>=+ )?(?P<counts>no tests ran|\d{1,9} [a-z]+[a-z0-9 ,]*) in \d+\.\d+ ?s(?:econds)?"
    r"(?: \(\d+(?: days?, \d+)?:\d\d:\d\d\))?(?: =+)?"
)
_COLLECTED: Final = re.compile(r"(?:=+ )?(?:no|\d+(?:/\d+)?) tests? collected .*\bin \d+\.\d+s(?: =+)?")
_SHARE: Final = re.compile(r"\[ *\d*(?:%|/\d*)?\]?")
_DOTS: Final = re.compile(r"(?:\S+\.(?:py|rst|txt|md) )?([.FEsxXuR]+)")
_VERBOSE: Final = re.compile(r" (PASSED|XPASS|FAILED|SUBFAILED|ERROR|SKIPPED|XFAIL)(?=$|[ (])")
_DISTRIBUTED: Final = re.compile(r"\[gw\d+\] \[ *\d+%\] ([A-Z]+) ")


def pytest(lines: Sequence[str]) -> Found | None:
    """Read pytest's summary, or until it comes the letters and verdicts of its progress.

    An error counts as failed, an expected failure as skipped, an unexpected pass that is allowed as passed.
    """
    found: Found | None = None
    so_far = Tally()
    started = False
    for at, line in enumerate(lines):
        if _START.fullmatch(line):
            so_far, started = Tally(), True
            found = so_far.found("pytest", at, final=False)
        elif (summary := _SUMMARY.fullmatch(line)) and (end := _summed(summary["counts"])) is not None:
            found = end.found("pytest", at)
            so_far, started = Tally(), False
        elif _COLLECTED.fullmatch(line):
            found, so_far, started = None, Tally(), False  # it was only asked which tests there are
        elif step := _progress(line, started):
            so_far.add(step)
            found = so_far.found("pytest", at, final=False)
    return found


def _summed(counts: str) -> Tally | None:
    words = numbered(counts)
    if not words.keys() <= _WORDS.keys() | _OTHER_WORDS:
        return None
    tally = Tally()
    for word, number in words.items():
        tally.count(_WORDS.get(word), number)
    return tally


def _progress(line: str, started: bool) -> Tally | None:
    tally = Tally()
    if distributed := _DISTRIBUTED.match(line):
        tally.count(_VERDICTS.get(distributed[1]))
        return tally
    bracket = line.rfind("[")
    share = _SHARE.fullmatch(line, bracket) if bracket > 0 else None  # it may be half written
    shared = share is not None and line.endswith("]")
    if not shared and not started:
        return None
    text = line[:bracket].rstrip() if share else line
    if dots := _DOTS.fullmatch(text):
        if shared or " " in text:
            for letter in dots[1]:
                tally.count(_LETTERS.get(letter))
    elif "::" in text.partition(" ")[0] and (verbose := _VERBOSE.search(text)):
        tally.count(_VERDICTS.get(verbose[1]))
    return tally or None


_RAN: Final = re.compile(r"Ran (\d{1,9}) tests? in \d+(?:\.\d+)?s")
_RESULT: Final = re.compile(r"(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?")
_NAME: Final = re.compile(r"\w+ \([\w.<>]+\)(?: \(.*\))?")
_ENDS: Final[dict[str, Verdict]] = {
    "ok": "passed",
    "FAIL": "failed",
    "ERROR": "failed",
    "skipped": "skipped",
    "expected failure": "skipped",
    "unexpected success": "failed",
}


def unittest(lines: Sequence[str]) -> Found | None:
    """Read unittest's summary, or until it comes the verdicts of its verbose progress.

    An error and an unexpected success count as failed, an expected failure as skipped.
    """
    found: Found | None = None
    so_far = Tally()
    ran: int | None = None
    for at, line in enumerate(lines):
        if total := _RAN.fullmatch(line):
            ran, so_far = int(total[1]), Tally()
        elif ran is not None and line:
            if result := _RESULT.fullmatch(line):
                found = _result(ran, result[1] or "").found("unittest", at)
            ran = None
        elif verdict := _ended(line, lines[at - 1] if at else ""):
            so_far.count(verdict)
            found = so_far.found("unittest", at, final=False)
    return found


def _result(ran: int, details: str) -> Tally:
    counts = named(details)
    failed = sum(counts.get(each, 0) for each in ("failures", "errors", "unexpected successes"))
    return out_of(ran, failed, sum(counts.get(each, 0) for each in ("skipped", "expected failures")))


def _ended(line: str, before: str) -> Verdict | None:
    """Read ``test_name (module.Class.test_name) ... ok``; the first line of a docstring may stand between."""
    name, dots, end = line.rpartition(" ... ")
    if not dots or not (_NAME.fullmatch(name) or _NAME.fullmatch(before)):
        return None
    return _ENDS.get("skipped" if end.startswith("skipped ") else end)
