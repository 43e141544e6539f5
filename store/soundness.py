"""What the values of a row may be: a damaged disk, or another program, can leave others than were written."""

import json
import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from operator import contains
from sys import float_info
from typing import Any, Final

from peewee import BlobField, BooleanField, Field, FloatField, IntegerField, TextField

from showcaller.store.errors import RowDamaged

Row = tuple[Any, ...]

FIRST_MOMENT: Final = -62_135_596_800_000
LAST_MOMENT: Final = 253_402_300_799_999
"""The years 1 to 9999, in milliseconds since the epoch: times beyond cannot be written out."""

_NUMBERS: Final[tuple[float, float]] = (-(2**63), 2**63 - 1)
_RANGES: Final = {
    "exit_code": (-(2**31), 2**31 - 1),
    "message_count": (0, 2**63 - 1),
    "seconds": (0, float_info.max),
    "timeout": (0, float_info.max),
}
_WORDS: Final = {
    "message.status": ("queued", "handed", "done", "failed", "stopped", "cancelled"),
    "message.stop_reason": ("end", "length", "refused", "empty", "died", "timeout", "interrupted"),
    "message.error_class": ("auth", "rate_limit", "overloaded", "other"),
    "card.kind": ("approval", "permission", "ask_user"),
    "card.status": ("pending", "answered", "dismissed", "timed_out", "withdrawn"),
}
_NONE: Final = type(None)
_ANY: Final = (int, float, str, _NONE)
_TYPES: Final[tuple[tuple[type[Any], tuple[type, ...], Any], ...]] = (
    (BlobField, (bytes,), b""),
    (FloatField, (float, int), 0.0),
    (IntegerField, (int,), 0),
    (BooleanField, (int,), 0),
    (TextField, (str,), ""),
)


class RowShape:
    """What each value of a row may be, by the fields that it has; anything but bytes where there is none."""

    def __init__(self, selected: Sequence[object]) -> None:
        kinds = [_kind(node) for node in selected]
        fields = list(enumerate(selected))
        self._types = [types for types, _blank in kinds]
        self._blanks = [blank for _types, blank in kinds]
        self._names = [getattr(node, "column_name", "") for node in selected]
        ranges = [(at, *_range(node)) for at, node in fields]
        self._ranges = [(at, low, high) for at, low, high in ranges if (low, high) != _NUMBERS]
        self._words = [
            (at, (*_WORDS[_full_name(node)], None)) for at, node in fields if _full_name(node) in _WORDS
        ]
        self._texts = [(at, _JSON[_full_name(node)]) for at, node in fields if _full_name(node) in _JSON]
        self._selected = selected
        self._table = next((name for _at, node in fields if (name := _table(node))), "")

    def fits(self, row: Row) -> bool:
        """Tell whether all values of a row are such as are written there."""
        # Every row that is read comes through here, so nothing is made on the way.
        if not all(map(contains, self._types, map(type, row))):
            return False
        for at, low, high in self._ranges:
            value = row[at]
            if value is not None and not low <= value <= high:
                return False
        for at, words in self._words:
            if row[at] not in words:
                return False
        return all(row[at] is None or _says(row[at], holds) for at, holds in self._texts)

    def sound(self, rows: list[Row], *, mend: bool) -> list[Row]:
        """Give the rows; those that do not fit mended, or raise RowDamaged that names the first of them."""
        if all(map(self.fits, rows)):
            return rows
        if not mend:
            raise RowDamaged(self.told(next(row for row in rows if not self.fits(row))))
        return [row if self.fits(row) else self._mended(row) for row in rows]

    def told(self, row: Row) -> str:
        """Name what is wrong in a row."""
        return f"{self._table}: {', '.join(self._names[at] for at in self._misfits(row))}"

    def _misfits(self, row: Row) -> list[int]:
        return [at for at, node in enumerate(self._selected) if not RowShape([node]).fits((row[at],))]

    def _mended(self, row: Row) -> Row:
        wrong = self._misfits(row)
        return tuple(self._blanks[at] if at in wrong else value for at, value in enumerate(row))


@contextmanager
def mending(db: sqlite3.Connection) -> Generator[None]:
    """Have what is read show damaged values as well as can be, instead of raising RowDamaged."""
    db.text_factory = readable
    try:
        yield
    finally:
        db.text_factory = str


