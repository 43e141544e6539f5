"""The worker's end of a pair of sockets, on its event loop."""

import asyncio
import socket
from collections.abc import Callable
from typing import Final

CHUNK: Final = 256 * 1024


class Line:
    """Sends without blocking and hears what comes, until the other end hangs up or ``close``.

    ``hear`` gets bytes as they come; ``hung_up`` is settled when no more will. Not thread-safe.
    """

    def __init__(self, link: socket.socket, hear: Callable[[bytes], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._link = link
        self._hear = hear
        self._unsent = bytearray()
        self.hung_up: asyncio.Future[None] = self._loop.create_future()
        link.setblocking(False)
        self._loop.add_reader(link, self._read)

    def send(self, data: bytes) -> None:
        """Send behind what waits; dropped when nobody will read it."""
        if not self._closed:
            waits = bool(self._unsent)
            self._unsent += data
            if not waits:
                self._write()

    def close(self) -> None:
        """Hang up. Harmless when repeated."""
        if not self._closed:
            self._stop_reading()
            self._stop_writing()
            self._link.close()

    @property
    def _closed(self) -> bool:
        return self._link.fileno() < 0

    def _read(self) -> None:
        try:
            data = self._link.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:  # the other end died with something unread
            data = b""
        if data:
            self._hear(data)
        else:
            self._stop_reading()

    def _stop_reading(self) -> None:
        self._loop.remove_reader(self._link)
        if not self.hung_up.done():
            self.hung_up.set_result(None)

    def _write(self) -> None:
        try:
            del self._unsent[: self._link.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:  # the other end has hung up, which its death tells
            self._unsent.clear()
        if self._unsent:
            self._loop.add_writer(self._link, self._write)
        else:
            self._stop_writing()

    def _stop_writing(self) -> None:
        self._unsent.clear()
        self._loop.remove_writer(self._link)
