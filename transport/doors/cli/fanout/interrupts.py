"""Ctrl-C and its relatives during a fan-out: the first ends it in order, the second leaves at once."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Self

from showcaller.transport.doors.cli.fanout.leaving import kill_children
from showcaller.transport.doors.cli.signals import INTERRUPTED, SIGNALS, Handler, Presses

_OVER = b"\0"
_SHOW_CURSOR = b"\x1b[?25h"


class Interrupts:
    """While entered, the first signal stops what ``stop_with`` names, the next kills and leaves.

    A thread waits for signals, at the pipe into which Python's own handler writes their numbers: the main
    thread may be about to block and would then not run a handler in Python before it has something to do.
    Two within a twentieth of a second are one.
    A signal that was ignored before (``nohup``, a background job) stays ignored. To be entered and left on
    the main thread.
    """

    def __init__(self, monotonic: Callable[[], float], *, spares_children: bool = False) -> None:
        """``monotonic`` gives seconds; with ``spares_children`` those go on that can without us."""
        self._monotonic = monotonic
        self._spares_children = spares_children
        self._presses = Presses()
        self.signalled = False
        self._lock = threading.Lock()
        self._stop: Callable[[], None] | None = None
        self._previous: dict[signal.Signals, Handler] = {}
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        self._thread = threading.Thread(target=self._wait, name="interrupts", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._previous_pipe = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous[number] = signal.signal(number, _leave_it_to_the_thread)
        return self

    def __exit__(self, *_: object) -> None:
        """Give the signals back to whoever had them before."""
        for number, before in self._previous.items():
            signal.signal(number, before)
        signal.set_wakeup_fd(self._previous_pipe)
        os.write(self._writing, _OVER)
        self._thread.join()
        os.close(self._writing)
        os.close(self._reading)

    def stop_with(self, stop: Callable[[], None]) -> None:
        """Say what the first signal calls, on a thread of its own; if it came already, call it now."""
        with self._lock:
            self._stop = stop
            late = self.signalled
        if late:
            stop()

    def _wait(self) -> None:
        while (number := os.read(self._reading, 1)) != _OVER:
            if number[0] in self._previous and self._presses.is_new(self._monotonic()):
                self._take_signal()

    def _take_signal(self) -> None:
        with self._lock:
            again, self.signalled = self.signalled, True
            stop = self._stop
        if again:
            _leave(spares_children=self._spares_children)
        if stop is not None:
            stop()


def _leave_it_to_the_thread(number: int, frame: FrameType | None) -> None:
    """Be a handler, so that the number is written to the pipe."""


def _leave(*, spares_children: bool) -> None:
    if sys.stderr.isatty():
        os.write(2, _SHOW_CURSOR)
    if not spares_children:
        kill_children()
    os._exit(INTERRUPTED)
