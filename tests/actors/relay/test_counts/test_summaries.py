"""The last words of the runners, in all their forms."""

import pytest

from tests.actors.relay.test_counts.reading import Read, read


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("=== 3 passed in 0.12s ===", Read("pytest", 3, 0, 0)),
        ("3 passed in 0.12s", Read("pytest", 3, 0, 0)),
        ("======= 1 failed, 2 passed in 3661.20s (1:01:01) =======", Read("pytest", 2, 1, 0)),
        ("2 failed, 1 passed, 3 skipped, 40 deselected, 1 warning in 1.00s", Read("pytest", 1, 2, 3)),
        ("= 1 passed, 2 xfailed, 3 xpassed, 4 errors, 5 rerun in 0.01s =", Read("pytest", 4, 4, 2)),
        ("= 1 passed, 1 error in 86401.00s (1 day, 0:00:01) =", Read("pytest", 1, 1, 0)),
        ("==== 7 passed, 2 warnings in 0.50 seconds ====", Read("pytest", 7, 0, 0)),
        ("======= no tests ran in 0.01s =======", Read("pytest", 0, 0, 0)),
        ("2 deselected in 0.01s", Read("pytest", 0, 0, 0)),
        ("1 failed, 4 subtests passed in 0.01s", Read("pytest", 0, 1, 0)),
    ],
)
def test_pytest(line: str, expected: Read) -> None:
    assert read(line) == expected


@pytest.mark.parametrize("counted", ["12 tests", "1 test", "no tests", "3/12 tests"])
def test_pytest_that_only_lists_tests_has_no_counts(counted: str) -> None:
    start = "============ test session starts ============"
    assert read(start, f"==== {counted} collected in 0.01s ====") is None


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Ran 5 tests in 0.001s\n\nOK", Read("unittest", 5, 0, 0)),
        ("Ran 1 test in 2s\n\nOK (skipped=1)", Read("unittest", 0, 0, 1)),
        (
            "Ran 9 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=3, expected failures=1)",
            Read("unittest", 2, 3, 4),
        ),
        ("Ran 2 tests in 0.1s\n\nFAILED (unexpected successes=1)", Read("unittest", 1, 1, 0)),
        ("Ran 1 test in 0.1s\n\nFAILED (failures=4)", Read("unittest", 0, 4, 0)),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", Read("unittest", 0, 0, 0)),
    ],
)
def test_unittest(lines: str, expected: Read) -> None:
    assert read("-" * 70, lines) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (" Test Files  1 passed (1)\n      Tests  12 passed (12)", Read("vitest", 12, 0, 0)),
        (" Test Files  1 failed (1)\n      Tests  no tests", Read("vitest", 0, 1, 0)),
        (
            " Test Files  2 failed | 1 passed (3)\n      Tests  1 failed | 4 passed (5)",
            Read("vitest", 4, 1, 0),
        ),
        (" Test Files  1 skipped (1)\n      Tests  3 skipped | 2 todo (5)", Read("vitest", 0, 0, 5)),
        (
            " Test Files  1 passed (1)\nType Errors  no errors\n      Tests  1 passed (1)",
            Read("vitest", 1, 0, 0),
        ),
    ],
)
def test_vitest(lines: str, expected: Read) -> None:
    assert read(lines) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Test Suites: 1 passed, 1 total\nTests:       3 passed, 3 total", Read("jest", 3, 0, 0)),
        ("Test Suites: 1 failed, 1 total\nTests:       0 total", Read("jest", 0, 1, 0)),
        (
            "Test Suites: 1 skipped, 2 passed, 2 of 3 total\nTests: 4 skipped, 3 passed, 7 total",
            Read("jest", 3, 0, 4, final=False),
        ),
        ("Tests:       1 failed, 2 todo, 3 passed, 6 total", Read("jest", 3, 1, 2)),
    ],
)
def test_jest(lines: str, expected: Read) -> None:
    assert read(lines) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("  12 passing (34ms)", Read("mocha", 12, 0, 0)),
        ("  12 passing (3s)\n  2 pending", Read("mocha", 12, 0, 2)),
        ("  0 passing (2m)\n  1 pending\n  3 failing\n\n  1) a suite", Read("mocha", 0, 3, 1)),
    ],
)
def test_mocha(lines: str, expected: Read) -> None:
    assert read(lines) == expected


