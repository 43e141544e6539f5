"""Driving one fan-out from its first result to its exit code."""

import shlex
from collections.abc import Callable

from showcaller.transport.doors.cli.exits import FAILED, GOOD, INTERRUPTED, UNREAD
from showcaller.transport.doors.cli.fanout.interrupts import Interrupts
from showcaller.transport.doors.cli.fanout.progress import watching
from showcaller.transport.doors.cli.fanout.results import ResultSink
from showcaller.transport.doors.cli.fanout.tally import Tally
from showcaller.transport.doors.cli.output import forget_stdout, note
from showcaller.transport.doors.cli.relay import Door, FanoutRun
from showcaller.transport.doors.cli.visible import visible


def drive(
    run: FanoutRun, sink: ResultSink, door: Door, monotonic: Callable[[], float], *, quiet: bool
) -> int:
    """Hand every result of the run to the sink, show how far it is, and give the exit code.

    Main thread only: it takes the signals meanwhile. ``monotonic`` gives seconds.
    """
    again = resume_line(door, run)
    tell = (lambda line: None) if quiet else note
    size = f"{run.total:,} items, {run.spec.jobs} at a time"
    tell(f"{visible(run.name)} ({run.group}): {size}. If it is cut off: {again}")
    begun = monotonic()
    tally = Tally(run.total)
    with Interrupts(run.stop) as interrupts:
        unread = _take_results(run, sink, tally, quiet=quiet)
    seconds = monotonic() - begun
    if not unread:
        sink.end(tally.summary(seconds))
    tell(f"{visible(run.name)}: {tally.sentence()} in {seconds:,.1f} s")
    if tally.unfinished:
        tell(f"To go on: {again}")
    if unread:
        return UNREAD
    if tally.all_done:
        return GOOD
    return INTERRUPTED if interrupts.signalled else FAILED


def _take_results(run: FanoutRun, sink: ResultSink, tally: Tally, *, quiet: bool) -> bool:
    """Take all results; gives whether standard output was closed, in which case the run was stopped."""
    unread = False
    with watching(run, tally, quiet=quiet, streaming=sink.streams) as shown:
        for result in run.results():
            tally.count(result)
            shown.ended(result)
            if unread:
                continue
            try:
                sink.add(result)
            except BrokenPipeError:
                unread = True
                forget_stdout()
                run.stop()
    return unread


def resume_line(door: Door, run: FanoutRun) -> str:
    """Give the command that goes on with this run, ready to paste."""
    home = [] if door.named is None else ["--home", str(door.home)]
    return shlex.join(["showcaller", *home, "fanout", "--resume", run.group])
