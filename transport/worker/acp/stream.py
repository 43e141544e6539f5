"""The lines of an agent's standard input and output as messages, within bounds."""

import asyncio
import json
import os
from collections import deque
from contextlib import suppress
from typing import Any, Final

from showcaller.transport.worker.acp.incoming import is_noise, read_message

LINE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one line. asyncio's own limit of 64 KiB breaks real agents, who send whole files in one."""
CHUNK: Final = 256 * 1024
STRANGE_LINES: Final = 3
"""Of lines that are no messages, so many are kept: they often say why an agent does not start."""


class AgentStream:
    """A transport of the package for the two pipes of an agent. On one event loop; not thread-safe.

    A line of more than ``limit`` bytes ends it, and so does an agent that does not read what it is sent
    until that is as much; ``fault`` then says so. ``ended`` is settled when no more will be read, ``broken``
    when the agent has closed its input.
    """

    def __init__(self, output: int, given: int, limit: int = LINE_LIMIT) -> None:
        """Take the descriptor to read from and the one to write to, which it closes."""
        self._loop = asyncio.get_running_loop()
        self._output = output
        self._given = given
        self._limit = limit
        self._messages: deque[dict[str, Any]] = deque()
        self._line: list[bytes] = []
        self._line_size = 0
        self._unsent = bytearray()
        self._waiting: asyncio.Future[None] | None = None
        self._is_reading = True
        self._is_writing = True
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self.broken: asyncio.Future[None] = self._loop.create_future()
        self.fault: str | None = None
        self.strange: deque[str] = deque(maxlen=STRANGE_LINES)
        for descriptor in (output, given):
            os.set_blocking(descriptor, False)
        self._loop.add_reader(output, self._read)

    async def receive(self) -> dict[str, Any] | None:
        """Give the next message; None when no more will come."""
        while not self._messages:
            if not self._is_reading:
                return None
            self._waiting = self._loop.create_future()
            await self._waiting
        return self._messages.popleft()

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message behind what waits; raises ConnectionError when nobody will read it."""
        if not self._is_writing:
            raise ConnectionError("the agent reads no more")
        waits = bool(self._unsent)
        self._unsent += json.dumps(message, separators=(",", ":"), default=str).encode() + b"\n"
        if len(self._unsent) > self._limit:
            self._break(f"the agent has not read {len(self._unsent):,} bytes that it was sent")
            raise ConnectionError(self.fault)
        if not waits:
            self._write()

    async def close(self) -> None:
        """Hang up, as the package wants it."""
        self.hang_up()

    def hang_up(self) -> None:
        """Neither read nor write any more, and close both pipes. Harmless when repeated."""
        self._end_reading()
        self.end_input()
        if self._output >= 0:
            os.close(self._output)
            self._output = -1

    def end_input(self) -> None:
        """Close the agent's input: most agents end then."""
        self._is_writing = False
        self._unsent.clear()
        if self._given >= 0:
            self._loop.remove_writer(self._given)
            os.close(self._given)
            self._given = -1

    def _read(self) -> None:
        try:
            chunk = os.read(self._output, CHUNK)
        except BlockingIOError:
            return
        if chunk:
            self._take(chunk)
        else:
            self._end_reading()

    def _take(self, chunk: bytes) -> None:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            self._take_line(b"".join([*self._line, line]))
            self._line.clear()
            self._line_size = 0
        self._line.append(rest)
        self._line_size += len(rest)
        if self._line_size > self._limit:
            self._break(f"the agent has written a line of more than {self._limit:,} bytes")

    def _take_line(self, line: bytes) -> None:
        if not line.strip():
            return
        message = read_message(line)
        if message is None:
            self.strange.append(line[:500].decode("utf-8", "replace").strip())
        elif not is_noise(message):
            self._messages.append(message)
            self._wake()

    def _break(self, fault: str) -> None:
        self.fault = self.fault or fault
        self._end_reading()
        self.end_input()

    def _end_reading(self) -> None:
        if self._is_reading:
            self._is_reading = False
            self._line.clear()
            self._loop.remove_reader(self._output)
            if not self.ended.done():
                self.ended.set_result(None)
            self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _write(self) -> None:
        try:
            del self._unsent[: os.write(self._given, self._unsent)]
        except BlockingIOError:
            pass
        except OSError:  # what it has written before can still be read
            self.end_input()
            if not self.broken.done():
                self.broken.set_result(None)
            return
        if self._unsent:
            self._loop.add_writer(self._given, self._write)
        else:
            with suppress(ValueError):
                self._loop.remove_writer(self._given)