def test_node_counts_the_cancelled_as_failed() -> None:
    summary = [
        "tests 9",
        "suites 1",
        "pass 3",
        "fail 1",
        "cancelled 2",
        "skipped 2",
        "todo 1",
        "duration_ms 50.1",
    ]
    assert read(*(f"\u2139 {line}" for line in summary)) == Read("node", 3, 3, 3)
    assert read(*(f"# {line}" for line in summary)) == Read("node", 3, 3, 3)
    assert read(*(f"# {line}" for line in summary[:-1])) is None


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("ok  \tdemo/a\t0.012s\nok  \tdemo/b\t(cached)", Read("go", 2, 0, 0)),
        ("ok  \tdemo/a\t0.012s\tcoverage: 81.2% of statements", Read("go", 1, 0, 0)),
        ("ok  \tdemo/a\t0.012s\tcoverage: 0.0% of statements [no tests to run]", Read("go", 0, 0, 1)),
        ("?   \tdemo/a\t[no test files]\nFAIL\tdemo/b [setup failed]\nFAIL", Read("go", 0, 1, 1)),
        ("panic: no\n\ngoroutine 1 [running]:\nFAIL\tdemo/b\t0.003s\nFAIL", Read("go", 0, 1, 0)),
        (
            "--- FAIL: TestA (0.00s)\n    a_test.go:1: no\nFAIL\nFAIL\tdemo/a\t0.001s\nFAIL",
            Read("go", 0, 1, 0),
        ),
        ("=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tdemo/a\t0.001s", Read("go", 1, 0, 0)),
        ("ok  \tdemo/a\t0.012s\nFAIL\tdemo/b\t0.1s\nok  \tdemo/a\t0.012s", Read("go", 1, 0, 0)),
    ],
)
def test_go(lines: str, expected: Read) -> None:
    assert read(lines.expandtabs()) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("DONE 10 tests in 0.103s", Read("go", 10, 0, 0)),
        ("DONE 1 test, 1 failure in 1.003s", Read("go", 0, 1, 0)),
        ("DONE 2 runs, 10 tests, 3 skipped, 2 failures, 1 error in 0.103s", Read("go", 5, 2, 3)),
    ],
)
def test_gotestsum(line: str, expected: Read) -> None:
    assert read("=== FAIL: demo/a TestBad (0.00s)", "ok  demo/b 0.1s", line) == expected


def test_cargo_adds_up_the_targets_of_one_build() -> None:
    build = "    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.1s"
    target = "     Running tests/it.rs (target/debug/deps/it-a690)\n\nrunning 1 test\ntest a ... ok\n"
    result = (
        "\ntest result: ok. 2 passed; 0 failed; 1 ignored; 3 measured; 9 filtered out; finished in 0.00s\n"
    )

    assert read(build, target, result, target, result) == Read("cargo", 4, 0, 2)
    assert read(build, target, result, build, target, result) == Read("cargo", 2, 0, 1)
    failed = "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out"
    assert read(failed) == Read("cargo", 1, 2, 0)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("10 tests run: 9 passed (1 slow, 2 flaky), 1 failed, 2 skipped", Read("nextest", 9, 1, 2)),
        ("1 test run: 1 passed, 0 skipped", Read("nextest", 1, 0, 0)),
        (
            "4/9 tests run: 1 passed, 1 failed, 1 timed out, 1 exec failed, 5 skipped",
            Read("nextest", 1, 3, 5),
        ),
        ("0 tests run: 0 passed, 3 skipped", Read("nextest", 0, 0, 3)),
    ],
)
def test_nextest(line: str, expected: Read) -> None:
    again = "        FAIL [   0.003s] demo tests::bad"
    assert read(f"     Summary [   0.013s] {line}", again) == expected


MAVEN_HEAD = "[INFO] Scanning for projects...\n[INFO] --- surefire:3.2.5:test (default-test) @ demo ---"
MAVEN_TOTAL = "[ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 1"
MAVEN_CLASS = f"{MAVEN_TOTAL}, Time elapsed: 0.05 s <<< FAILURE! -- in demo.ATest"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([MAVEN_HEAD, MAVEN_CLASS], Read("maven", 1, 2, 1, final=False)),
        ([MAVEN_HEAD, MAVEN_CLASS, MAVEN_TOTAL], Read("maven", 1, 2, 1)),
        ([MAVEN_HEAD, MAVEN_CLASS, MAVEN_TOTAL, MAVEN_CLASS], Read("maven", 2, 4, 2, final=False)),
        ([MAVEN_TOTAL, MAVEN_HEAD, MAVEN_TOTAL], Read("maven", 1, 2, 1)),
        (
            ["[INFO] Building one 1.0 [1/2]", MAVEN_TOTAL, "[INFO] Building two 1.0 [2/2]"],
            Read("maven", 1, 2, 1),
        ),
        (["[INFO] Building one 1.0     [1/2]", MAVEN_TOTAL], Read("maven", 1, 2, 1, final=False)),
        (["[INFO] Building one 1.0 [1/2]", MAVEN_TOTAL, "[INFO] BUILD FAILURE"], Read("maven", 1, 2, 1)),
        (["[WARNING] Tests run: 2, Failures: 0, Errors: 0, Skipped: 2"], Read("maven", 0, 0, 2)),
        (["Tests run: 2, Failures: 0, Errors: 0, Skipped: 0"], Read("maven", 2, 0, 0)),
    ],
)
def test_maven(lines: list[str], expected: Read) -> None:
    assert read(*lines) == expected


