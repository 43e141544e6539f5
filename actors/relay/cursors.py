"""Cursors of paged lists, as callers carry them: opaque text that only we can read back."""

import base64
import binascii
import json
from typing import Any

from showcaller.actors.contract.errors import invalid


def write_cursor(kind: str, place: list[Any]) -> str:
    """Make the text of a place in a list of this kind."""
    return (
        base64.urlsafe_b64encode(json.dumps([kind, *place], separators=(",", ":")).encode())
        .decode()
        .rstrip("=")
    )


def read_cursor(kind: str, text: str, shape: tuple[type, ...]) -> list[Any]:
    """Read a place back; raises ``Refusal`` for text that is no cursor of this kind."""
    found: Any = None
    place: list[Any] = []
    try:
        padded = text + "=" * (-len(text) % 4)
        found, *place = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        found = None
    if found != kind or [type(part) for part in place] != list(shape) or not all(map(_storable, place)):
        raise invalid("This cursor is not one that this relay gave for this list: start again without it.")
    return place


def _storable(part: Any) -> bool:
    """Tell whether the store can look for it: whole numbers of 64 bits, and text that has a UTF-8 form."""
    if isinstance(part, int):
        return -(2**63) <= part < 2**63
    return not isinstance(part, str) or part.isascii()
