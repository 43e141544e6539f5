"""Which of the known runners has written last."""

import re
from collections.abc import Sequence
from typing import Final

from showcaller.actors.contract.views import TaskCounts
from showcaller.actors.relay.test_counts.ctest import ctest
from showcaller.actors.relay.test_counts.environments import environments
from showcaller.actors.relay.test_counts.go import go_test, gotestsum
from showcaller.actors.relay.test_counts.javascript import jest, mocha, node, vitest
from showcaller.actors.relay.test_counts.jvm import gradle, junit, maven
from showcaller.actors.relay.test_counts.phpunit import phpunit
from showcaller.actors.relay.test_counts.python import pytest, unittest
from showcaller.actors.relay.test_counts.rspec import rspec
from showcaller.actors.relay.test_counts.rust import cargo_test, nextest
from showcaller.actors.relay.test_counts.tally import Found, Recognizer

_RECOGNIZERS: Final[tuple[Recognizer, ...]] = (
    pytest,
    unittest,
    vitest,
    jest,
    mocha,
    node,
    go_test,
    gotestsum,
    cargo_test,
    nextest,
    maven,
    gradle,
    junit,
    rspec,
    phpunit,
    ctest,
)
_LONGEST: Final = 500
"""No runner tells counts in longer lines, and patterns over short ones take next to no time."""

_REPEATED: Final = re.compile(r" \[×\d+\]$")


def count_tests(lines: Sequence[str]) -> TaskCounts | None:
    """Count the tests of the last run that stands in a program's output.

    Known are pytest, unittest, tox, nox, vitest, jest, mocha, Node's test runner, go test, cargo test,
    nextest, Maven, Gradle, JUnit, RSpec, PHPUnit and ctest. Only whole lines in the runner's own form are
    taken: prose that speaks of tests gives nothing. tox and nox count their environments, or the tests of
    their only one.

    Args:
        lines: the last lines of the output, oldest first, as ``render_tail`` gives them.

    Returns:
        The counts of the run that wrote last: ``final`` when its summary was seen, else what its progress
        shows so far. None when nothing of a known runner is in the lines.

    """
    read = [_REPEATED.sub("", line) if len(line) <= _LONGEST else "" for line in lines]
    tests = _latest([recognize(read) for recognize in _RECOGNIZERS])
    around = environments(read)
    if around is None:
        return tests.counts if tests else None
    if around.underway:
        latest = _latest([tests, around.found])
        return latest.counts.model_copy(update={"final": False}) if latest else None
    if tests and (around.ended == 1 or around.found is None or around.found.at < tests.at):
        return tests.counts
    return around.found.counts if around.found else None


def _latest(found: Sequence[Found | None]) -> Found | None:
    return max((each for each in found if each), key=lambda each: each.at, default=None)
