"""Outputs that the runners really wrote, of a few tests that end in every way they know."""

import pytest

from showcaller.actors.relay.terminal_text import render_tail
from tests.actors.relay.test_counts.reading import SAMPLES, Read, raw, read, rendered

ENDED = {
    "cargo-coloured": Read("cargo", 4, 1, 1),
    "cargo-nothing": Read("cargo", 0, 0, 0),
    "cargo-quiet": Read("cargo", 2, 1, 1),
    "ctest": Read("ctest", 1, 3, 2),
    "ctest-nothing": Read("ctest", 0, 0, 0),
    "go": Read("go", 1, 1, 1),
    "go-not-built": Read("go", 1, 2, 0),
    "go-nothing": Read("go", 0, 0, 1),
    "go-verbose": Read("go", 3, 3, 1),
    "jest-26-coloured": Read("jest", 2, 1, 2),
    "jest-coloured": Read("jest", 2, 1, 2),
    "jest-nothing": Read("jest", 0, 0, 0),
    "jest-terminal": Read("jest", 6, 1, 2),
    "jest-verbose": Read("jest", 2, 1, 2),
    "mocha-8-coloured": Read("mocha", 2, 1, 1),
    "mocha-coloured": Read("mocha", 2, 1, 1),
    "mocha-passed": Read("mocha", 1, 0, 0),
    "node-18": Read("node", 3, 2, 2),
    "node-24-terminal": Read("node", 3, 2, 2),
    "node-spec": Read("node", 3, 2, 2),
    "node-tap": Read("node", 3, 2, 2),
    "nox": Read("nox", 1, 1, 1),
    "nox-one": Read("nox", 1, 0, 0),
    "pytest-6-coloured": Read("pytest", 4, 3, 2),
    "pytest-7-quiet": Read("pytest", 4, 3, 2),
    "pytest-8-distributed": Read("pytest", 4, 3, 2),
    "pytest-collection-error": Read("pytest", 0, 1, 0),
    "pytest-deselected": Read("pytest", 3, 0, 0),
    "pytest-failures-coloured": Read("pytest", 4, 4, 2),
    "pytest-nothing": Read("pytest", 0, 0, 0),
    "pytest-quiet": Read("pytest", 4, 4, 2),
    "pytest-verbose": Read("pytest", 4, 4, 2),
    "tox": Read("tox", 1, 1, 1),
    "tox-one": Read("pytest", 1, 0, 0),
    "unittest": Read("unittest", 1, 4, 2),
    "unittest-verbose": Read("unittest", 1, 4, 2),
    "vitest-1-coloured": Read("vitest", 2, 1, 2),
    "vitest-3-terminal": Read("vitest", 2, 1, 2),
    "vitest-coloured": Read("vitest", 2, 1, 2),
    "vitest-nothing": Read("vitest", 0, 0, 0),
    "vitest-terminal": Read("vitest", 2, 1, 2),
}
# A run of several packages or environments has a last word for each.
SEVERAL_ENDS = ("cargo", "go", "tox", "nox")
ONE_END = [sample for sample in ENDED if not sample.startswith(SEVERAL_ENDS)]


def test_every_stored_output_is_read_here() -> None:
    assert {path.stem for path in SAMPLES.glob("*.txt")} == ENDED.keys() | {"pytest-without-summary"}


@pytest.mark.parametrize(("sample", "expected"), ENDED.items(), ids=str)
def test_the_counts_of_a_run_that_has_ended(sample: str, expected: Read) -> None:
    assert read(*rendered(sample)) == expected


@pytest.mark.parametrize(("sample", "expected"), ENDED.items(), ids=str)
def test_what_others_wrote_around_it_changes_nothing(sample: str, expected: Read) -> None:
    before = ["$ make check", "3 passed, 1 failed, says the README", "Tests: see below", "ok"]
    after = ["", "make: *** [check] Error 1", "12 tests were run in 3 files", "Done in 2.1s."]
    assert read(*before, *rendered(sample), *after) == expected


@pytest.mark.parametrize("sample", ONE_END)
def test_counts_are_not_final_before_the_summary(sample: str) -> None:
    lines = rendered(sample)
    ends = [at for at in range(len(lines)) if (so_far := read(*lines[:at])) and so_far.final]
    beginnings = [read(*lines[:at]) for at in range(len(lines))]

    first = ends[0] if ends else len(lines)
    assert all(so_far is None or not so_far.final for so_far in beginnings[:first])
    assert ends == list(range(first, len(lines))), "once final, it stays so"


@pytest.mark.parametrize("sample", ["pytest-verbose", "node-spec", "unittest-verbose", "ctest"])
def test_counts_only_grow_until_the_summary(sample: str) -> None:
    lines = rendered(sample)
    totals = []
    for at in range(len(lines)):
        so_far = read(*lines[:at])
        if so_far and not so_far.final:
            totals.append(so_far.passed + so_far.failed + so_far.skipped)

    assert totals == sorted(totals)
    assert totals[-1] >= 6


@pytest.mark.parametrize("sample", ["pytest-verbose", "pytest-failures-coloured", "pytest-8-distributed"])
def test_a_line_that_is_half_written_takes_nothing_back(sample: str) -> None:
    written = raw(sample)
    beginnings = (read(*render_tail(written[:length], 500).lines) for length in range(0, len(written), 4))
    totals = [each.passed + each.failed + each.skipped for each in beginnings if each and not each.final]

    assert totals == sorted(totals)


@pytest.mark.parametrize(
    "sample", ["vitest-terminal", "vitest-3-terminal", "jest-terminal", "pytest-verbose"]
)
def test_nothing_is_final_before_all_was_written(sample: str) -> None:
    written = raw(sample)
    beginnings = [read(*render_tail(written[:length], 500).lines) for length in range(0, len(written), 15)]
    finals = [each for each in beginnings if each and each.final]

    assert len(finals) < len(beginnings) / 4
    assert set(finals) <= {ENDED[sample]}


@pytest.mark.parametrize(
    "sample", ["vitest-terminal", "vitest-3-terminal", "jest-terminal", "pytest-verbose"]
)
def test_the_end_of_an_output_is_enough_wherever_it_was_cut(sample: str) -> None:
    written = raw(sample)
    for start in range(1, len(written) // 2, 15):
        assert read(*render_tail(written[start:], 500, cut=True).lines) == ENDED[sample]


def test_a_run_whose_summary_was_turned_off_has_what_its_progress_told() -> None:
    assert read(*rendered("pytest-without-summary")) == Read("pytest", 4, 3, 2, final=False)


@pytest.mark.parametrize("sample", ENDED)
def test_of_two_runs_the_later_one_counts(sample: str) -> None:
    other = (
        "===== 5 passed in 0.10s =====" if not sample.startswith("pytest") else "Ran 5 tests in 0.1s\n\nOK"
    )
    assert read(*rendered(sample), other) == (
        Read("unittest" if sample.startswith("pytest") else "pytest", 5, 0, 0)
    )
