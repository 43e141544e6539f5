"""Text and bytes within bounds: replies, error texts and streamed pieces that any border will take."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import AnyStr, Final, Generic

HEAD_LIMIT: Final = 256 * 1024
TAIL_LIMIT: Final = 768 * 1024
_SMALL: Final = 4096


class BothEnds(Generic[AnyStr]):
    """Keeps the first ``head`` and the last ``tail`` characters, or bytes, of what is added.

    Not thread-safe.
    """

    def __init__(self, join: Callable[[Iterable[AnyStr]], AnyStr], head: int, tail: int) -> None:
        """Take the join of text or of bytes, and the limits of both ends."""
        self._join: Callable[[Iterable[AnyStr]], AnyStr] = join
        self._head_limit = head
        self._tail_limit = tail
        self.clear()

    def __bool__(self) -> bool:
        return self._total > 0

    def clear(self) -> None:
        """Forget everything."""
        self._head: list[AnyStr] = []
        self._tail: deque[AnyStr] = deque()
        self._head_room = self._head_limit
        self._tail_size = 0
        self._total = 0

    def add(self, piece: AnyStr) -> None:
        """Add a piece at the end; what neither end can keep is left out."""
        self._total += len(piece)
        if self._head_room > 0:
            first = piece[: self._head_room]
            self._head.append(first)
            self._head_room -= len(first)
            piece = piece[len(first) :]
        if piece:
            self._add_to_tail(piece)

    def parts(self) -> tuple[AnyStr, int, AnyStr]:
        """Give the head, how much was left out, and the tail."""
        head = self._join(self._head)
        tail = self._join(self._tail)
        tail = tail[max(0, len(tail) - self._tail_limit) :]
        return head, self._total - len(head) - len(tail), tail

    def _add_to_tail(self, piece: AnyStr) -> None:
        if self._tail and len(self._tail[-1]) + len(piece) <= _SMALL:
            self._tail[-1] += piece  # or a million single bytes would be a million objects
        else:
            self._tail.append(piece)
        self._tail_size += len(piece)
        while self._tail_size - len(self._tail[0]) >= self._tail_limit:
            self._tail_size -= len(self._tail.popleft())


def gap_line(left_out: int, unit: str) -> str:
    """Give the line that stands where something was left out."""
    return f"\n[… {left_out:,} {unit} left out …]\n"


def joined(ends: BothEnds[str]) -> tuple[str, bool]:
    """Give head and tail as one text, with a line for the gap if there is one, and whether there is."""
    head, left_out, tail = ends.parts()
    return (head + gap_line(left_out, "characters") + tail, True) if left_out else (head + tail, False)


def bounded(text: str, head: int = HEAD_LIMIT, tail: int = TAIL_LIMIT) -> tuple[str, bool]:
    """Cut a text in the middle to ``head`` and ``tail`` characters; gives also whether it was too long."""
    if len(text) <= head + tail:
        return text, False
    ends = BothEnds("".join, head, tail)
    ends.add(text)
    return joined(ends)


def valid(text: str) -> str:
    """Replace lone surrogates, which no border takes, by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
