"""The cells of one line, and how many of them a character takes."""

import unicodedata
from functools import lru_cache
from typing import Final

Row = list[str]
"""A character with its marks in each cell; the second cell of a wide character is empty text."""

BLANK: Final = " "
MOST_MARKS: Final = 16
"""Marks that one cell keeps: languages need a few, piled-up noise has thousands."""

_JOINERS: Final = "\u200c\u200d"
_HIDDEN: Final = frozenset({"Cc", "Cf"})
_MARKS: Final = frozenset({"Mn", "Me"})
_JAMO: Final = range(0x1160, 0x1200)  # vowels and endings, which join the consonant before
_SPECIAL_PLANE: Final = range(0xE0000, 0xF0000)  # tags and selectors: nothing to see, much to hide
_SEPARATORS: Final = frozenset({"Zl", "Zp"})


@lru_cache(maxsize=4096)
def shown(character: str) -> tuple[str, int]:
    """Give what stands for a character, and its cells: 0 for a mark on the one before.

    Empty text stands for what is never shown: controls and invisible formatting, but for the joiners of
    scripts and emoji. A lone surrogate is shown as U+FFFD, a line or paragraph separator as a space.
    """
    if ord(character) in _SPECIAL_PLANE:
        return "", 0
    category = unicodedata.category(character)
    if category in _MARKS or character in _JOINERS or ord(character) in _JAMO:
        return character, 0
    if category in _SEPARATORS:
        return BLANK, 1
    if category == "Cs":
        return "\ufffd", 1
    if category in _HIDDEN:
        return "", 0
    return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1


def part(row: Row, column: int) -> None:
    """Blank a wide character that stands on both sides of a border that is about to be cut."""
    if 0 < column < len(row) and not row[column]:
        row[column - 1] = row[column] = BLANK


def overwrite(row: Row, column: int, cells: Row) -> None:
    """Put cells at a column that is inside the row or at its end."""
    end = column + len(cells)
    part(row, column)
    part(row, end)
    row[column:end] = cells


def mark(row: Row, column: int, sign: str) -> None:
    """Put a mark on the character before a column; without one it is dropped."""
    at = column - 1
    if 0 < at < len(row) and not row[at]:
        at -= 1
    if 0 <= at < len(row) and len(row[at]) <= MOST_MARKS:
        row[at] += sign
