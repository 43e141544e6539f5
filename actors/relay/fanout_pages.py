"""The items of a fan-out as they come from the store, page by page."""

from collections import deque
from typing import Any

PAGE = 200  # items read at a time; each may hold a reply of a mebibyte


class Pages:
    """Holds one page at most; ``asked`` is true while one is on its way."""

    def __init__(self) -> None:
        self._rows: deque[dict[str, Any]] = deque()
        self._exhausted = False
        self.asked = False
        self.after = 0

    def add(self, rows: list[dict[str, Any]]) -> None:
        """Take the page that was asked for: items with numbers above ``after``."""
        self.asked = False
        self._exhausted = len(rows) < PAGE
        if rows:
            self.after = rows[-1]["number"]
        self._rows.extend(rows)

    def next(self) -> dict[str, Any] | None:
        """Take the next item, None when the page is used up."""
        return self._rows.popleft() if self._rows else None

    @property
    def is_due(self) -> bool:
        """Whether the next page has to be asked for."""
        return not self._rows and not self.asked and not self._exhausted

    @property
    def is_over(self) -> bool:
        """Whether every item was taken."""
        return not self._rows and self._exhausted
