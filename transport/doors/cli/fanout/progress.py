"""How far a fan-out is, on standard error: a bar on a terminal, else a plain line every so often."""

import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from showcaller.actors.contract.fanout import ItemResult
from showcaller.transport.doors.cli.fanout.results import item_cell, reply_cell
from showcaller.transport.doors.cli.fanout.tally import Tally
from showcaller.transport.doors.cli.output import note, terminal_width
from showcaller.transport.doors.cli.relay import FanoutRun
from showcaller.transport.doors.cli.visible import fit, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

SECONDS_BETWEEN_LINES = 10.0
MOST_FAILURES_TOLD = 20


class Watching(AbstractContextManager["Watching"], Protocol):
    """Shows how far the run is for as long as it is entered."""

    def ended(self, result: ItemResult) -> None:
        """Show that one more item ended; it is counted already."""

    def tell(self, line: str) -> None:
        """Show a line of text. Thread-safe."""


def watching(run: FanoutRun, tally: Tally, *, quiet: bool, streaming: bool) -> Watching:
    """Choose how to show a run; ``streaming`` says that results go to standard output meanwhile.

    A bar and lines on the same terminal would overwrite each other: then there is no bar.
    """
    if quiet:
        return Silent()
    if sys.stderr.isatty() and not (streaming and terminal_width() is not None):
        return Bar(run, tally)
    return Lines(run, tally)


class Silent(Watching):
    """Shows nothing."""

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind."""

    def ended(self, result: ItemResult) -> None:
        """Show nothing."""

    def tell(self, line: str) -> None:
        """Show nothing."""


class Lines(Watching):
    """A line now and then, and one for each of the first failures. Its thread ends with the run."""

    def __init__(self, run: FanoutRun, tally: Tally, every: float = SECONDS_BETWEEN_LINES) -> None:
        self._run = run
        self._tally = tally
        self._every = every
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tell, name="fan-out progress", daemon=True)
        self._failures = Failures()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Tell no more."""
        self._over.set()
        self._thread.join()

    def ended(self, result: ItemResult) -> None:
        """Tell a failure."""
        line = self._failures.line(result)
        if line:
            note(line)

    def tell(self, line: str) -> None:
        """Write the line."""
        note(line)

    def _tell(self) -> None:
        while not self._over.wait(self._every):
            note(progress_line(self._run, self._tally))


def progress_line(run: FanoutRun, tally: Tally) -> str:
    """Give how far the run is as one line."""
    trouble = tally.trouble()
    told = f" ({trouble})" if trouble else ""
    return f"{visible(run.name)}: {tally.ended:,} of {tally.total:,} ended{told}, {run.running:,} running"


class Bar(Watching):
    """A bar on the terminal, with the first failures above it; it goes away at the end."""

    def __init__(self, run: FanoutRun, tally: Tally) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._progress = _bar(self._console)
        self._task = self._progress.add_task(visible(run.name), total=tally.total, run=run, trouble="")
        self._tally = tally
        self._failures = Failures()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        self._progress.stop()

    def ended(self, result: ItemResult) -> None:
        """Move the bar, and tell a failure above it."""
        self._progress.update(self._task, completed=self._tally.ended, trouble=self._tally.trouble())
        line = self._failures.line(result)
        if line:
            self.tell(fit(line, self._console.width - 1))

    def tell(self, line: str) -> None:
        """Write the line above the bar."""
        self._console.print(line, soft_wrap=True)

    def refresh(self) -> None:
        """Draw it now, not at its next turn."""
        self._progress.refresh()


class Failures:
    """Says what failed, up to a number: a run in which everything fails must not flood the terminal."""

    def __init__(self, most: int = MOST_FAILURES_TOLD) -> None:
        self._left = most

    def line(self, result: ItemResult) -> str | None:
        """Give the line for a result that should be told, None for all others."""
        if result.status != "failed" or self._left < 0:
            return None
        self._left -= 1
        if self._left < 0:
            return "More items failed; the results name them all."
        return ": ".join(("failed", item_cell(result), *_reasons(result)))


def _reasons(result: ItemResult) -> Iterator[str]:
    if result.error:
        yield reply_cell(result.error.partition("\n")[0])
    elif result.exit_code is not None:
        yield f"exit {result.exit_code}"
    if result.reply:
        yield reply_cell(result.reply)


def _bar(console: "Console") -> "Progress":
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[run].running} running", markup=False),
        TextColumn("{task.fields[trouble]}", markup=False),
        TimeElapsedColumn(),
        console=console,
        refresh_per_second=8,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
