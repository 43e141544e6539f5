"""Which processes may stem from a leader, told by their ids alone."""

import os
import subprocess
import sys

import pytest

from showcaller.transport.worker.descendants import started_between, turns_around
from showcaller.transport.worker.process_table import last_process_id


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
