"""Signals during a fan-out."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import RESUME, FakeRelay, FakeRun
from tests.transport.doors.cli.process import program

HANGS_AFTER_SIGNALS = """lambda number: number == 2 and (
        os.kill(os.getpid(), signal.SIGINT),
        run.stopped.wait(),
        os.kill(os.getpid(), signal.SIGINT),
        threading.Event().wait(),
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


def test_a_second_signal_leaves_at_once(home: Path) -> None:
    with program(HANGS_AFTER_SIGNALS, home, "echo {}", "a", "b", "--json") as process:
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert json.loads(out)["item"] == "a"
