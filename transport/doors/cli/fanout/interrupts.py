"""Ctrl-C and its relatives during a fan-out: the first ends it in order, the second leaves at once."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

from showcaller.transport.doors.cli.exits import INTERRUPTED
from showcaller.transport.doors.cli.fanout.leaving import kill_children

Handler = Callable[[int, FrameType | None], Any] | int | None
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STOP = b"s"
_OVER = b"o"
_SHOW_CURSOR = b"\x1b[?25h"


class Interrupts:
    """While entered, the first signal calls ``stop`` on a thread of its own, the next kills and leaves.

    The handler itself only writes a byte: it may have cut into anything, also into a lock that ``stop``
    wants. A signal that was ignored before (``nohup``, a background job) stays ignored. Main thread only.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self.signalled = False
        self._previous: dict[signal.Signals, Handler] = {}
        self._reading, self._writing = os.pipe()
        self._thread = threading.Thread(target=self._wait, name="interrupts", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        for number in SIGNALS:
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        """Give the signals back to whoever had them before."""
        for number, before in self._previous.items():
            signal.signal(number, before)
        os.write(self._writing, _OVER)
        self._thread.join()
        os.close(self._writing)
        os.close(self._reading)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.signalled:
            if sys.stderr.isatty():
                os.write(2, _SHOW_CURSOR)
            kill_children()
            os._exit(INTERRUPTED)
        self.signalled = True
        os.write(self._writing, _STOP)

    def _wait(self) -> None:
        while os.read(self._reading, 1) == _STOP:
            self._stop()
