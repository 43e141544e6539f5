"""Which processes may stem from a leader, told by their ids alone."""

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from showcaller.transport.worker import descendants, process_table
from showcaller.transport.worker.descendants import Family, started_between, turns_around
from showcaller.transport.worker.process_table import last_process_id, process_ids


@pytest.mark.parametrize(
    ("leader", "pid", "last", "expected"),
    [
        (100, 101, 120, True),
        (100, 120, 120, True),
        (100, 99, 120, False),
        (100, 100, 120, False),
        (100, 121, 120, False),
        (100, 30_000, 120, False),
        (30_000, 30_001, 50, True),
        (30_000, 50, 50, True),
        (30_000, 51, 50, False),
        (30_000, 29_999, 50, False),
    ],
)
def test_ids_between_the_leader_and_the_last_one_are_young(
    leader: int, pid: int, last: int, expected: bool
) -> None:
    assert started_between(leader, pid, last) is expected


def test_the_last_id_is_that_of_a_process_just_started_or_of_a_later_one() -> None:
    before = last_process_id()
    child = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    after = last_process_id()
    assert before is not None
    assert after is not None
    assert started_between(before, int(child.stdout), after)
    assert not started_between(before, os.getpid(), after)


def test_turns_around_holds_the_outer_turns() -> None:
    assert turns_around({}, "msg_a") == "msg_a"
    assert turns_around({"SHOWCALLER_TURNS": "msg_a msg_b"}, "msg_c") == "msg_a msg_b msg_c"


@pytest.mark.parametrize("foreign", ["secret", "msg_", "msg_a;b", "--", "msg_\x1b[1m", "x" * 200_000])
def test_turns_around_hands_on_marks_and_nothing_else_that_stands_there(foreign: str) -> None:
    assert turns_around({"SHOWCALLER_TURNS": f" {foreign} msg_a\n{foreign}"}, "msg_c") == "msg_a msg_c"


@contextmanager
def running(turn: str = "") -> "Generator[subprocess.Popen[bytes]]":
    """Have a process run in a session of its own that bears the mark of a turn."""
    environment = {**os.environ, descendants.TURNS_VARIABLE: turn}
    with subprocess.Popen(["sleep", "1000"], start_new_session=True, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_process_that_begins_while_it_is_looked_for_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon does that: one process leaves the next and ends, just when its command has ended."""
    with running() as leader, running("msg_a") as member:
        family = Family(leader.pid, "msg_a", 0.0, set())
        with running() as gone:
            pass
        listed = itertools.chain([[leader.pid, gone.pid]], iter(process_ids, []))
        monkeypatch.setattr(descendants, "process_ids", lambda: next(listed))
        assert family.members(1.0) == [member.pid]


def test_nobody_is_looked_for_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as leader:
        looks = iter([[leader.pid], *([0] for _ in range(1 + descendants.LOOKS))])
        monkeypatch.setattr(descendants, "process_ids", lambda: next(looks))
        family = Family(leader.pid, "msg_a", 0.0, set())
        assert family.members(1.0) == [], "where nobody has gone, one look is enough"
        assert family.members(1.0) == []
        assert next(looks, None) is None


@pytest.mark.parametrize("act", ["look", "kill"])
def test_what_just_becomes_another_program_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """For a moment it has no environment, and could not be told from a stranger."""
    with running() as leader, running("msg_a") as member:
        looks: list[int] = []

        def is_blank(pid: int) -> bool:
            return pid == member.pid and len(looks) < 30

        def ids() -> list[int]:
            looks.append(1)
            return [leader.pid, member.pid]

        monkeypatch.setattr(descendants, "process_ids", ids)
        monkeypatch.setattr(
            descendants,
            "markers_of",
            lambda pid, variable: None if is_blank(pid) else process_table.markers_of(pid, variable),
        )
        family = Family(leader.pid, "msg_a", 0.0, set())
        if act == "look":
            assert family.members(1.0) == [member.pid]
        else:
            assert family.signal_strays(signal.SIGKILL, 1.0) == {member.pid}
            assert member.wait() == -signal.SIGKILL
        assert len(looks) >= 30


@pytest.mark.parametrize(
    ("read", "told_afterwards", "markers"),
    [
        pytest.param(b"", 12, None, id="it was becoming another program, and is one by now"),
        pytest.param(b"", None, None, id="it becomes another program"),
        pytest.param(b"", 0, [], id="it has an empty environment"),
        pytest.param(b"SHOWCALLER_TURNS=msg_a msg_b\0", None, ["msg_a", "msg_b"], id="it was read in time"),
    ],
)
def test_no_environment_is_not_an_empty_one(
    monkeypatch: pytest.MonkeyPatch, read: bytes, told_afterwards: int | None, markers: list[str] | None
) -> None:
    """Its size may be read before it has gone, or after it is there again."""
    stat = process_table.stat_of(os.getpid())
    assert stat is not None
    monkeypatch.setattr(process_table, "_read", lambda path, limit: read)
    monkeypatch.setattr(process_table, "stat_of", lambda pid: stat._replace(environment=told_afterwards))
    assert process_table.markers_of(1, descendants.TURNS_VARIABLE) == markers


def test_a_command_that_forever_becomes_another_program_is_a_member(tmp_path: Path) -> None:
    """It is without an environment again and again, whenever it is looked at."""
    script = tmp_path / "again"
    script.write_text('#!/bin/sh\nexec "$0"\n')
    script.chmod(0o755)
    with running() as leader:
        environment = {**os.environ, descendants.TURNS_VARIABLE: "msg_a"}
        with subprocess.Popen([script], start_new_session=True, env=environment) as member:
            try:
                family = Family(leader.pid, "msg_a", 0.0, set())
                assert [family.members(1.0) for _ in range(200)] == [[member.pid]] * 200
            finally:
                member.kill()


def test_an_empty_environment_is_told_at_once() -> None:
    """Asked once it answers: it counts as started a moment before its environment is there."""
    with subprocess.Popen(["/bin/cat"], env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stranger:
        try:
            assert stranger.stdin is not None
            assert stranger.stdout is not None
            stranger.stdin.write(b"are you there?\n")
            stranger.stdin.flush()
            assert stranger.stdout.readline() == b"are you there?\n"
            assert process_table.markers_of(stranger.pid, descendants.TURNS_VARIABLE) == []
        finally:
            stranger.kill()
