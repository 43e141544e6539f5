"""The guardian of a worker: its parent, which stays when the worker ends, and leaves nothing of it behind.

It is forked before a worker has loaded anything, so it is small, and it has one thread, which only waits.
"""

import ctypes
import os
import select
import signal
import sys
from contextlib import suppress
from typing import Final, NamedTuple, NoReturn

from showcaller.transport.worker.process_identity import ProcessIdentity, identify
from showcaller.transport.worker.process_table import child_ids
from showcaller.transport.worker.remains import end_remains

PAUSE: Final = 0.05
"""Seconds for which the guardian waits for a death before it kills once more."""
_SET_CHILD_SUBREAPER: Final = 36


class Guarded(NamedTuple):
    """What a worker knows of its guardian.

    ``marker`` is what it goes by in the environment of all that the worker starts; ``pipe`` is a descriptor
    that becomes readable when the guardian has died.
    """

    process: ProcessIdentity
    marker: str
    pipe: int

    @property
    def is_over(self) -> bool:
        """Whether the guardian has died."""
        return bool(select.select([self.pipe], [], [], 0)[0])


def stand_guard(marker: str) -> Guarded:
    """Fork: returns in the child, which is the worker; this process becomes its guardian and exits as that.

    To be called before there are threads, in a process whose environment has the marker.
    """
    if os.getpgrp() != os.getpid():
        os.setsid()
    adopt_orphans()
    guardian = identify(os.getpid())
    ear, mouth = os.pipe()
    # Nothing but SIGKILL ends a guardian, and what it waits for cannot slip through between two looks.
    mask = signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    worker = os.fork()
    if worker:
        _watch(worker, marker, guardian.started)
    os.close(mouth)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return Guarded(guardian, marker, ear)


def adopt_orphans() -> None:
    """Become the parent of what descendants leave behind when they die; only Linux has that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _watch(worker: int, marker: str, since: int | None) -> NoReturn:
    """Wait until the worker has ended, end what it has left, and exit as it did."""
    _let_go_of_input()
    signal.signal(signal.SIGCHLD, lambda *_: None)  # not ignored, as who has started us may do
    code = _exit_code(worker)
    killed = end_tree(marker, since)
    if killed or code < 0:
        _say(f"Worker {marker} (process {worker}) ended with {code}; processes ended behind it: {killed}")
    if sys.platform != "linux":
        os.killpg(0, signal.SIGKILL)  # with ourselves: a group is all that can be known there
    os._exit(code if code >= 0 else 128 - code)


def _let_go_of_input() -> None:
    """Leave the options to the worker alone: whoever writes them shall notice when it is not there."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def _exit_code(worker: int) -> int:
    """Reap whoever ends until it is the worker; it gets each SIGTERM that comes meanwhile."""
    while True:
        if signal.sigwait({signal.SIGTERM, signal.SIGCHLD}) == signal.SIGTERM:
            os.kill(worker, signal.SIGTERM)  # nobody else could have reaped it
        else:
            code = _reap(worker)
            if code is not None:
                return code


def _reap(worker: int = 0) -> int | None:
    """Reap all that have ended; gives the worker's exit code, or None, if it was not among them."""
    code = None
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == worker:
                code = os.waitstatus_to_exitcode(ended[1])
    return code


def end_tree(marker: str, since: int | None) -> int:
    """Kill all children, and those that become ours by that, and all that is marked; gives how many.

    ``since`` is when the first of them may have started, as ``end_remains`` takes it. Whoever calls has
    adopted orphans, and nobody else waits for its children. What may not be signalled, because it is
    another user's by now, is left.
    """
    killed = _end_children()
    while marked := end_remains([marker], since).killed:
        killed += marked + _end_children()
    return killed


def _end_children() -> int:
    killed: set[int] = set()
    while True:
        _reap()
        children = [pid for pid in child_ids() if _kill(pid)]
        if not children:
            return len(killed)
        if killed.issuperset(children):
            signal.sigtimedwait({signal.SIGCHLD}, PAUSE)
        killed.update(children)


def _kill(child: int) -> bool:
    try:
        os.kill(child, signal.SIGKILL)  # not reaped: its id is still its own
    except (PermissionError, ProcessLookupError):
        return False
    return True


def _say(text: str) -> None:
    with suppress(OSError):  # nobody may be left who reads it
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
