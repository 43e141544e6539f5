"""Arguments that are arrays of texts: sessions, events, words to match, labels."""

from collections.abc import Callable, Sequence
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from showcaller.actors.contract.arguments.hearing import kind_of
from showcaller.actors.contract.arguments.names import session_name
from showcaller.actors.contract.arguments.texts import choice, line
from showcaller.actors.contract.events import EVENTS, EventName
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.limits import (
    CHOICE_CHARACTERS,
    CHOICES,
    GROUPS_ORDERED,
    MATCH_CHARACTERS,
    MATCH_TEXTS,
    OPTION_CHARACTERS,
    OPTIONS,
    SESSIONS_NAMED,
)

OR_TEXT: Final = "or text"
"""Marks an array for which one text will do: text that is no JSON is that one text."""

ALL: Final = ("all",)
"""What names every session of a relay, now and later."""


def _entries(value: object, most: int, example: str) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be an array, as in {example}, not {kind_of(value)}")  # noqa: TRY004 - pydantic hears it
    if len(value) > most:
        raise ValueError(f"has {len(value)} entries; {most} are the most")
    return value


def _each(check: Callable[[object], str], most: int, example: str) -> Callable[[object], tuple[str, ...]]:
    """Make the check of an array, each of whose entries counts once however often it is there."""
    return lambda value: tuple(dict.fromkeys(check(entry) for entry in _entries(value, most, example)))


def _is_all(entry: object) -> bool:
    return isinstance(entry, str) and entry.strip().lower() == "all"


def _sessions(value: object) -> tuple[str, ...]:
    entries = _entries(value, SESSIONS_NAMED, '["all"]')
    if not any(map(_is_all, entries)):
        return tuple(dict.fromkeys(map(session_name, entries)))
    if not all(map(_is_all, entries)):
        raise ValueError('must be ["all"] alone or a list of session ids')
    return ALL


def group_names(value: object) -> tuple[str, ...]:
    """Take a value as ids or names of groups; raises ``ValueError``."""
    return _each(line(200), GROUPS_ORDERED, '["Release 2.4"]')(value)


def _matches(value: object) -> tuple[str, ...]:
    entries = [value] if isinstance(value, str) else value
    return _each(line(MATCH_CHARACTERS), MATCH_TEXTS, '["deploy"]')(entries)


def _options(value: object) -> tuple[str, ...]:
    options = tuple(map(line(OPTION_CHARACTERS), _entries(value, OPTIONS, '["Yes", "No"]')))
    seen: set[str] = set()
    for option in options:
        if option.casefold() in seen:  # whoever answers names an option in any case
            raise ValueError(f"has {quote_foreign(option, 80)} twice")
        seen.add(option.casefold())
    return options


Sessions = Annotated[tuple[str, ...], Field(max_length=SESSIONS_NAMED), BeforeValidator(_sessions)]
Excluded = Annotated[
    tuple[str, ...],
    Field(max_length=SESSIONS_NAMED),
    BeforeValidator(_each(session_name, SESSIONS_NAMED, '["ses_3f9c2a1e7b0d"]')),
]
EventNames = Annotated[
    tuple[EventName, ...],
    Field(max_length=SESSIONS_NAMED),
    BeforeValidator(_each(choice(*EVENTS), SESSIONS_NAMED, '["error", "turn_end"]')),
]
Matches = Annotated[tuple[str, ...], OR_TEXT, Field(max_length=MATCH_TEXTS), BeforeValidator(_matches)]
Choices = Annotated[
    tuple[str, ...],
    Field(max_length=CHOICES),
    BeforeValidator(_each(line(CHOICE_CHARACTERS), CHOICES, '["Merge"]')),
]
Options = Annotated[tuple[str, ...], Field(max_length=OPTIONS), BeforeValidator(_options)]
