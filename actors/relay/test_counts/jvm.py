"""Maven's Surefire and Failsafe, Gradle, and JUnit's own launchers."""

import re
from collections.abc import Sequence
from typing import Final

from showcaller.actors.relay.test_counts.tally import Found, Tally, Verdict, out_of

_MAVEN: Final = re.compile(
    r"(?:\[\w+\] +)?Tests run: (\d{1,9}), Failures: (\d{1,9}), Errors: (\d{1,9}), Skipped: (\d{1,9})"
    r"(?P<of_class>, Time elapsed: .*)?"
)
_SCANNING: Final = re.compile(r"\[INFO\] Scanning for projects\.\.\.")
_MODULE: Final = re.compile(r"\[INFO\] Building .*\[(\d+)/(\d+)\]")
_BUILT: Final = re.compile(r"\[INFO\] BUILD (?:SUCCESS|FAILURE)")


def maven(lines: Sequence[str]) -> Found | None:
    """Add up the results of all modules, and those of the classes in the module under test.

    Final with the results of the last module, or the end of the build.
    """
    modules, classes = Tally(), Tally()
    last: int | None = None
    in_class = more = False
    for at, line in enumerate(lines):
        if result := _MAVEN.fullmatch(line):
            total, failures, errors, skipped = (int(number) for number in result.groups()[:4])
            in_class = result["of_class"] is not None
            (classes if in_class else modules).add(out_of(total, failures + errors, skipped))
            if not in_class:
                classes = Tally()
            last = at
        elif module := _MODULE.fullmatch(line):
            more = module[1] != module[2]
        elif _BUILT.fullmatch(line):
            in_class = more = False
        elif _SCANNING.fullmatch(line):
            modules, classes, last, in_class, more = Tally(), Tally(), None, False, False
    if last is None:
        return None
    modules.add(classes)
    return modules.found("maven", last, final=not (in_class or more))


_TASK: Final = re.compile(r"> Task \S*:\w*[tT]est\w*(?: .*)?")
_GRADLE_TEST: Final = re.compile(r"\S.* > .*\S (PASSED|FAILED|SKIPPED)")
_COMPLETED: Final = re.compile(r"(\d{1,9}) tests? completed, (\d{1,9}) failed(?:, (\d{1,9}) skipped)?")
_GRADLE_BUILT: Final = re.compile(r"BUILD (?:SUCCESSFUL|FAILED) in .*")
_VERDICTS: Final[dict[str, Verdict]] = {"PASSED": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


def gradle(lines: Sequence[str]) -> Found | None:
    """Read what Gradle says of a test task that failed, or the tests that it was told to list."""
    ended, listed = Tally(), Tally()
    last: int | None = None
    in_task = built = False
    for at, line in enumerate(lines):
        if _TASK.fullmatch(line):
            ended.add(listed)
            listed, in_task, built = Tally(), True, False
        elif in_task and (test := _GRADLE_TEST.fullmatch(line)):
            listed.count(_VERDICTS[test[1]])
            last = at
        elif completed := _COMPLETED.fullmatch(line):
            ended.add(out_of(int(completed[1]), int(completed[2]), int(completed[3] or 0)))
            listed, in_task = Tally(), False
            last = at
        elif _GRADLE_BUILT.fullmatch(line):
            built = True
    if last is None:
        return None
    ended.add(listed)
    return ended.found("gradle", last, final=built or not in_task)


_LAUNCHER: Final = re.compile(r"\[ *(\d{1,9}) tests (found|skipped|started|aborted|successful|failed) *\]")
_JUNIT4_OK: Final = re.compile(r"OK \((\d{1,9}) tests?\)")
_JUNIT4_BAD: Final = re.compile(r"Tests run: (\d{1,9}),  ?Failures: (\d{1,9})")


def junit(lines: Sequence[str]) -> Found | None:
    """Read the table of JUnit's console launcher, or the line that JUnit 4 ends with."""
    found: Found | None = None
    table: dict[str, int] = {}
    for at, line in enumerate(lines):
        if row := _LAUNCHER.fullmatch(line):
            table[row[2]] = int(row[1])
            if row[2] == "failed":
                skipped = table.get("skipped", 0) + table.get("aborted", 0)
                found = Tally(table.get("successful", 0), table["failed"], skipped).found("junit", at)
                table = {}
        elif good := _JUNIT4_OK.fullmatch(line):
            found = Tally(passed=int(good[1])).found("junit", at)
        elif bad := _JUNIT4_BAD.fullmatch(line):
            found = out_of(int(bad[1]), int(bad[2]), 0).found("junit", at)
    return found
