"""Text from outside made harmless to a terminal, and fitted to a width."""

import re
from typing import Literal

Cut = Literal["end", "middle"]

# C0 and C1 controls; marks, separators and controls of direction; what is invisible; lone surrogates; tags.
_HOSTILE = (
    "\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069"
    "\ufeff\ud800-\udfff\U000e0000-\U000e007f"
)
_ONE_LINE = re.compile(f"[{_HOSTILE}]")
_MANY_LINES = re.compile(f"(?![\n\t])[{_HOSTILE}]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
ELLIPSIS = "…"


def visible(text: str) -> str:
    """Give the text as one line in which every character that could steer a terminal shows as its escape."""
    return _ONE_LINE.sub(_escape, text)


def readable(text: str) -> str:
    """Like ``visible``, but line breaks and tabs stay."""
    return _MANY_LINES.sub(_escape, text.replace("\r\n", "\n"))


def json_safe(line: str) -> str:
    """Give the same JSON text in which nothing inside a string could steer a terminal or fail to encode."""
    return _ONE_LINE.sub(_json_escape, line)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    number = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _json_escape(match: re.Match[str]) -> str:
    number = ord(match.group())
    if number < 0x10000:
        return f"\\u{number:04x}"
    number -= 0x10000
    return f"\\u{0xD800 + (number >> 10):04x}\\u{0xDC00 + (number & 0x3FF):04x}"


def width_of(text: str) -> int:
    """Give the number of terminal cells that one line of visible text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def fit(text: str, width: int, cut: Cut = "end") -> str:
    """Shorten one line of visible text to at most ``width`` cells, at its end or in its middle (paths)."""
    if width_of(text) <= width:
        return text
    if width <= 1:
        return ELLIPSIS[:width]
    tail = (width - 1) * 2 // 3 if cut == "middle" else 0
    end = _head(text[::-1], tail)[::-1]
    return _head(text, width - 1 - width_of(end)) + ELLIPSIS + end


def _head(text: str, width: int) -> str:
    if text.isascii():
        return text[:width]
    used = 0
    for index, character in enumerate(text):
        used += width_of(character)
        if used > width:
            return text[:index]
    return text