def test_gradle() -> None:
    task = "> Task :app:test FAILED"
    listed = "ATest > works() PASSED\nATest > fails(int) > [1] 3 FAILED\nATest > waits() SKIPPED"
    assert read("> Task :app:test", listed) == Read("gradle", 1, 1, 1, final=False)
    assert read("> Task :app:test", listed, "BUILD SUCCESSFUL in 3s") == Read("gradle", 1, 1, 1)
    assert read(task, listed, "5 tests completed, 1 failed, 1 skipped") == Read("gradle", 3, 1, 1)
    assert read(task, "12 tests completed, 12 failed", "", "BUILD FAILED in 1m 3s") == Read(
        "gradle", 0, 12, 0
    )


def test_junit() -> None:
    table = ["found", "skipped", "started", "aborted", "successful", "failed"]
    rows = [
        f"[{number:10d} tests {word:<10} ]" for number, word in zip([9, 1, 8, 2, 5, 1], table, strict=True)
    ]
    assert read(*rows) == Read("junit", 5, 1, 3)
    assert read("OK (5 tests)") == Read("junit", 5, 0, 0)
    assert read("FAILURES!!!", "Tests run: 5,  Failures: 2") == Read("junit", 3, 2, 0)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("10 examples, 0 failures", Read("rspec", 10, 0, 0)),
        ("1 example, 1 failure", Read("rspec", 0, 1, 0)),
        ("10 examples, 2 failures, 3 pending", Read("rspec", 5, 2, 3)),
        ("0 examples, 0 failures, 2 errors occurred outside of examples", Read("rspec", 0, 2, 0)),
    ],
)
def test_rspec(line: str, expected: Read) -> None:
    assert (
        read("Finished in 0.5 seconds (files took 0.1 seconds to load)", line, "", "Failed examples:")
        == expected
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("OK (5 tests, 10 assertions)", Read("phpunit", 5, 0, 0)),
        (
            "Tests: 9, Assertions: 8, Errors: 1, Failures: 2, Skipped: 1, Incomplete: 1, Risky: 1.",
            Read("phpunit", 4, 3, 2),
        ),
        ("Tests: 3, Assertions: 3, PHPUnit Deprecations: 2, Warnings: 1.", Read("phpunit", 3, 0, 0)),
        ("No tests executed!", Read("phpunit", 0, 0, 0)),
    ],
)
def test_phpunit(line: str, expected: Read) -> None:
    assert read(line) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("100% tests passed, 0 tests failed out of 12", Read("ctest", 12, 0, 0)),
        ("50% tests passed, 1 test failed out of 2", Read("ctest", 1, 1, 0)),
    ],
)
def test_ctest(lines: str, expected: Read) -> None:
    assert read(lines) == expected


TOX_FAILED = """\
  a: OK (1.2=setup[1.0]+cmd[0.2] seconds)
  b: FAIL code 1 (0.1 seconds)
  evaluation failed :( (1.3 seconds)"""
TOX_PASSED = """\
  a: OK (0.1 seconds)
  b: SKIP (0.1 seconds)
  congratulations :) (0.2 seconds)"""
TOX_3_FAILED = """\
py36 run-test: commands[0] | pytest
===== 5 passed in 0.1s =====
____ summary ____
  py36: commands succeeded
ERROR:   lint: commands failed
SKIPPED:  py27: InterpreterNotFound: python2.7"""
TOX_3_PASSED = """\
py36 run-test: commands[0] | pytest
===== 5 passed in 0.1s =====
____ summary ____
  py36: commands succeeded
  congratulations :)"""
NOX_FAILED = """\
nox > Running session a
nox > Running session b
nox > Ran multiple sessions:
nox > * a: success
nox > * b: aborted"""
NOX_PARAMETERS = """\
nox > Running session tests(a='1', b='2')
nox > Running session tests(a='1', b='3')
nox > Session tests(a='1', b='2') was successful in 2 seconds.
nox > Session tests(a='1', b='3') failed.
nox > Ran 2 sessions in 4 seconds:
nox > * tests(a='1', b='2'): success, took 2 seconds
nox > * tests(a='1', b='3'): failed, took 2 seconds"""
NOX_ONE = """\
nox > Running session a
===== 2 failed in 0.1s =====
nox > Session a failed."""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (TOX_FAILED, Read("tox", 1, 1, 0)),
        (TOX_PASSED, Read("tox", 1, 0, 1)),
        (TOX_3_FAILED, Read("tox", 1, 1, 1)),
        (TOX_3_PASSED, Read("pytest", 5, 0, 0)),
        (NOX_FAILED, Read("nox", 1, 1, 0)),
        (NOX_PARAMETERS, Read("nox", 1, 1, 0)),
        (NOX_ONE, Read("pytest", 0, 2, 0)),
        (f"{NOX_FAILED}\n= 5 passed in 0.1s =", Read("pytest", 5, 0, 0)),
    ],
)
def test_tox_and_nox(lines: str, expected: Read) -> None:
    assert read(lines) == expected
