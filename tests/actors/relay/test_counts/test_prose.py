"""Text that only speaks of tests gives no counts."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.relay.test_counts import count_tests
from tests.actors.relay.test_counts.reading import Read, read

PROSE = [
    "3 passed",
    "All 3 passed in 2s, great.",
    "I ran the tests: 3 passed, 1 failed in 0.12s.",
    "> 3 passed in 0.12s",
    "# ===== 3 passed in 0.12s =====",
    "E   ===== 1 failed in 0.01s =====",
    "3 builds passed, 1 failed in 2.0s",
    "4 apples in 3.50s",
    "Tests: 3 passed",
    "Tests  passed",
    "Tests:       all of them, 9 total",
    "      Tests  12 passed (12)",
    "OK",
    "OK (skipped)",
    "FAILED (failures=1)",
    "Ran 3 tests in 2 minutes",
    "we have 12 passing (and 2 failing)",
    "12 passing",
    "  2 failing",
    "ok",
    "ok then",
    "ok 1 - a TAP line",
    "FAIL",
    "FAIL src/a.test.js",
    "--- FAIL: it did not work",
    "test result: ok",
    "test it again ... ok",
    "running 3 tests",
    "Tests run: 3",
    "the log says Tests run: 3, Failures: 0, Errors: 0, Skipped: 0",
    "10 examples of failures",
    "10 examples, 0 failures were found by hand",
    "Tests: 3, Assertions: 4 and so on",
    "tests passed: 100%",
    "100% tests passed",
    "...",
    "setup.py ...",
    "Loading module.py ....",
    "see tests/test_a.py::test_one PASSED",
    "tests/test_a.py::test_one PASSED",
    "✔ done",
    "✔ Compiled successfully in 1.2s",
    "✔ Container demo-1 (1.2s)",
    "\u2139 tests 5",
    "# tests 5",
    "5 tests completed",
    "> Task :compileTestJava",
    "BUILD SUCCESSFUL in 3s",
    "lint: OK",
    "lint: OK in all files",
    "congratulations :)",
    "nox > Creating virtual environment",
    "Summary [ 3.1s] all good",
    "PASS [ 3.1s]",
    "     Running target/debug/demo --port 80",
    "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.1s",
]  # fmt: skip


@pytest.mark.parametrize("line", PROSE)
def test_a_line_of_prose_gives_nothing(line: str) -> None:
    assert read(line) is None


def test_all_of_them_together_give_nothing_final() -> None:
    so_far = read(*PROSE)
    assert so_far is None or not so_far.final


def test_no_lines_give_nothing() -> None:
    assert count_tests([]) is None


def test_a_repeated_line_is_read_without_its_mark() -> None:
    assert read("3 passed in 0.12s [×2]") == Read("pytest", 3, 0, 0)


def test_numbers_too_large_for_any_run_are_no_counts() -> None:
    assert read(f"{'9' * 400} passed in 0.12s") is None
    assert read("9999999999 passed in 0.12s") is None


FRAGMENTS = st.sampled_from(
    [
        *(
            "3 passed",
            " in 0.1s",
            "= ",
            "Tests:  ",
            "1 failed | ",
            "(1)",
            "ok",
            " ... ",
            "test ",
            "a.py::b ",
            "[ 1%]",
        ),
        *(
            "nox > ",
            "Session a ",
            "failed",
            "a: OK in 1",
            "running 1 test",
            "✔ a (1.0ms)",
            "▶ a",
            "\n",
            "[×2]",
            "  ",
        ),
        *(
            "Test project /",
            "1/1 Test #1: a ",
            "Passed 1.0 sec",
            "> Task :test",
            " > a PASSED",
            "...F",
            "\n\nOK",
        ),
    ]
)


@given(st.lists(FRAGMENTS | st.text(max_size=2), max_size=40).map("".join))
def test_whatever_comes_counts_are_none_or_numbers(text: str) -> None:
    counts = count_tests(text.split("\n"))
    assert counts is None or min(counts.passed, counts.failed, counts.skipped) >= 0


@pytest.mark.parametrize(
    "piece",
    [
        "a::",
        " A",
        "(",
        " > a",
        "1 passed, ",
        "=",
        "test ",
        " ... ok",
        "ok ",
        "***",
        " ",
        ".",
        "[",
        "a=1, ",
        "A: 1, ",
        "1 of ",
    ],
)
@pytest.mark.parametrize(
    "first", ["", "Tests:", "1/1 Test #1: ", "1 passed", "a::b ", "nox > * a: ", "--- PASS: "]
)
def test_lines_made_to_be_slow_are_not(piece: str, first: str) -> None:
    line = (first + piece * 500)[:499]
    began = process_time()
    count_tests([line + "!"] * 40 + [piece * 20_000])
    assert process_time() - began < 1, "it takes hundredths of a second"
