"""Commands that fork, ignore signals, close their output or flood it end in order and leave nobody behind."""

from pathlib import Path

import pytest

from tests.e2e.program import Showcaller, alive


def pids(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "pids").read_text().split()]


@pytest.mark.parametrize(
    "command",
    [
        "sleep 1000 & echo $! >> pids; echo {}",
        "(sleep 1000 & echo $! >> pids); echo {}",
        "setsid sleep 1000 & echo $! >> pids; echo {}",
        "sh -c 'trap \"\" TERM HUP; sleep 1000' & echo $! >> pids; echo {}",
    ],
    ids=["background", "grandchild", "own session", "ignores signals"],
)
def test_what_a_command_leaves_in_the_background_ends_with_it(showcaller: Showcaller, command: str) -> None:
    ended = showcaller("fanout", command, "a", "b", "--json")
    assert ended.code == 0, ended.err
    assert all(result["reply"].strip() == result["item"] for result in ended.results)
    assert len(pids(showcaller.folder)) == 2
    assert alive(pids(showcaller.folder)) == []


@pytest.mark.slow
def test_a_command_that_ignores_sigterm_is_killed_after_its_timeout(showcaller: Showcaller) -> None:
    """It takes the five seconds that a command has to end by itself."""
    command = "echo $$ >> pids; trap '' TERM; echo {}; while :; do sleep 1000; done"
    ended = showcaller("fanout", command, "a", "--timeout", "300ms", "--json")
    assert (ended.code, ended.results[0]["status"]) == (1, "failed")
    assert alive(pids(showcaller.folder)) == []


def test_a_command_that_closes_its_output_early_still_ends_with_its_exit_code(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", "echo {}; exec >&- 2>&-; [ -d / ]; exit 7", "a", "--json")
    assert (ended.results[0]["exitCode"], ended.results[0]["reply"]) == (7, "a\n")


def test_a_command_that_floods_its_output_keeps_its_beginning_and_its_end(showcaller: Showcaller) -> None:
    command = "echo first {}; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last {}"
    ended = showcaller("fanout", command, "a", "--json")
    reply = ended.results[0]["reply"]
    assert ended.code == 0
    assert reply.startswith("first a\n")
    assert reply.endswith("last a\n")
    assert len(reply) < 2_000_000


def test_a_command_killed_by_a_signal_has_failed(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", ": {}; kill -9 $$", "a", "--json")
    assert (ended.code, ended.results[0]["status"]) == (1, "failed")


def test_a_command_reads_nothing_from_the_terminal(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", "cat; echo {}", "a", "--json", stdin="not for commands\n")
    assert ended.results[0]["reply"] == "a\n"


def test_a_missing_program_fails_with_what_the_shell_says(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", "no-such-program-here {}", "a", "--json")
    assert (ended.results[0]["status"], ended.results[0]["exitCode"]) == ("failed", 127)
    assert "no-such-program-here" in ended.results[0]["reply"]


def test_bytes_that_are_no_text_come_back_as_replacements(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", "printf 'a\\377b'; : {}", "x", "--json")
    assert ended.results[0]["reply"] == "a\N{REPLACEMENT CHARACTER}b"
