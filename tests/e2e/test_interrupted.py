"""A fan-out that is cut off goes on where it was, and every item ends with exactly one recorded result."""

import json
import os
import re
import select
import signal
import subprocess
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tests.e2e.program import LIMIT, Bell, Ended, Showcaller, finish, group_of

QUICK = [f"quick-{number}" for number in range(5)]
SLOW = [f"slow-{number}" for number in range(4)]
LATE = [f"late-{number}" for number in range(5)]
ITEMS = QUICK + SLOW + LATE


def command(bell: Bell) -> str:
    """Ring at each start; a slow one then waits at the gate as long as the file ``hold`` is there."""
    return f"{bell.ring}; echo {{}}; case {{}} in slow*) [ ! -e hold ] || {bell.wait};; esac"


@contextmanager
def in_the_middle(showcaller: Showcaller, bell: Bell) -> "Generator[subprocess.Popen[str]]":
    """Start a fan-out and wait until all its jobs are taken by slow items."""
    (showcaller.folder / "hold").touch()
    with showcaller.start("fanout", command(bell), *ITEMS, "--jobs", "4", "--json") as process:
        assert sorted(bell.hear(len(QUICK + SLOW))) == sorted(QUICK + SLOW)
        yield process


def resume(showcaller: Showcaller, err: str, *options: str) -> Ended:
    (showcaller.folder / "hold").unlink()
    return showcaller("fanout", "--resume", group_of(err), "--json", *options)


def test_after_kill_9_in_the_middle_every_item_is_recorded_exactly_once(
    showcaller: Showcaller, bell: Bell
) -> None:
    with in_the_middle(showcaller, bell) as process:
        os.killpg(process.pid, signal.SIGKILL)
        _, err = process.communicate(timeout=LIMIT)
    ended = resume(showcaller, err)
    assert ended.code == 0, ended.err
    assert sorted(ended.by_item) == sorted(ITEMS)
    attempts = {item: result["attempts"] for item, result in ended.by_item.items()}
    assert attempts == {item: 2 if item in SLOW else 1 for item in ITEMS}
    assert Counter(bell.heard()) == Counter(SLOW + LATE)
    again = showcaller("fanout", "--resume", group_of(err), "--json")
    assert again.code == 0
    assert again.by_item == ended.by_item
    assert bell.heard() == []


def test_what_was_cut_in_the_middle_is_reported_and_not_run_again_when_asked(
    showcaller: Showcaller, bell: Bell
) -> None:
    with in_the_middle(showcaller, bell) as process:
        os.killpg(process.pid, signal.SIGKILL)
        _, err = process.communicate(timeout=LIMIT)
    ended = resume(showcaller, err, "--no-rerun")
    assert ended.code == 1
    status = {item: result["status"] for item, result in ended.by_item.items()}
    assert status == {item: "interrupted" if item in SLOW else "done" for item in ITEMS}
    assert Counter(bell.heard()) == Counter(LATE)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_with_the_results_so_far_and_how_to_go_on(
    showcaller: Showcaller, bell: Bell, number: signal.Signals
) -> None:
    with in_the_middle(showcaller, bell) as process:
        process.send_signal(number)
        ended = finish(process)
    assert ended.code == 130, ended.err
    status = {item: result["status"] for item, result in ended.by_item.items()}
    assert [status[item] for item in QUICK] == ["done"] * len(QUICK)
    assert {status[item] for item in SLOW} <= {"interrupted", "stopped"}
    assert {status[item] for item in LATE} == {"skipped"}
    assert re.search(r"^To go on: (\S*/)?showcaller fanout --resume grp_\w+$", ended.err, re.MULTILINE)
    on = resume(showcaller, ended.err)
    assert on.code == 0, on.err
    assert sorted(on.by_item) == sorted(ITEMS)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_anything_was_started_ends_it_with_130_and_a_word(
    showcaller: Showcaller, number: signal.Signals
) -> None:
    items = showcaller.folder / "items"
    os.mkfifo(items)
    # The pipe opens when its other end does: the items are being read then.
    with showcaller.start("fanout", "echo {}", "--input", str(items)) as process, items.open("w"):
        process.send_signal(number)
        ended = finish(process)
    assert ended == (130, "", "Interrupted.\n")
    assert not showcaller.home.exists()


def press_until_it_leaves(process: "subprocess.Popen[str]") -> int:
    """Press Ctrl-C again and again, for one that comes too soon counts with the one before."""
    for _ in range(100):
        process.send_signal(signal.SIGINT)
        try:
            return process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError("it does not leave")


def test_twice_ctrl_c_leaves_at_once_and_nobody_behind_and_can_go_on(
    showcaller: Showcaller, bell: Bell
) -> None:
    (showcaller.folder / "hold").touch()
    stubborn = f"echo $$ > {bell.path}; : {{}}; [ ! -e hold ] || {{ trap '' TERM; {bell.wait}; }}"
    with showcaller.start("fanout", stubborn, "a", "b", "--json") as process:
        commands = [os.pidfd_open(int(pid)) for pid in bell.hear(2)]
        assert process.stderr is not None
        err = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert "Stopping" in process.stderr.readline()
        assert press_until_it_leaves(process) == 130
    for command in commands:
        assert select.select([command], [], [], LIMIT)[0], "a command outlived the program"
        os.close(command)
    on = resume(showcaller, err)
    assert (on.code, sorted(on.by_item)) == (0, ["a", "b"])


def test_a_closed_pipe_ends_it_quietly_and_it_can_go_on(showcaller: Showcaller) -> None:
    items = [str(number) for number in range(200)]
    with showcaller.start("fanout", "echo {}", *items, "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "item" in json.loads(process.stdout.readline())
        process.stdout.close()
        err = process.stderr.read()
    assert process.returncode == 141
    assert "Traceback" not in err
    assert "Broken pipe" not in err
    on = showcaller("fanout", "--resume", group_of(err), "--json")
    assert on.code == 0
    assert sorted(on.by_item) == sorted(items)
    assert {result["attempts"] for result in on.results} <= {1, 2}


def test_a_group_is_found_by_its_name_and_by_the_beginning_of_its_id(showcaller: Showcaller) -> None:
    err = showcaller("fanout", "echo {}", "a", "--name", "my counts").err
    for name in ("my counts", group_of(err)[:10]):
        ended = showcaller("fanout", "--resume", name, "--json")
        assert (ended.code, list(ended.by_item)) == (0, ["a"])
    assert showcaller("fanout", "--resume", "other counts").code == 3
