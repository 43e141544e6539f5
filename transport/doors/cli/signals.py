"""The signals that end the program, and what hears them from its first moment on."""

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

Handler = Callable[[int, FrameType | None], Any] | int | None
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 130
_ECHO = 2


class Endings:
    """While entered, the first of the signals raises ``KeyboardInterrupt`` in the main thread.

    So whatever is open is closed in order. The second may be an echo of the first, as ``timeout`` and some
    shells signal the child and then its group; from the third on they leave at once. A signal that was
    ignored before stays ignored. Hears nothing unless it is entered on the main thread; to be left there.
    """

    def __init__(self) -> None:
        self._heard = 0
        self._previous: dict[signal.Signals, Handler] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._previous[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        """Give the signals back to whoever had them before."""
        for number, before in self._previous.items():
            signal.signal(number, before)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._heard += 1
        if self._heard == 1:
            raise KeyboardInterrupt
        if self._heard > _ECHO:
            os._exit(INTERRUPTED)


class Presses:
    """Tells a new press of Ctrl-C from an echo of the one before; times are seconds of one steady clock."""

    def __init__(self, apart: float = 0.05) -> None:
        self._apart = apart
        self._last: float | None = None

    def is_new(self, now: float) -> bool:
        """Whether a signal that comes now is a press of its own, later than ``apart`` after the last."""
        if self._last is not None and now - self._last <= self._apart:
            return False
        self._last = now
        return True
