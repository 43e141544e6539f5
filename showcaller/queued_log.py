"""The log is written on a thread of its own: a reader of it who does not read keeps nobody from working."""

import io
import logging
import os
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

MOST_LINES: Final = 10_000
"""Lines that may wait to be written; what comes beyond them is dropped, and how much is told."""
FLUSH_SECONDS: Final = 2.0
"""For so long the end of a program waits for its last lines."""


class QueuedHandler(logging.Handler):
    """Takes records on any thread without waiting, and writes their lines in order on one of its own.

    What the stream does not take is lost without an error: nobody's work fails for want of its log.
    """

    def __init__(self, stream: TextIO, most: int = MOST_LINES) -> None:
        """``stream`` is used by no other thread from here on."""
        super().__init__()
        self._stream = stream
        self._most = most
        self._changed = threading.Condition()
        self._lines: deque[str] = deque()
        self._dropped = 0
        self._is_writing = False
        self._closes = False
        self._thread = threading.Thread(target=self._write_all, name="showcaller-log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record."""
        line = self.format(record)
        with self._changed:
            if len(self._lines) < self._most:
                self._lines.append(line)
            else:
                self._dropped += 1
            self._changed.notify_all()

    def flush(self) -> None:
        """Wait until all that was taken is written, but no longer than a moment."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._lines or self._is_writing), FLUSH_SECONDS)

    def close(self) -> None:
        """Write what is left, as far as the stream takes it, and no more."""
        self.flush()
        with self._changed:
            self._closes = True
            self._changed.notify_all()
        self._thread.join(FLUSH_SECONDS)
        super().close()

    def _write_all(self) -> None:
        while (lines := self._next()) is not None:
            try:
                self._stream.write("".join(f"{line}\n" for line in lines))
                self._stream.flush()
            except (OSError, ValueError):
                continue  # a pipe whose reader has gone, a full disk, a stream that was closed

    def _next(self) -> list[str] | None:
        """Wait for lines and give them; None when there will be no more."""
        with self._changed:
            self._is_writing = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._lines or self._closes)
            if not self._lines:
                return None
            lines, dropped = list(self._lines), self._dropped
            self._lines.clear()
            self._dropped = 0
            self._is_writing = True
        return [*lines, self.format(_of_dropped(dropped))] if dropped else lines


def _of_dropped(count: int) -> logging.LogRecord:
    text = "%d lines of the log were dropped: what reads it, or its disk, was too slow"
    return logging.LogRecord("showcaller.log", logging.WARNING, __file__, 0, text, (count,), None)


class _WholeWrites(io.RawIOBase):
    """Writes all of what it is given to a descriptor, without the buffer that a standard stream has.

    A thread that hangs in such a buffer when Python ends has it end in an abort.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, data: "ReadableBuffer", /) -> int:
        left = memoryview(data).cast("B")
        length = len(left)
        while left:
            left = left[os.write(self._descriptor, left) :]
        return length


def standard_error() -> TextIO:
    """Give standard error as a stream of the log's own; it takes any text."""
    raw = _WholeWrites(sys.stderr.fileno())
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)  # type: ignore[type-var]