def mends(db: sqlite3.Connection) -> bool:
    """Tell whether a connection is one that shows damaged values."""
    return db.text_factory is readable


def readable(text: bytes) -> str:
    """Give stored text with what is no UTF-8 replaced."""
    return text.decode("utf-8", "replace")


def folded(text: object) -> str:
    """Give stored text, taken as bytes, as it is compared whatever the case."""
    return readable(text).casefold() if isinstance(text, bytes) else ""


def text_if_sound(text: bytes) -> str | bytes:
    """Give stored text, or its bytes when they are no UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text


def read_json(text: str, what: str) -> Any:
    """Give what is kept as JSON text; raises RowDamaged with ``what`` when it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RowDamaged(f"{what} is no JSON") from error


def _kind(node: object) -> tuple[tuple[type, ...], Any]:
    for kind, types, blank in _TYPES:
        if isinstance(node, kind):
            return ((*types, _NONE), None) if getattr(node, "null", False) else (types, blank)
    return _ANY, None


def _range(node: object) -> tuple[float, float]:
    if isinstance(node, BooleanField):
        return 0, 1
    if not isinstance(node, Field):
        return _NUMBERS
    if isinstance(node, IntegerField) and (node.name == "at" or node.name.endswith("_at")):
        return FIRST_MOMENT, LAST_MOMENT
    return _RANGES.get(node.name, _NUMBERS)


def _table(node: object) -> str:
    return str(node.model._meta.table_name) if isinstance(node, Field) else ""


def _full_name(node: object) -> str:
    return f"{_table(node)}.{node.column_name}" if isinstance(node, Field) else ""


def _is_sender(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("title"), str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _are_options(value: Any) -> bool:
    """Tell whether a value is the options of a card, each with ``id``, ``label`` and ``kind`` as texts."""
    return isinstance(value, list) and all(
        isinstance(option, dict)
        and option.keys() == {"id", "label", "kind"}
        and all(isinstance(part, str) for part in option.values())
        for option in value
    )


def _are_calls(value: Any) -> bool:
    """Tell whether a value is the calls that an approval card is bound to."""
    return isinstance(value, list) and all(
        isinstance(call, dict)
        and call.keys() == {"client_id", "fingerprint", "detail"}
        and all(isinstance(part, (str, _NONE)) for part in call.values())
        for call in value
    )


def _are_grants(value: Any) -> bool:
    """Tell whether a value is what the *Allow* of an approval card grants."""
    return (
        isinstance(value, dict)
        and value.keys() == {"stands", "restarts_count"}
        and isinstance(value["stands"], list)
        and all(isinstance(kind, str) for kind in value["stands"])
        and isinstance(value["restarts_count"], bool)
    )


def _is_effect(value: Any) -> bool:
    """Tell whether a value is what a repeat gets, of whatever write."""
    if not isinstance(value, dict):
        return False
    parts = {name: type(value[name]) for name in _EFFECT.keys() & value.keys()}
    return bool(parts) and all(_EFFECT[name] is kind for name, kind in parts.items())


def _are(kind: type) -> Callable[[Any], bool]:
    """Tell of a value whether it is a list, and all in it of one kind."""
    return lambda value: isinstance(value, list) and all(type(part) is kind for part in value)


_EFFECT: Final = {
    "requested": bool,
    "cancelled": list,
    "held_at": int,
    "card": str,
    "changed": list,
    "subscription": str,
    "ended": list,
}
_JSON: Final[dict[str, Callable[[Any], bool]]] = {
    "message.via": _is_sender,
    "client_id.result": _is_effect,
    "card.options": _are_options,
    "card.form": _is_object,
    "card.answer": _is_object,
    "card.call": _are_calls,
    "card.grants": _are_grants,
    "event.detail": _is_object,
    "subscription.events": _are(str),
    "subscription.matches": _are(str),
    "watcher.wakeups": _are(int),
}
"""Columns that keep JSON text, and what that may say."""


def _says(text: str, holds: Callable[[Any], bool]) -> bool:
    try:
        return holds(read_json(text, ""))
    except RowDamaged:
        return False
