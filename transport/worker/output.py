"""A command's output: read from its pipe as it comes, kept within bounds, decoded across chunk borders."""

import asyncio
import codecs
import os
from collections.abc import Callable
from typing import Final

from showcaller.transport.worker.text import HEAD_LIMIT, TAIL_LIMIT, BothEnds, gap_line

CHUNK: Final = 64 * 1024
HIDDEN: Final = b"[a token of the relay]"
DRAIN: Final = 0.2
"""Seconds for what was written last to come out of a pipe."""


class Veil:
    """Keeps a secret out of bytes that come in chunks, which may cut it anywhere."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self._held = b""

    def through(self, chunk: bytes) -> bytes:
        """Give what may be seen by now; an empty chunk is the end, and then nothing is held back."""
        if not self._secret:
            return chunk
        seen = (self._held + chunk).replace(self._secret, HIDDEN)
        cut = len(seen) - self._begun(seen) if chunk else len(seen)
        self._held = seen[cut:]
        return seen[:cut]

    def _begun(self, seen: bytes) -> int:
        """Tell how many bytes at the end may be the beginning of the secret."""
        most = min(len(seen), len(self._secret) - 1)
        at = seen.find(self._secret[:1], len(seen) - most) if most else -1
        while at >= 0:
            if self._secret.startswith(seen[at:]):
                return len(seen) - at
            at = seen.find(self._secret[:1], at + 1)
        return 0


def hidden_in(text: str, secret: str) -> str:
    """Give a text without a secret that may be in it."""
    return text.replace(secret, HIDDEN.decode()) if secret else text


class TextVeil:
    """Passes text on to ``write`` without a secret of ASCII, which pieces may cut anywhere."""

    def __init__(self, write: Callable[[str], None], secret: str) -> None:
        self._write = write
        self._veil = Veil(secret)

    def add(self, text: str) -> None:
        """Take the next piece."""
        if text:
            self._pass_on(self._veil.through(text.encode("utf-8", "surrogatepass")))

    def end(self) -> None:
        """Pass on what was held back; nothing comes after it that could be the rest of the secret."""
        self._pass_on(self._veil.through(b""))

    def _pass_on(self, seen: bytes) -> None:
        if seen:  # it was cut before a letter of ASCII, if anywhere, and so between characters
            self._write(seen.decode("utf-8", "surrogatepass"))


class CommandOutput:
    """The bytes of one command: both ends are kept for the reply, all are decoded for streaming.

    ``stream`` gets text as it comes; bytes that are not UTF-8 become U+FFFD. ``secret`` comes through as
    ``HIDDEN``. Not thread-safe.
    """

    def __init__(
        self,
        stream: Callable[[str], None],
        head: int = HEAD_LIMIT,
        tail: int = TAIL_LIMIT,
        *,
        secret: str = "",
    ) -> None:
        self._stream = stream
        self._veil = Veil(secret)
        self._kept = BothEnds(b"".join, head, tail)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, chunk: bytes) -> None:
        """Take the next bytes; an empty chunk is their end."""
        is_end = not chunk
        veiled = self._veil.through(chunk)
        if veiled or is_end:
            self._kept.add(veiled)
            self._stream(self._decoder.decode(veiled, final=is_end))

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
