"""Arguments that are whole numbers: clamped into their range with a note, or refused outside of it."""

import re
from collections.abc import Callable
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema

from showcaller.actors.contract.arguments.hearing import hearing_of, kind_of
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.json_text import INT_HIGHEST, INT_LOWEST
from showcaller.actors.contract.limits import LONGEST_WAIT_MINUTES, WINDOW_TOKENS

_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.0*)?", re.ASCII)


def whole_number(value: object) -> int:
    """Read a whole number of 64 bits from a JSON number or from text that writes one.

    Raises:
        ValueError: for anything else; NaN, Infinity and fractions included.

    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"must be a whole number, not {kind_of(value)}")  # noqa: TRY004 - pydantic hears it
    if isinstance(value, str):
        value = _written_number(value.strip())
    if isinstance(value, float):
        if not value.is_integer():
            raise ValueError(f"must be a whole number, not {value}")
        value = int(value)
    if not INT_LOWEST <= value <= INT_HIGHEST:
        raise ValueError("is beyond 64 bits")
    return value


def _written_number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"must be a whole number, not {quote_foreign(text, 80)}")
    digits = text.partition(".")[0]
    if len(digits) > 21:
        raise ValueError("is beyond 64 bits")
    return int(digits)


def _clamped(low: int, high: int) -> Callable[[object, ValidationInfo], int]:
    def check(value: object, info: ValidationInfo) -> int:
        return _clamp(whole_number(value), low, high, info)

    return check


def _clamp(number: int, low: int, high: int, info: ValidationInfo) -> int:
    taken = min(max(number, low), high)
    if taken != number:
        hearing_of(info).notes.append(
            f"{info.field_name} {number} was taken as {taken} (range {low} to {high})."
        )
    return taken


def _within(low: int, high: int) -> Callable[[object], int]:
    def check(value: object) -> int:
        number = whole_number(value)
        if not low <= number <= high:
            raise ValueError(f"must be {low} to {high}, not {number}")
        return number

    return check


def _wait(value: object, info: ValidationInfo) -> int:
    return _clamp(whole_number(value), 0, hearing_of(info).longest_wait_seconds, info)


def _window(value: object, info: ValidationInfo) -> int | str:
    if isinstance(value, str) and value.strip().lower() == "auto":
        return "auto"
    return _clamp(whole_number(value), 0, WINDOW_TOKENS, info)


WaitSeconds = Annotated[int, Field(ge=0, le=LONGEST_WAIT_MINUTES.highest * 60), BeforeValidator(_wait)]
Count50 = Annotated[int, Field(ge=1, le=50), BeforeValidator(_clamped(1, 50))]
Count100 = Annotated[int, Field(ge=1, le=100), BeforeValidator(_clamped(1, 100))]
Count500 = Annotated[int, Field(ge=1, le=500), BeforeValidator(_clamped(1, 500))]
MaxChars = Annotated[int, Field(ge=500, le=50_000), BeforeValidator(_clamped(500, 50_000))]
DayMinutes = Annotated[int, Field(ge=1, le=1440), BeforeValidator(_clamped(1, 1440))]
HeartbeatMinutes = Annotated[int, Field(ge=5, le=1440), BeforeValidator(_clamped(5, 1440))]
YearMinutes = Annotated[int, Field(ge=1, le=525_600), BeforeValidator(_within(1, 525_600))]
# Published as text, because one flat schema has room for one type; a number is taken just as well.
CompactWindow = Annotated[
    int | Literal["auto"], BeforeValidator(_window), WithJsonSchema({"type": "string", "maxLength": 20})
]
