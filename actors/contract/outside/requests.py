"""What supervisors ask: to be told what happens, to read the log of events, to read what a session writes."""

import math
from collections.abc import Callable
from typing import Annotated, ClassVar, Final, Literal, Self, TypeVar, get_args

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from showcaller.actors.contract.arguments import ALL, OR_TEXT, Line1000, SessionName, whole_number
from showcaller.actors.contract.arguments.hearing import kind_of
from showcaller.actors.contract.arguments.names import session_name
from showcaller.actors.contract.arguments.texts import choice
from showcaller.actors.contract.calls import CallModel
from showcaller.actors.contract.emptiness import absent_foreign, clean, is_empty
from showcaller.actors.contract.errors import invalid
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.json_text import plain_value
from showcaller.actors.contract.limits import (
    DEFAULT_WAIT_SECONDS,
    EVENTS_PER_PAGE,
    OUTPUT_LINES,
    WATCHED_NAMED,
)
from showcaller.actors.contract.problems import named_problem

Until = Literal["turn-end", "awaiting-input", "exited", "any"]
LONGEST_SECONDS: Final = 366 * 86_400
LAST_CURSOR: Final = 2**63 - 1

Asked = TypeVar("Asked", bound="OutsideRequest")


def _within(low: int, high: int) -> Callable[[object], int]:
    def check(value: object) -> int:
        number = whole_number(value)
        if not low <= number <= high:
            raise ValueError(f"must be {low:,} to {high:,}, not {number}")
        return number

    return check


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"must be a number of seconds, not {kind_of(value)}")  # noqa: TRY004 - pydantic hears it
    try:
        seconds = float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"must be a number of seconds, not {quote_foreign(str(value), 40)}") from None
    if not math.isfinite(seconds) or not 0 <= seconds <= LONGEST_SECONDS:
        raise ValueError(f"must be 0 to {LONGEST_SECONDS:,} seconds")
    return seconds


def _listed(value: object, most: int) -> list[object]:
    entries = [value] if isinstance(value, str) else value
    if not isinstance(entries, list | tuple):
        raise ValueError(f"must be an array of texts, not {kind_of(value)}")  # noqa: TRY004 - pydantic hears it
    if len(entries) > most:
        raise ValueError(f"has {len(entries):,} entries; {most:,} are the most")
    return list(entries)


def _sessions(value: object) -> tuple[str, ...]:
    entries = _listed(value, WATCHED_NAMED)
    every = [isinstance(entry, str) and entry.strip().lower() == "all" for entry in entries]
    if any(every):
        if not all(every):
            raise ValueError('must be ["all"] alone or a list of session ids')
        return ALL
    return tuple(dict.fromkeys(map(session_name, entries)))


def _until(value: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(choice(*get_args(Until)), _listed(value, 16))))


Cursor = Annotated[int, Field(ge=0, le=LAST_CURSOR), BeforeValidator(_within(0, LAST_CURSOR))]
Seconds = Annotated[float, Field(ge=0, le=LONGEST_SECONDS), BeforeValidator(_seconds)]


class OutsideRequest(CallModel):
    """Base of what supervisors ask."""

    name: ClassVar[str]


class Monitor(OutsideRequest):
    """Wait until something happens in sessions, and be told all that did and all that is still to come."""

    name: ClassVar[str] = "session_monitor"

    sessions: Annotated[
        tuple[str, ...], OR_TEXT, Field(max_length=WATCHED_NAMED), BeforeValidator(_sessions)
    ] = Field(
        default=ALL, description='Ids of the sessions to watch, or ["all"] for every one now and later.'
    )
    until: Annotated[tuple[Until, ...], OR_TEXT, Field(max_length=16), BeforeValidator(_until)] = Field(
        default=("turn-end", "awaiting-input", "exited"),
        description="What to wait for. turn-end: a turn ended or failed; awaiting-input: a question was put "
        "to the user; exited: an agent's process ended; any: whatever happens.",
    )
    timeout: Seconds = Field(
        default=DEFAULT_WAIT_SECONDS, description="Seconds to wait at most; 0 tells at once how it stands."
    )
    since: Cursor | None = Field(
        default=None,
        description="The cursor next of the answer before: what happened after it is told. Without it, what "
        "happens from now on, and at once those of the named sessions that are idle already.",
    )


class Events(OutsideRequest):
    """Read the log of events from a cursor on, without waiting."""

    name: ClassVar[str] = "session_events"

    since: Cursor = Field(
        default=0, description="The cursor next of the page before; 0 for all events that are kept."
    )
    limit: Annotated[int, Field(ge=1, le=EVENTS_PER_PAGE), BeforeValidator(_within(1, EVENTS_PER_PAGE))] = (
        Field(default=100, description="How many events to give at most.")
    )


class Output(OutsideRequest):
    """Read the lines that a session's agent has written, after a cursor or the last ones."""

    name: ClassVar[str] = "session_output"

    session: SessionName = Field(description="The id of the session.")
    since: Line1000 | None = Field(
        default=None, description="The cursor next of the answer before: the lines after it are given."
    )
    last: Annotated[int, Field(ge=0, le=OUTPUT_LINES), BeforeValidator(_within(0, OUTPUT_LINES))] | None = (
        Field(default=None, description="Without since: how many of the newest lines to give. Else 50.")
    )
    wait: Seconds = Field(default=0, description="Seconds to wait for a line when there is none.")

    @model_validator(mode="after")
    def _one_beginning(self) -> Self:
        if self.since is not None and self.last is not None:
            raise ValueError("takes since or last, not both")
        return self


def read_request(model: type[Asked], raw: object) -> Asked:
    """Make a request of what a door received, a JSON object; raises ``Refusal`` that says what to mend."""
    given = plain_value(raw)
    if not isinstance(given, dict):
        raise invalid(f"{model.name}: its arguments are a JSON object.")
    fields = model.model_fields
    foreign = [
        quote_foreign(name, 40)
        for name, value in given.items()
        if name not in fields and not absent_foreign(value)
    ]
    if foreign:
        own = ", ".join(fields)
        raise invalid(f"{model.name} does not take: {', '.join(foreign[:5])}. Its arguments: {own}.")
    taken = {name: clean(value, fields[name]) for name, value in given.items() if name in fields}
    taken = {name: value for name, value in taken.items() if not is_empty(value)}
    missing = [name for name, field in fields.items() if field.is_required() and name not in taken]
    if missing:
        raise invalid(f"{model.name} needs {' and '.join(missing)}.", missing_arguments=missing)
    try:
        return model.model_validate(taken)
    except ValidationError as error:
        problems = map(named_problem, error.errors(include_url=False, include_input=False)[:5])
        raise invalid(f"{model.name}: {'; '.join(problems)}.") from error
