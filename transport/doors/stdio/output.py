"""Standard output of the bridge: whole lines, from many threads, as long as somebody reads them."""

import contextlib
import json
import os
import select
import threading
from typing import IO, Any, Final

UNREAD: Final = 141


class Output:
    """Writes messages, one a line; ends the program when nobody reads them any more. Thread-safe."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._gate = threading.Lock()
        self._owed = 0
        self._ear, self._bell = os.pipe()
        os.set_blocking(self._bell, False)

    def write(self, message: dict[str, Any]) -> None:
        """Write a message."""
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self._gate:
            try:
                self._stream.write(line)
                self._stream.flush()
            except OSError:
                os._exit(UNREAD)  # nothing is left to do, and other threads may wait for long

    def expect(self) -> None:
        """Note that an answer is to come."""
        with self._gate:
            self._owed += 1

    def done(self) -> None:
        """Note that one has come, or never will."""
        with self._gate:
            self._owed -= 1
            if self._owed == 0:
                with contextlib.suppress(BlockingIOError):  # it rings already
                    os.write(self._bell, b"!")

    def wait_until_unneeded(self) -> None:
        """Wait until every answer has come, or nobody is there to read any."""
        poll = select.poll()
        poll.register(self._ear, select.POLLIN)
        poll.register(self._stream.fileno(), 0)
        while self._is_owed() and self._ear in {descriptor for descriptor, _ in poll.poll()}:
            os.read(self._ear, 4096)

    def _is_owed(self) -> bool:
        with self._gate:
            return self._owed > 0
