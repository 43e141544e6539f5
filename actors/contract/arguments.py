"""The kinds of arguments that actions take: how a value that came as JSON becomes one, or why it does not.

Each kind is an annotated type. Its check runs before pydantic's own and raises ``ValueError`` with the words
that follow the argument's name in a refusal; the limits beside it are what the published schema shows.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.ids import SHORTEST, session_start
from showcaller.actors.contract.json_text import INT_HIGHEST, INT_LOWEST
from showcaller.actors.contract.limits import LONGEST_WAIT_MINUTES, TEXT_CHARACTERS

Mode = Literal["ask", "plan", "agent", "autopilot"]

AS_SENT: Final = "as sent"
"""Marks an argument whose text stays as it was sent, blanks at its ends included."""

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.0*)?", re.ASCII)
_EFFORT: Final = re.compile(r"[a-z0-9-]{1,32}")
_REPOSITORY: Final = re.compile(
    r"(?:https://|ssh://(?!-))[^\s/-][^\s]*"  # a URL; a host that begins with a dash is an option to ssh
    r"|[A-Za-z0-9_.]+@[A-Za-z0-9_.][A-Za-z0-9_.-]*:(?!-)[^\s]+"  # ssh's short form, user@host:path
    r"|[A-Za-z0-9_][A-Za-z0-9_.-]*/[A-Za-z0-9_][A-Za-z0-9_.-]*"  # owner/name
)


@dataclass
class Hearing:
    """What one call's checks share: how long it may wait at most, and the notes they leave for its result."""

    longest_wait_seconds: int = LONGEST_WAIT_MINUTES.default * 60
    notes: list[str] = field(default_factory=list)


def _hearing(info: ValidationInfo) -> Hearing:
    return info.context if isinstance(info.context, Hearing) else Hearing()


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be text, not {_kind(value)}")  # noqa: TRY004 - pydantic hears ValueError
    return value


def _kind(value: object) -> str:
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case list():
            return "an array"
        case _:
            return "an object"


def _at_most(text: str, longest: int) -> str:
    if len(text) > longest:
        raise ValueError(f"has {len(text)} characters; {longest} are the most")
    return text


def _prompt(value: object) -> str:
    return _at_most(_text(value), TEXT_CHARACTERS)


def _line(longest: int) -> Callable[[object], str]:
    def check(value: object) -> str:
        text = _at_most(_text(value).strip(), longest)
        if _CONTROL.search(text):
            raise ValueError(f"{quote_foreign(text, 80)} must be one line without control characters")
        return text

    return check


def _choice(*choices: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        text = _text(value).strip()
        if text.lower() not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}, not {quote_foreign(text, 80)}")
        return text.lower()

    return check


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
        return value.strip().lower() == "true"
    raise ValueError("must be true or false")


def whole_number(value: object) -> int:
    """Read a whole number of 64 bits from a JSON number or from text that writes one.

    Raises:
        ValueError: for anything else; NaN, Infinity and fractions included.

    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"must be a whole number, not {_kind(value)}")  # noqa: TRY004 - as above
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
        _hearing(info).notes.append(
            f"{info.field_name} {number} was taken as {taken} (range {low} to {high})."
        )
    return taken


def _wait(value: object, info: ValidationInfo) -> int:
    return _clamp(whole_number(value), 0, _hearing(info).longest_wait_seconds, info)


def _relay(value: object) -> str:
    text = _line(255)(value)
    return "this" if text.lower() == "this" else text


def _session(value: object) -> str:
    text = _text(value).strip()
    start = session_start(text)
    if start is None:
        raise ValueError(
            f"{quote_foreign(text, 80)} is no session id; give ses_ and its 12 characters, or {SHORTEST} or "
            "more of them from the first on. list_sessions lists the ids"
        )
    return start


def _effort(value: object) -> str:
    text = _text(value).strip().lower()
    if not _EFFORT.fullmatch(text):
        raise ValueError(
            f"{quote_foreign(text, 80)} must be one word of letters, digits and dashes, 32 at most"
        )
    return text


def _repository(text: str) -> str:
    if not _REPOSITORY.fullmatch(text):
        raise ValueError(f"{quote_foreign(text, 80)} must be an https or ssh address, or owner/name")
    return text


def _branch(text: str) -> str:
    if text.startswith("-") or " " in text:
        raise ValueError(f"{quote_foreign(text, 80)} must be the name of a branch")
    return text


Prompt = Annotated[str, AS_SENT, Field(min_length=1, max_length=TEXT_CHARACTERS), BeforeValidator(_prompt)]
Switch = Annotated[bool, BeforeValidator(_switch)]
ModeChoice = Annotated[Mode, BeforeValidator(_choice(*get_args(Mode)))]
ScopeChoice = Annotated[
    Literal["active", "recent", "all"], BeforeValidator(_choice("active", "recent", "all"))
]
IfBusyChoice = Annotated[Literal["queue", "fail"], BeforeValidator(_choice("queue", "fail"))]
WaitSeconds = Annotated[int, Field(ge=0, le=LONGEST_WAIT_MINUTES.highest * 60), BeforeValidator(_wait)]
RelayName = Annotated[str, Field(max_length=255), BeforeValidator(_relay)]
SessionName = Annotated[str, Field(max_length=16), BeforeValidator(_session)]
Effort = Annotated[str, Field(max_length=32), BeforeValidator(_effort)]
Line64 = Annotated[str, Field(max_length=64), BeforeValidator(_line(64))]
Line200 = Annotated[str, Field(max_length=200), BeforeValidator(_line(200))]
Line1000 = Annotated[str, Field(max_length=1000), BeforeValidator(_line(1000))]
Repository = Annotated[str, Field(max_length=1000), AfterValidator(_repository), BeforeValidator(_line(1000))]
Branch = Annotated[str, Field(max_length=200), AfterValidator(_branch), BeforeValidator(_line(200))]
Count50 = Annotated[int, Field(ge=1, le=50), BeforeValidator(_clamped(1, 50))]
Count100 = Annotated[int, Field(ge=1, le=100), BeforeValidator(_clamped(1, 100))]
MaxChars = Annotated[int, Field(ge=500, le=50_000), BeforeValidator(_clamped(500, 50_000))]
