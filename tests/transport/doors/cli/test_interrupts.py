"""Signals during a fan-out."""

import json
import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.transport.doors.cli.signals import SIGNALS, Endings, Presses
from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import RESUME, FakeRelay, FakeRun
from tests.transport.doors.cli.process import program

HANGS_AFTER_SIGNALS = """lambda number: number == 2 and (
        os.kill(os.getpid(), signal.SIGINT),
        run.stopped.wait(),
        [
            (os.kill(os.getpid(), signal.SIGINT), threading.Event().wait(0.06))
            for _ in iter(int, 1)  # for ever: the first may come too soon to be another press
        ],
    )"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_in_order_with_the_results_so_far(
    showcaller: ShowCaller, relay: FakeRelay, number: signal.Signals
) -> None:
    def prepare(run: FakeRun) -> None:
        def interrupt(item: int) -> None:
            if item == 2:
                os.kill(os.getpid(), number)
                assert run.stopped.wait(10)

        run.before = interrupt

    relay.prepare = prepare
    ended = showcaller("fanout", "echo {}", "a", "b", "c", "--json")
    assert ended.code == 130
    *results, summary = (json.loads(line) for line in ended.out.splitlines())
    assert [result["status"] for result in results] == ["done", "skipped", "skipped"]
    assert summary["summary"]["skipped"] == 2
    assert f"To go on: {RESUME}" in ended.err
    assert relay.closed == 1


def test_a_signal_while_it_starts_ends_it_in_order_too(showcaller: ShowCaller, relay: FakeRelay) -> None:
    def prepare(run: FakeRun) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        run.before = wait_until_stopped

    def wait_until_stopped(number: int) -> None:
        assert relay.run is not None
        assert relay.run.stopped.wait(10)

    relay.prepare = prepare
    ended = showcaller("fanout", "echo {}", "a", "b", "--json")
    assert ended.code == 130
    assert [json.loads(line).get("status") for line in ended.out.splitlines()] == ["skipped", "skipped", None]
    assert f"To go on: {RESUME}" in ended.err


def test_signals_belong_to_the_caller_again_after_the_run(showcaller: ShowCaller) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    showcaller("fanout", "echo {}", "a")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_a_signal_that_was_ignored_stays_ignored(showcaller: ShowCaller, relay: FakeRelay) -> None:
    def prepare(run: FakeRun) -> None:
        run.before = lambda number: os.kill(os.getpid(), signal.SIGHUP)

    relay.prepare = prepare
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert showcaller("fanout", "echo {}", "a").code == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_and_its_echo_are_one(showcaller: ShowCaller, relay: FakeRelay) -> None:
    def prepare(run: FakeRun) -> None:
        def interrupt(number: int) -> None:
            if number == 2:
                os.kill(os.getpid(), signal.SIGINT)
                os.kill(os.getpid(), signal.SIGINT)
                assert run.stopped.wait(10)

        run.before = interrupt

    relay.prepare = prepare
    ended = showcaller("fanout", "echo {}", "a", "b", "--json")
    assert ended.code == 130
    assert [json.loads(line).get("status") for line in ended.out.splitlines()] == ["done", "skipped", None]
    assert relay.closed == 1


@given(st.lists(st.floats(0, 10), min_size=1).map(sorted))
def test_presses_are_apart_and_each_echo_is_close_to_one(times: list[float]) -> None:
    presses = Presses(0.05)
    new = [time for time in times if presses.is_new(time)]
    assert new[0] == times[0]
    assert all(later - earlier > 0.05 for earlier, later in pairwise(new))
    assert all(any(0 <= time - press <= 0.05 for press in new) for time in times)


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_interrupts_and_its_echo_does_nothing(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with Endings():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        signal.raise_signal(number)
    assert signal.getsignal(number) is before


def test_the_third_signal_leaves_at_once() -> None:
    script = (
        "import contextlib, signal\n"
        "from showcaller.transport.doors.cli.signals import Endings\n"
        "with Endings():\n"
        "    for _ in range(3):\n"
        "        with contextlib.suppress(KeyboardInterrupt):\n"
        "            signal.raise_signal(signal.SIGTERM)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=20).returncode == 130


def test_an_ignored_signal_stays_ignored_from_the_start() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Endings():
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_second_signal_leaves_at_once(home: Path) -> None:
    with program(HANGS_AFTER_SIGNALS, home, "echo {}", "a", "b", "--json") as process:
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert json.loads(out)["item"] == "a"
