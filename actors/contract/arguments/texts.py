"""Arguments that are text: as sent, in one line, or one word of a set."""

import re
from collections.abc import Callable
from typing import Annotated, Final, Literal, get_args

from pydantic import BeforeValidator, Field

from showcaller.actors.contract.arguments.hearing import kind_of
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.limits import (
    DETAIL_CHARACTERS,
    QUESTION_CHARACTERS,
    RECOMMENDATION_CHARACTERS,
    TEXT_CHARACTERS,
)

Mode = Literal["ask", "plan", "agent", "autopilot"]

AS_SENT: Final = "as sent"
"""Marks an argument whose text stays as it was sent, blanks at its ends included."""

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_WORD: Final = re.compile(r"[a-z0-9-]{1,32}")


def text_of(value: object) -> str:
    """Take a value as text; raises ``ValueError`` for anything else."""
    if not isinstance(value, str):
        raise ValueError(f"must be text, not {kind_of(value)}")  # noqa: TRY004 - pydantic hears ValueError
    return value


def at_most(text: str, longest: int) -> str:
    """Give the text back; raises ``ValueError`` when it has more characters than that."""
    if len(text) > longest:
        raise ValueError(f"has {len(text)} characters; {longest} are the most")
    return text


def as_sent(longest: int) -> Callable[[object], str]:
    """Make the check of a text that stays as it was sent."""
    return lambda value: at_most(text_of(value), longest)


def trimmed(longest: int) -> Callable[[object], str]:
    """Make the check of a text without blanks at its ends, of one line or several."""
    return lambda value: at_most(text_of(value).strip(), longest)


def line(longest: int) -> Callable[[object], str]:
    """Make the check of one line without control characters."""

    def check(value: object) -> str:
        text = at_most(text_of(value).strip(), longest)
        if _CONTROL.search(text):
            raise ValueError(f"{quote_foreign(text, 80)} must be one line without control characters")
        return text

    return check


def choice(*choices: str) -> Callable[[object], str]:
    """Make the check of a word of a fixed set, in any case."""

    def check(value: object) -> str:
        text = text_of(value).strip()
        if text.lower() not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}, not {quote_foreign(text, 80)}")
        return text.lower()

    return check


def _word(value: object) -> str:
    text = text_of(value).strip().lower()
    if not _WORD.fullmatch(text):
        raise ValueError(
            f"{quote_foreign(text, 80)} must be one word of letters, digits and dashes, 32 at most"
        )
    return text


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
        return value.strip().lower() == "true"
    raise ValueError("must be true or false")


Prompt = Annotated[
    str, AS_SENT, Field(min_length=1, max_length=TEXT_CHARACTERS), BeforeValidator(as_sent(TEXT_CHARACTERS))
]
Question = Annotated[
    str,
    AS_SENT,
    Field(min_length=1, max_length=QUESTION_CHARACTERS),
    BeforeValidator(as_sent(QUESTION_CHARACTERS)),
]
Detail = Annotated[
    str,
    AS_SENT,
    Field(min_length=1, max_length=DETAIL_CHARACTERS),
    BeforeValidator(as_sent(DETAIL_CHARACTERS)),
]
Recommendation = Annotated[
    str, Field(max_length=RECOMMENDATION_CHARACTERS), BeforeValidator(trimmed(RECOMMENDATION_CHARACTERS))
]
Switch = Annotated[bool, BeforeValidator(_switch)]
Word = Annotated[str, Field(max_length=32), BeforeValidator(_word)]
ModeChoice = Annotated[Mode, BeforeValidator(choice(*get_args(Mode)))]
ScopeChoice = Annotated[
    Literal["active", "recent", "all"], BeforeValidator(choice("active", "recent", "all"))
]
IfBusyChoice = Annotated[Literal["queue", "fail"], BeforeValidator(choice("queue", "fail"))]
Line64 = Annotated[str, Field(max_length=64), BeforeValidator(line(64))]
Line200 = Annotated[str, Field(max_length=200), BeforeValidator(line(200))]
Line1000 = Annotated[str, Field(max_length=1000), BeforeValidator(line(1000))]
