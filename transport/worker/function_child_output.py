"""What a process of functions says to its worker, and where what is printed goes; standard library alone."""

import contextvars
import json
import os
import socket
import threading
from collections import deque
from io import BufferedIOBase, TextIOBase
from typing import IO, Any, Final, Protocol

LENGTH_BYTES: Final = 4
BATCH_LIMIT: Final = 256 * 1024
INTERVAL: Final = 0.05


class Written(Protocol):
    """Where a call's output gathers."""

    def write(self, piece: str) -> None:
        """Add to what is sent soon."""

    def flush(self) -> None:
        """Send what waits, if that was not asked for too often of late."""

    def flush_in_turn(self) -> None:
        """Send what waits."""


CURRENT: Final[contextvars.ContextVar[Written | None]] = contextvars.ContextVar(
    "showcaller_call", default=None
)
"""The output of the call under way, if this is the thread or the task of one."""


class Mouth:
    """Says messages to the worker. Whoever has one while nobody speaks does so for all; thread-safe.

    No lock is waited for, so a finalizer or a signal handler may print while its thread speaks.
    """

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._waiting: deque[str] = deque()
        self._speaking = threading.Lock()

    def say(self, message: dict[str, Any]) -> None:
        """Send a message behind those that wait; blocks while the worker does not read."""
        self._waiting.append(json.dumps(message, ensure_ascii=False))
        while self._waiting and self._speaking.acquire(blocking=False):
            try:
                self._send_batch()
            finally:
                self._speaking.release()

    def _send_batch(self) -> None:
        batch: list[str] = []
        size = 0
        while self._waiting and size < BATCH_LIMIT:
            batch.append(self._waiting.popleft())
            size += len(batch[-1])
        body = f"[{','.join(batch)}]".encode()
        try:
            self._link.sendall(len(body).to_bytes(LENGTH_BYTES, "big") + body)
        except OSError:  # the worker has gone
            os._exit(0)


class Flusher:
    """Sends output within ``INTERVAL`` seconds, however often it is written. Thread-safe."""

    def __init__(self) -> None:
        self._written: deque[Written] = deque()
        self._due = threading.Event()
        self._never = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def note(self, flushed: Written) -> None:
        """Something waits to be sent."""
        self._written.append(flushed)
        if self._thread is None and self._starting.acquire(blocking=False):
            thread = threading.Thread(target=self._run, name="showcaller-output", daemon=True)
            try:
                thread.start()
                self._thread = thread
            except RuntimeError:  # the system has no more threads: the call's end brings its output
                self._starting.release()
        self._due.set()

    def _run(self) -> None:
        while True:
            self._due.wait()
            self._due.clear()
            while self._written:
                self._written.popleft().flush_in_turn()
            self._never.wait(INTERVAL)


class Printed(TextIOBase):
    """Standard output and error: what a call prints goes to its turn, all else to the worker's log."""

    def __init__(self, rest: IO[str]) -> None:
        super().__init__()
        self._rest = rest
        self.buffer = _PrintedBytes(self)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """What bytes are taken for."""
        return "utf-8"

    def write(self, piece: Any) -> int:
        """Take text from whoever prints."""
        if not isinstance(piece, str):
            raise TypeError(f"write() argument must be str, not {type(piece).__name__}")
        output = CURRENT.get()
        if output is None:
            self._rest.write(piece)
            self._rest.flush()
        else:
            output.write(piece)
        return len(piece)

    def flush(self) -> None:
        """Send what waits."""
        output = CURRENT.get()
        if output is not None:
            output.flush()

    def writable(self) -> bool:
        """Say yes."""
        return True

    def reconfigure(self, **_: object) -> None:
        """Stay as it is."""

    def fileno(self) -> int:
        """Give what a process may be started with: it writes to the worker's log."""
        return self._rest.fileno()

    def close(self) -> None:
        """Stay open: other calls print too."""


class _PrintedBytes(BufferedIOBase):
    """The bytes of ``Printed``, for what writes to ``sys.stdout.buffer``."""

    def __init__(self, printed: Printed) -> None:
        super().__init__()
        self._printed = printed

    def write(self, piece: Any) -> int:
        """Take bytes, as UTF-8."""
        taken = bytes(piece)
        self._printed.write(taken.decode("utf-8", "replace"))
        return len(taken)

    def writable(self) -> bool:
        """Say yes."""
        return True

    def close(self) -> None:
        """Stay open, as the text does."""
