"""Commands use the relay that runs: all is as without one, and its death is survived."""

import json
import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.e2e.daemon import Daemon, end_workers, living_workers, serving
from tests.e2e.program import LIMIT, Bell, Ended, Showcaller, finish, group_of
from tests.e2e.test_interrupted import ITEMS, LATE, QUICK, SLOW, in_the_middle, resume


@pytest.fixture
def daemon(showcaller: Showcaller) -> Generator[Daemon]:
    with serving(showcaller) as daemon:
        yield daemon


def await_waiting(process: "subprocess.Popen[str]") -> None:
    """Wait until a command says that it waits for its relay."""
    assert process.stderr is not None
    for line in process.stderr:
        if "Waiting until it is back" in line:
            return
    raise AssertionError("it does not wait")


def shape(ended: Ended) -> str:
    """Give all that a run wrote, without what differs from run to run."""
    plain = re.sub(r"(grp|ses)_\w+|fanout-\w+", "ID", ended.out + ended.err)
    return re.sub(r"\d+\.\d+|\d\d:\d\d(:\d\d)?", "TIME", plain)


def test_output_and_exit_codes_are_the_same_with_a_relay_and_without(
    showcaller: Showcaller, tmp_path: Path
) -> None:
    commands = (
        ("fanout", "echo {}; [ {} != b ]", "a", "b", "ü\\u00e9", "--retries", "1", "--jobs", "1", "--json"),
        ("fanout", "echo {}", "a", "--name", "one", "--format", "csv"),
        ("fanout", "--resume", "one"),
        ("fanout", "--resume", "other"),
        ("sessions", "--scope", "all", "--query", "b"),
    )
    alone = Showcaller(tmp_path / "alone", showcaller.folder)
    without = [alone(*command) for command in commands]
    with serving(showcaller):
        served = [showcaller(*command) for command in commands]
    for embedded, through in zip(without, served, strict=True):
        there = shape(through).replace(str(showcaller.home), "HOME")
        assert (through.code, there) == (embedded.code, shape(embedded).replace(str(alone.home), "HOME"))
    assert served[0].code == 1
    assert {item: result["attempts"] for item, result in served[0].by_item.items()}["b"] == 2


def test_ctrl_c_ends_a_fan_out_in_order_and_the_relay_goes_on(
    showcaller: Showcaller, bell: Bell, daemon: Daemon
) -> None:
    with in_the_middle(showcaller, bell) as process:
        process.send_signal(signal.SIGINT)
        ended = finish(process)
    assert ended.code == 130, ended.err
    status = {item: result["status"] for item, result in ended.by_item.items()}
    assert [status[item] for item in QUICK] == ["done"] * len(QUICK)
    assert {status[item] for item in SLOW} <= {"interrupted", "stopped"}
    assert {status[item] for item in LATE} == {"skipped"}
    assert daemon.process.poll() is None
    on = resume(showcaller, ended.err)
    assert (on.code, sorted(on.by_item)) == (0, sorted(ITEMS))


def test_a_command_that_is_killed_leaves_its_fan_out_to_the_relay_and_resume_joins_it(
    showcaller: Showcaller, bell: Bell, daemon: Daemon
) -> None:
    with in_the_middle(showcaller, bell) as process:
        os.killpg(process.pid, signal.SIGKILL)
        _, err = process.communicate(timeout=LIMIT)
    with daemon.owner as owner:
        (running,) = owner.get("/api/status").json()["fanouts"]
    assert (running["group"], running["running"]) == (group_of(err), 4)
    with showcaller.start("fanout", "--resume", group_of(err), "--json") as again:
        assert again.stdout is not None
        first = [json.loads(again.stdout.readline()) for _ in QUICK]
        assert sorted(result["item"] for result in first) == QUICK
        bell.open_gate(len(SLOW))
        ended = finish(again)
    assert ended.code == 0, ended.err
    assert sorted([*QUICK, *ended.by_item]) == sorted(ITEMS)
    assert {result["attempts"] for result in ended.results} == {1}
    assert Counter(bell.heard()) == Counter(LATE)


@pytest.mark.parametrize("end", ["killed", "stopped"])
def test_a_fan_out_is_followed_on_when_its_relay_is_started_again_and_what_ran_is_taken_over(
    showcaller: Showcaller, bell: Bell, end: str
) -> None:
    with serving(showcaller) as first, in_the_middle(showcaller, bell) as process:
        if end == "killed":
            first.process.kill()
        else:
            assert showcaller("stop").code == 0
        first.process.wait(LIMIT)
        await_waiting(process)
        with serving(showcaller):
            bell.open_gate(len(SLOW))
            ended = finish(process)
    assert ended.code == 0, ended.err
    assert {item: result["attempts"] for item, result in ended.by_item.items()} == dict.fromkeys(ITEMS, 1)
    assert Counter(bell.heard()) == Counter(LATE)


def test_what_died_with_its_worker_starts_again_when_the_relay_is_back(
    showcaller: Showcaller, bell: Bell
) -> None:
    with serving(showcaller) as first, in_the_middle(showcaller, bell) as process:
        first.process.kill()
        first.process.wait(LIMIT)
        end_workers(showcaller.home)
        await_waiting(process)
        (showcaller.folder / "hold").unlink()
        with serving(showcaller):
            ended = finish(process)
    assert ended.code == 0, ended.err
    attempts = {item: result["attempts"] for item, result in ended.by_item.items()}
    assert attempts == {item: 2 if item in SLOW else 1 for item in ITEMS}
    assert Counter(bell.heard()) == Counter(SLOW + LATE)


def test_a_relay_that_ends_with_its_workers_ends_its_fan_out_with_all_results_and_how_to_go_on(
    showcaller: Showcaller, bell: Bell
) -> None:
    with serving(showcaller), in_the_middle(showcaller, bell) as process:
        assert showcaller("stop", "--workers").code == 0
        assert living_workers(showcaller.home) == []
        ended = finish(process)
    assert ended.code == 1, ended.err
    status = {item: result["status"] for item, result in ended.by_item.items()}
    assert {status[item] for item in SLOW} == {"interrupted"}
    assert {status[item] for item in LATE} == {"skipped"}
    on = resume(showcaller, ended.err)
    assert (on.code, sorted(on.by_item)) == (0, sorted(ITEMS))


def test_ctrl_c_while_the_relay_is_away_ends_the_waiting(showcaller: Showcaller, bell: Bell) -> None:
    with (
        serving(showcaller) as daemon,
        showcaller.start("fanout", f"{bell.ring}; {bell.wait}", "a", "--json") as process,
    ):
        bell.hear(1)
        daemon.process.kill()
        await_waiting(process)
        process.send_signal(signal.SIGINT)
        ended = finish(process)
    assert ended.code == 130
    assert "--resume grp_" in ended.err
