"""JSON as it arrives at a border: read strictly, or refused with the reason."""

import json
import re
from typing import Any, Final, NoReturn

from pydantic import JsonValue

from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.limits import CALL_BYTES

DEEPEST: Final = 64
"""Arrays and objects inside each other at most."""
INT_LOWEST: Final = -(2**63)
INT_HIGHEST: Final = 2**64 - 1
"""Whole numbers of 64 bits, signed or not: what the wire and the store's borders carry."""

_TEXT: Final = re.compile(r'"(?:[^"\\]++|\\.?+)*+(?:"|\Z)', re.DOTALL)
"""A string of JSON, one without an end too: so that the time to find all is that of one look at the text."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def parse_json(text: str | bytes, most_bytes: int, most_parts: int | None = None) -> JsonValue:
    """Read one JSON value.

    Args:
        text: the JSON text; bytes are UTF-8, a byte order mark is no part of it.
        most_bytes: bytes of UTF-8 that the text may take.
        most_parts: values that it may hold in all, roughly; looked at before anything is parsed.

    Raises:
        Refusal: for text that is too long, no UTF-8 or no JSON, too many values, a name that comes twice in
            an object, NaN and Infinity, numbers beyond 64 bits, lone surrogates, and more than 64 levels of
            nesting.

    """
    source = _decoded(text, most_bytes)
    if most_parts is not None and _parts_in(source) > most_parts:
        raise invalid(f"The JSON value has more than {most_parts} parts; give a smaller one.")
    try:
        value: Any = json.loads(
            source,
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_int=_whole_number,
            parse_float=_real_number,
        )
    except json.JSONDecodeError as error:
        raise invalid(
            f"This is no JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    except RecursionError as error:
        raise _too_deep() from error
    check_value(value)
    return value  # type: ignore[no-any-return]  # json.loads gives nothing else


def _parts_in(source: str) -> int:
    """Say how many values a JSON text holds at most, without parsing it."""
    bare = _TEXT.sub("", source)
    return 1 + bare.count(",") + bare.count("[") + bare.count("{")


def _decoded(text: str | bytes, most_bytes: int) -> str:
    try:
        raw = text.encode() if isinstance(text, str) else text
        if len(raw) > most_bytes:
            raise invalid(f"The JSON text has {len(raw)} bytes; {most_bytes} are the most.")
        return raw.decode()
    except UnicodeError as error:
        raise invalid("The JSON text is no valid UTF-8.") from error


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise invalid(
                    f"The name {quote_foreign(name, 80)} comes twice in one JSON object; give it once."
                )
            seen.add(name)
    return value


def _no_constant(name: str) -> NoReturn:
    raise invalid(f"{name} is no number in JSON; give a number or leave it out.")


def _whole_number(digits: str) -> int:
    # Twenty digits hold every number of 64 bits; longer ones are not worth converting.
    if len(digits.lstrip("-")) > 20 or not INT_LOWEST <= int(digits) <= INT_HIGHEST:
        raise _beyond(digits)
    return int(digits)


def _real_number(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise _beyond(digits)
    return number


def _beyond(digits: str) -> Refusal:
    return invalid(f"The number {quote_foreign(digits, 40)} is beyond 64 bits; give a smaller one.")


def _too_deep() -> Refusal:
    return invalid(f"The JSON value has arrays or objects inside each other more than {DEEPEST} levels deep.")


def plain_value(value: object) -> JsonValue:
    """Check a value as ``check_value`` does, and give it in Python's own types, whatever it is made of.

    What a program's own kinds of text, number, list or dict do otherwise than these is left out.
    """
    check_value(value)
    return _plain(value)


def _plain(value: object) -> JsonValue:
    match value:
        case str():
            return str.__str__(value)
        case None | bool():
            return value
        case int():
            return int.__int__(value)
        case float():
            return float.__float__(value)
        case list():
            return [_plain(part) for part in list.__iter__(value)]
        case dict():
            return {str.__str__(name): _plain(part) for name, part in dict.items(value)}
        case _:
            raise _no_form(value)


def _no_form(value: object) -> Refusal:
    return invalid(f"JSON has no form for a value of type {type(value).__name__}.")


def check_value(value: object) -> None:
    """Check a value that came as parsed JSON, whoever parsed it, against the same rules.

    Raises:
        Refusal: for what ``parse_json`` would refuse, for what JSON has no form for, and for more than a
            million parts, as a few lists have that hold each other many times.

    """
    level: list[object] = [value]
    left = CALL_BYTES
    for _ in range(DEEPEST):
        level = _parts_of_all(level, left)
        left -= len(level)
        if not level:
            return
    for each in level:
        if isinstance(each, list | dict):
            raise _too_deep()
        _check_single(each)


def _parts_of_all(level: list[object], most: int) -> list[object]:
    """Give the parts of all values of one level; the same list twice in it counts, and is walked, twice."""
    parts: list[object] = []
    for each in level:
        if len(parts) + _count(each) > most:
            raise invalid(f"The JSON value has more than {CALL_BYTES} parts; give a smaller one.")
        parts += _parts(each)
    return parts


def _count(value: object) -> int:
    if isinstance(value, list):
        return list.__len__(value)
    return dict.__len__(value) if isinstance(value, dict) else 0


def _parts(value: object) -> list[object]:
    """Check one value without its parts, and give its parts."""
    if isinstance(value, dict):
        for name in dict.__iter__(value):
            if not isinstance(name, str):
                raise invalid("An object of JSON has names that are texts, and nothing else.")
            _check_text(str.__str__(name))
        return list(dict.values(value))
    if isinstance(value, list):
        return list(list.__iter__(value))
    _check_single(value)
    return []


def _check_single(value: object) -> None:
    match value:
        case str():
            _check_text(str.__str__(value))
        case None | bool():
            pass
        case int():
            value = int.__int__(value)
            if not INT_LOWEST <= value <= INT_HIGHEST:
                raise _beyond("of more than 20 digits" if abs(value) >= 10**20 else str(value))
        case float():
            value = float.__float__(value)
            if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124 - NaN is not itself
                raise invalid(f"{value} is no number in JSON; give a number or leave it out.")
        case _:
            raise _no_form(value)


def _check_text(text: str) -> None:
    if _SURROGATE.search(text):
        raise invalid(
            f"The text {quote_foreign(text, 80)} has half of a surrogate pair, which is no character."
        )
