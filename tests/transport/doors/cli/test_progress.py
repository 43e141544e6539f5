"""How far a fan-out is."""

import io
import threading

import pytest

from showcaller.actors.contract.fanout import FanoutSpec
from showcaller.transport.doors.cli.fanout import progress
from showcaller.transport.doors.cli.fanout.progress import Bar, Lines, Silent, progress_line, watching
from showcaller.transport.doors.cli.fanout.tally import Tally
from tests.transport.doors.cli.fake import FakeRun, done, failed


@pytest.fixture
def run() -> FakeRun:
    spec = FanoutSpec(kind="command", template="wc {}", provider="command", jobs=2, cwd="/")
    return FakeRun(spec, ["a", "b[red]", "c"], done)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_says_how_many_ended_how_and_run(run: FakeRun) -> None:
    tally = Tally(1_234)
    assert progress_line(run, tally) == "amber-otter: 0 of 1,234 ended, 0 running"
    tally.count(failed("a", 1))
    run.running = 2
    assert progress_line(run, tally) == "amber-otter: 1 of 1,234 ended (1 failed), 2 running"
    for status in ("interrupted", "skipped", "skipped"):
        tally.count(failed("a", 1).model_copy(update={"status": status}))
    assert "(1 failed, 1 interrupted, 2 not started)" in progress_line(run, tally)


def test_lines_come_by_themselves_while_nothing_ends(run: FakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()
    monkeypatch.setattr(progress, "note", lambda line: told.set())
    with Lines(run, Tally(3), every=0.001):
        assert told.wait(10)


def test_a_bar_moves_and_tells_failures_and_is_gone_at_the_end(
    run: FakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    tally = Tally(3)
    with Bar(run, tally) as bar:
        for result in (done("a", 1), failed("b[red]\x1b[2J", 2)):
            tally.count(result)
            bar.ended(result)
        bar.refresh()
        assert "2/3" in terminal.getvalue()
        assert "1 failed" in terminal.getvalue()
    assert "failed: b[red]\\x1b[2J: exit 3: no such file" in terminal.getvalue()
    assert terminal.getvalue().rstrip("\r\n ").endswith("\x1b[2K")


@pytest.mark.parametrize(
    ("quiet", "streaming", "terminals", "kind"),
    [
        (True, False, ("out", "err"), Silent),
        (False, False, ("out", "err"), Bar),
        (False, True, ("out", "err"), Lines),
        (False, True, ("err",), Bar),
        (False, False, (), Lines),
    ],
)
def test_a_bar_is_shown_only_where_it_overwrites_nothing(
    run: FakeRun,
    monkeypatch: pytest.MonkeyPatch,
    quiet: bool,
    streaming: bool,
    terminals: tuple[str, ...],
    kind: type,
) -> None:
    for name in ("out", "err"):
        monkeypatch.setattr(f"sys.std{name}", Terminal() if name in terminals else io.StringIO())
    assert type(watching(run, Tally(3), quiet=quiet, streaming=streaming)) is kind
