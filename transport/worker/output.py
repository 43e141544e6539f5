"""A command's output: read from its pipe as it comes, kept within bounds, decoded across chunk borders."""

import asyncio
import codecs
import os
from collections.abc import Callable
from typing import Final

from showcaller.transport.worker.text import HEAD_LIMIT, TAIL_LIMIT, BothEnds, gap_line

CHUNK: Final = 64 * 1024
DRAIN: Final = 0.2
"""Seconds for what was written last to come out of a pipe."""


class CommandOutput:
    """The bytes of one command: both ends are kept for the reply, all are decoded for streaming.

    ``stream`` gets text as it comes; bytes that are not UTF-8 become U+FFFD. Not thread-safe.
    """

    def __init__(self, stream: Callable[[str], None], head: int = HEAD_LIMIT, tail: int = TAIL_LIMIT) -> None:
        self._stream = stream
        self._kept = BothEnds(b"".join, head, tail)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, chunk: bytes) -> None:
        """Take the next bytes; an empty chunk is their end."""
        self._kept.add(chunk)
        self._stream(self._decoder.decode(chunk, final=not chunk))

    def reply(self) -> tuple[str, bool]:
        """Give everything kept as text, and whether something between its ends was left out."""
        head, left_out, tail = self._kept.parts()
        if not left_out:
            return (head + tail).decode("utf-8", "replace"), False
        whole = _without_cut_end(head)
        rest = _without_cut_start(tail)
        left_out += len(head) - len(whole) + len(tail) - len(rest)
        text = (
            whole.decode("utf-8", "replace") + gap_line(left_out, "bytes") + rest.decode("utf-8", "replace")
        )
        return text, True


def _without_cut_end(head: bytes) -> bytes:
    """Drop the beginning of a character whose rest was left out."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(head[-8:])
    return head[: len(head) - len(decoder.getstate()[0])]


def _without_cut_start(tail: bytes) -> bytes:
    """Drop the rest of a character whose beginning was left out: at most three continuation bytes."""
    start = 0
    while start < min(3, len(tail)) and tail[start] & 0xC0 == 0x80:
        start += 1
    return tail[start:]


class Pipe:
    """Reads a pipe on the event loop into an output, until everybody has closed it or ``close`` is called."""

    def __init__(self, descriptor: int, output: CommandOutput) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._output = output
        self.ended: asyncio.Future[None] = self._loop.create_future()
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._read)

    def _read(self) -> None:
        try:
            chunk = os.read(self._descriptor, CHUNK)
        except BlockingIOError:
            return
        self._output.add(chunk)
        if not chunk:
            self._stop()

    def close(self) -> None:
        """Read no more; the output ends here. Harmless when repeated."""
        if not self.ended.done():
            self._output.add(b"")
            self._stop()

    def _stop(self) -> None:
        self._loop.remove_reader(self._descriptor)
        if not self.ended.done():
            self.ended.set_result(None)
