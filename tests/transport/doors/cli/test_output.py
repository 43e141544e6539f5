"""Standard output holds the results and nothing else, and its loss is told."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.transport.doors.cli.fake import GROUP
from tests.transport.doors.cli.process import PROGRAM, program

WRITES_TO_STANDARD_OUTPUT = """lambda number: (
        print("printed", number),
        os.write(1, b"written\\n"),
        os.system("echo by a process"),
    )"""


@pytest.mark.parametrize("form", ["jsonl", "csv", "table"])
def test_what_others_write_to_standard_output_goes_to_standard_error(home: Path, form: str) -> None:
    with program(WRITES_TO_STANDARD_OUTPUT, home, "echo {}", "a", "b", "--format", form) as process:
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert [out.count(reply) for reply in ("1 a", "2 b")] == [1, 1]
    for words in ("printed 1", "written", "by a process", "printed 2"):
        assert words in err
        assert words not in out


def test_what_outlives_the_run_writes_nothing_among_its_results(home: Path) -> None:
    late = "lambda number: threading.Timer(0.2, print, ['late']).start()"
    with program(late, home, "echo {}", "a", "--json") as process:
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "late" in err
    assert [next(iter(json.loads(line))) for line in out.splitlines()] == ["item", "summary"]


def started_with(redirection: str, home: Path) -> "subprocess.CompletedProcess[str]":
    """Run a fan-out whose item prints, started by a shell with a redirection."""
    prints = PROGRAM.format(before='lambda number: print("printed")')
    return subprocess.run(
        [
            "sh",
            "-c",
            f'exec "$@" {redirection}',
            "sh",
            sys.executable,
            "-c",
            prints,
            "fanout",
            "echo {}",
            "a",
        ],
        env={**os.environ, "SHOWCALLER_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_standard_output_nothing_is_started(home: Path) -> None:
    ended = started_with(">&-", home)
    assert ended.returncode == 1
    assert ended.stderr == "Error: Cannot write to standard output: Bad file descriptor.\n"


def test_without_a_standard_error_the_results_come_all_the_same(home: Path) -> None:
    ended = started_with("2>&-", home)
    assert (ended.returncode, len(ended.stdout.splitlines())) == (0, 2)


def test_results_that_cannot_be_written_stop_the_run_and_say_why(home: Path) -> None:
    command = [sys.executable, "-c", PROGRAM.format(before="lambda number: None"), "--home", str(home)]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*command, "fanout", "echo {}", "a", "b", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    assert "1 done, 1 not started" in ended.stderr
    assert f"fanout --resume {GROUP}" in ended.stderr
    assert ended.stderr.endswith("Error: Cannot write to standard output: No space left on device.\n")


def test_notes_that_nobody_reads_do_not_end_the_run(home: Path) -> None:
    with program("lambda number: None", home, "echo {}", *map(str, range(20)), "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stderr.close()
        out = process.stdout.read()
    assert process.returncode == 0
    assert out.count("\n") == 21


def test_a_closed_pipe_stops_the_run_quietly(home: Path) -> None:
    with program("lambda number: None", home, "echo {}", *map(str, range(2_000)), "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["item"] == "0"
        process.stdout.close()
        err = process.stderr.read()
    assert process.returncode == 141
    assert "Traceback" not in err
    assert "Broken" not in err
    assert "not started" in err
