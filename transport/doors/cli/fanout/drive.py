"""Driving one fan-out from its first result to its exit code."""

from collections.abc import Callable

from showcaller.transport.doors.cli.exits import FAILED, GOOD, OutputLost
from showcaller.transport.doors.cli.fanout.interrupts import Interrupts
from showcaller.transport.doors.cli.fanout.progress import Watching, watching
from showcaller.transport.doors.cli.fanout.results import ResultSink
from showcaller.transport.doors.cli.fanout.tally import Tally
from showcaller.transport.doors.cli.output import note
from showcaller.transport.doors.cli.relay import Door, FanoutRun
from showcaller.transport.doors.cli.signals import INTERRUPTED
from showcaller.transport.doors.cli.visible import visible


def drive(
    run: FanoutRun,
    sink: ResultSink,
    door: Door,
    interrupts: Interrupts,
    monotonic: Callable[[], float],
    *,
    quiet: bool,
) -> int:
    """Hand every result of the run to the sink, show how far it is, and give the exit code.

    ``monotonic`` gives seconds. Raises ``OutputLost`` after the run has stopped, and what the run raises.
    """
    tell = _silence if quiet else note
    tell(f"{_heading(run)} If it is cut off: {resume_line(door, run)}")
    begun = monotonic()
    tally = Tally(run.total)
    try:
        with watching(run, tally, quiet=quiet, streaming=sink.streams) as shown:
            interrupts.stop_with(lambda: _stop(run, shown))
            lost = _take_results(run, sink, tally, shown)
    except Exception:
        sink.cut_off()
        raise
    seconds = monotonic() - begun
    if lost is None:
        sink.end(tally.summary(seconds))
    tell(f"{visible(run.name)}: {tally.sentence()} in {seconds:,.1f} s")
    if tally.unfinished:
        tell(f"To go on: {resume_line(door, run)}")
    if lost is not None:
        raise lost
    if tally.all_done:
        return GOOD
    return INTERRUPTED if interrupts.signalled else FAILED


def _take_results(run: FanoutRun, sink: ResultSink, tally: Tally, shown: Watching) -> OutputLost | None:
    """Take all results; gives what went wrong with the output, which stops the run."""
    lost = None
    for result in run.results():
        tally.count(result)
        shown.ended(result)
        if lost is None:
            try:
                sink.add(result)
            except OutputLost as error:
                lost = error
                run.stop()
    return lost


def _stop(run: FanoutRun, shown: Watching) -> None:
    shown.tell("Stopping: what runs is being ended. Once more leaves at once.")
    run.stop()


def _silence(line: str) -> None:
    """Tell nobody."""


def _heading(run: FanoutRun) -> str:
    items = "1 item" if run.total == 1 else f"{run.total:,} items"
    return f"{visible(run.name)} ({run.group}): {items}, {run.spec.jobs} at a time."


def resume_line(door: Door, run: FanoutRun) -> str:
    """Give the command that goes on with this run, ready to paste."""
    return door.command_line("fanout", "--resume", run.group)
