"""tox and nox, which run other runners, each in an environment of its own."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from showcaller.actors.relay.test_counts.tally import Found, Tally, Verdict


class Environments(NamedTuple):
    """Environments counted as tests, how many have ended, and whether the run goes on."""

    found: Found | None
    ended: int
    underway: bool


class _Event(NamedTuple):
    kind: Literal["begins", "ended", "over"]
    name: str = ""
    verdict: Verdict | None = None


_VERDICTS: Final[dict[str, Verdict]] = {
    "OK": "passed",
    "FAIL": "failed",
    "SKIP": "skipped",
    "commands succeeded": "passed",
    "ERROR": "failed",
    "SKIPPED": "skipped",
    "successful": "passed",
    "success": "passed",
    "failed": "failed",
    "aborted": "failed",
    "interrupted": "failed",
    "skipped": "skipped",
}
_TOX_BEGINS: Final = re.compile(
    r"(\S+): (?:commands|commands_pre|install_deps|install_package)(?:\[\d+\])?> .*"
)
_TOX_ENDED: Final = re.compile(r"(?:  )?(\S+): (OK|FAIL|SKIP) (?:\S+ )*?(?:in |\()\d.*")
_TOX_OVER: Final = re.compile(r"  (?:congratulations :\)|evaluation failed :\()(?: \(.*\))?")
_OLD_TOX_BEGINS: Final = re.compile(r"(\S+) (?:create|installdeps|inst|run-test(?:-pre)?): .*")
_OLD_TOX_SUMMARY: Final = re.compile(r"_+ summary _+")
_OLD_TOX_ENDED: Final = re.compile(r"  (\S+): (commands succeeded)")
_OLD_TOX_BAD: Final = re.compile(r"(ERROR|SKIPPED): +(\S+): .*")
_NOX_BEGINS: Final = re.compile(r"nox > Running session (\S.*)")
_NOX_ENDED: Final = re.compile(
    r"nox > Session (\S.*?) (?:was )?(successful|failed|aborted|interrupted|skipped)\b.*"
)
_NOX_SUMMED: Final = re.compile(r"nox > \* (\S.*?): (success|failed|aborted|interrupted|skipped)\b.*")
_NOX_SUMMARY: Final = re.compile(r"nox > Ran (?:multiple|\d+) sessions\b.*")


def environments(lines: Sequence[str]) -> Environments | None:
    """Read the environments of the last run of tox or nox; None if there is none."""
    runs = [run for run in (_run("tox", lines, _tox), _run("nox", lines, _nox)) if run]
    return max(runs, key=lambda run: run.found.at if run.found else -1, default=None)


def _run(
    runner: str, lines: Sequence[str], events: Callable[[Sequence[str]], Iterator[tuple[int, _Event]]]
) -> Environments | None:
    ended: dict[str, Verdict | None] = {}
    begun: set[str] = set()
    over = False
    last: int | None = None
    for at, event in events(lines):
        if event.kind == "begins":
            if over:
                ended, begun, over = {}, set(), False
            begun.add(event.name)
        elif event.kind == "ended":
            ended[event.name] = event.verdict
            last = at
        else:
            over = True
            last = at
    if last is None and not begun:
        return None
    tally = Tally()
    for verdict in ended.values():
        tally.count(verdict)
    over = over or (runner == "nox" and len(ended) == 1 and begun <= ended.keys())
    found = tally.found(runner, last, final=over) if last is not None and ended else None
    return Environments(found, len(ended), underway=not over)


def _tox(lines: Sequence[str]) -> Iterator[tuple[int, _Event]]:
    in_summary = False
    for at, line in enumerate(lines):
        if begins := _TOX_BEGINS.fullmatch(line) or _OLD_TOX_BEGINS.fullmatch(line):
            in_summary = False
            yield at, _Event("begins", begins[1])
        elif ended := _TOX_ENDED.fullmatch(line) or _OLD_TOX_ENDED.fullmatch(line):
            yield at, _Event("ended", ended[1], _VERDICTS[ended[2]])
        elif in_summary and (bad := _OLD_TOX_BAD.fullmatch(line)):
            yield at, _Event("ended", bad[2], _VERDICTS[bad[1]])
        elif _TOX_OVER.fullmatch(line):
            yield at, _Event("over")
        elif _OLD_TOX_SUMMARY.fullmatch(line):
            in_summary = True
            yield at, _Event("over")


def _nox(lines: Sequence[str]) -> Iterator[tuple[int, _Event]]:
    for at, line in enumerate(lines):
        if begins := _NOX_BEGINS.fullmatch(line):
            yield at, _Event("begins", begins[1])
        elif ended := _NOX_ENDED.fullmatch(line) or _NOX_SUMMED.fullmatch(line):
            yield at, _Event("ended", ended[1], _VERDICTS[ended[2]])
        elif _NOX_SUMMARY.fullmatch(line):
            yield at, _Event("over")
