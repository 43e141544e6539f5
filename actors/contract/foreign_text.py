"""Text of others inside lines of ours, quoted so that nobody can forge a line, hide or turn a part of it."""

import unicodedata
from typing import Final

LONGEST: Final = 300
"""Characters that a quoted text takes at most, with its quotes."""

_NAMED: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Zero-width joiners shape emoji and several scripts; every other invisible formatting character only hides.
_JOINERS: Final = frozenset("\u200c\u200d")
# Control, formatting (direction marks among them), lone surrogates, line and paragraph separators.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def quote_foreign(text: str, longest: int = LONGEST) -> str:
    """Give a text as one line in double quotes, with control and direction characters escaped.

    What does not fit ends in ``…``, never in the middle of an escape.

    Args:
        text: anything, lone surrogates included.
        longest: characters of the whole, quotes included; at least 3.

    """
    room = longest - 2
    # Each character gives at least one, so what is beyond the room can be left unread.
    parts = [_escaped(character) for character in text[: room + 1]]
    if sum(map(len, parts)) > room:
        while sum(map(len, parts)) > room - 1:
            parts.pop()
        parts.append("…")
    return '"' + "".join(parts) + '"'


def _escaped(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if character in _JOINERS or unicodedata.category(character) not in _UNSEEN:
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
