"""The end of a text that comes in pieces, within a bound."""


class Tail:
    """Keeps at least the last ``kept`` characters of what it is given, at most twice as many."""

    __slots__ = ("_kept", "_pieces", "_size", "_was_cut")

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._pieces: list[str] = []
        self._size = 0
        self._was_cut = False

    def add(self, text: str) -> None:
        """Add a piece."""
        self._pieces.append(text)
        self._size += len(text)
        if self._size > 2 * self._kept:
            kept = self.text
            self._pieces, self._size = [kept], len(kept)
            self._was_cut = True

    def clear(self) -> None:
        """Begin anew."""
        self._pieces.clear()
        self._size = 0
        self._was_cut = False

    @property
    def text(self) -> str:
        """The last ``kept`` characters."""
        return "".join(self._pieces)[-self._kept :]

    @property
    def cut(self) -> bool:
        """Whether there was more before ``text``."""
        return self._was_cut or self._size > self._kept

    def __bool__(self) -> bool:
        return self._size > 0
