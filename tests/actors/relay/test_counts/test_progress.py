"""What is known while a run goes on."""

import pytest

from tests.actors.relay.test_counts.reading import Read, read

START = "============================= test session starts =============================="


class TestPytest:
    def test_a_run_that_has_just_begun_has_counted_nothing(self) -> None:
        assert read(START, "collecting ...") == Read("pytest", 0, 0, 0, final=False)

    def test_letters_are_counted(self) -> None:
        lines = ["tests/test_a.py ..F.sx                     [ 40%]", "tests/test_b.py ..E"]
        assert read(START, *lines) == Read("pytest", 5, 2, 2, final=False)

    def test_letters_that_go_on_in_the_next_line_are_counted(self) -> None:
        assert read(START, "a/test_a.py ..... [ 30%]", "..F   [ 60%]") == Read("pytest", 7, 1, 0, final=False)

    def test_letters_of_a_quiet_run_are_counted_by_their_share(self) -> None:
        assert read("......F.s [ 10%]") == Read("pytest", 7, 1, 1, final=False)
        assert read("......F.s [ 9/90]") == Read("pytest", 7, 1, 1, final=False)

    def test_names_are_counted(self) -> None:
        lines = [
            "tests/test_a.py::test_one PASSED                [ 20%]",
            "tests/test_a.py::TestIt::test_two[a b-(c)] FAILED   [ 40%]",
            "tests/test_a.py::test_three SKIPPED (needs (a lot) more) [ 60%]",
            "tests/test_a.py::test_four XFAIL (soon)",
            "tests/test_a.py::test_five ",
        ]
        assert read(START, *lines) == Read("pytest", 1, 1, 2, final=False)

    def test_names_from_several_workers_are_counted(self) -> None:
        lines = [
            "[gw0] [ 10%] PASSED tests/test_a.py::test_one",
            "[gw1] [ 20%] FAILED tests/test_b.py::test_two",
        ]
        assert read(START, *lines) == Read("pytest", 1, 1, 0, final=False)

    def test_a_new_run_begins_anew(self) -> None:
        assert read("= 9 passed in 0.10s =", START, "test_a.py .") == Read("pytest", 1, 0, 0, final=False)
        assert read(START, "test_a.py ...F", START, "test_a.py .") == Read("pytest", 1, 0, 0, final=False)


class TestUnittest:
    def test_verbose_names_are_counted(self) -> None:
        lines = [
            "test_one (demo.Test.test_one) ... ok",
            "test_two (demo.Test.test_two)",
            "It does the second thing. ... FAIL",
            "test_three (demo.Test) ... skipped 'later'",
            "test_four (demo.Test.test_four) ... ",
        ]
        assert read(*lines) == Read("unittest", 1, 1, 1, final=False)

    def test_the_total_alone_is_no_result_yet(self) -> None:
        assert read("Ran 5 tests in 0.1s") is None


class TestVitest:
    def test_the_picture_of_a_running_one_is_not_final(self) -> None:
        picture = (
            " Test Files 1 failed | 2 passed (9)\n      Tests 1 failed | 30 passed (90)\n   Duration 3.1s"
        )
        assert read(picture) == Read("vitest", 30, 1, 0, final=False)


class TestNode:
    def test_tests_are_counted_and_suites_are_not(self) -> None:
        lines = [
            "▶ suite",
            "  ✔ one (0.5ms)",
            "  ✖ two (1.5ms)",
            "  ﹣ three (0.1ms) # SKIP",
            "✖ suite (3.2ms)",
        ]
        assert read(*lines) == Read("node", 1, 1, 1, final=False)


class TestGo:
    def test_a_package_that_has_not_ended_is_not_final(self) -> None:
        lines = ["=== RUN   TestA", "--- PASS: TestA (0.01s)", "ok      demo/a  0.01s", "=== RUN   TestB"]
        assert read(*lines) == Read("go", 1, 0, 0, final=False)


class TestCargo:
    def test_tests_of_the_target_that_runs_are_added_to_those_before(self) -> None:
        lines = [
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "     Running tests/it.rs (target/debug/deps/it-a690)",
            "running 9 tests",
            "test one ... ok",
            "test two - should panic ... FAILED",
            "test three ... ignored, slow",
        ]
        assert read(*lines) == Read("cargo", 3, 1, 1, final=False)
        assert read(*lines[:2]) == Read("cargo", 2, 0, 0, final=False)


def test_nextest_counts_what_has_ended() -> None:
    lines = [
        "    Starting 5 tests across 2 binaries (1 test skipped)",
        "        PASS [   0.004s] (1/5) demo tests::one",
        "        SLOW [> 60.000s] demo tests::two",
        "  TRY 1 FAIL [   0.004s] demo tests::three",
        "        FAIL [   0.004s] demo tests::four",
        "     TIMEOUT [  60.004s] demo tests::five",
        "        LEAK [   0.104s] demo tests::six",
    ]
    assert read(*lines) == Read("nextest", 2, 2, 0, final=False)


def test_phpunit_counts_letters() -> None:
    assert read("..F.S.E.I  9 / 90 ( 10%)") == Read("phpunit", 5, 2, 2, final=False)


def test_ctest_counts_what_has_ended() -> None:
    lines = [
        "Test project /srv/me/demo/build",
        "      Start  1: one",
        " 1/12 Test  #1: one ..............   Passed    0.01 sec",
        " 2/12 Test  #2: two ..............***Failed    0.01 sec",
        " 3/12 Test  #3: three ............***Skipped   0.01 sec",
        " 4/12 Test  #4: four .............***Exception: SegFault  0.01 sec",
        "      Start  5: five",
    ]
    assert read(*lines) == Read("ctest", 1, 2, 1, final=False)


PYTEST_ENDED = "===== 5 passed in 0.1s ====="


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a: commands[0]> pytest", START, "test_a.py ..F"], ("pytest", 2, 1, 0)),
        (["a: commands[0]> pytest", PYTEST_ENDED], ("pytest", 5, 0, 0)),
        ([PYTEST_ENDED, "a: OK ✔ in 1.39 seconds", "b: commands[0]> pytest"], ("tox", 1, 0, 0)),
        (["nox > Running session a", PYTEST_ENDED], ("pytest", 5, 0, 0)),
        (["nox > Session a was successful.", "nox > Running session b"], ("nox", 1, 0, 0)),
    ],
)
def test_in_tox_and_nox_nothing_is_final_before_their_own_end(
    lines: list[str], expected: tuple[str, int, int, int]
) -> None:
    assert read(*lines) == Read(*expected, final=False)


def test_an_environment_that_has_begun_has_no_counts_yet() -> None:
    assert read("nox > Running session a") is None
