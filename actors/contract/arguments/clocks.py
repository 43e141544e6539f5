"""Arguments about time: zones, times of day, instants, recurrence rules."""

import re
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from showcaller.actors.contract.arguments.hearing import kind_of
from showcaller.actors.contract.arguments.texts import at_most, line, text_of
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.iso_times import read_time
from showcaller.actors.contract.limits import RULE_CHARACTERS
from showcaller.actors.contract.recurrence_rule import read_rule
from showcaller.actors.contract.zones import find_zone

_TIME_OF_DAY: Final = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d", re.ASCII)
_QUIET_FIELDS: Final = ("from", "to", "tz")


class QuietHours(BaseModel):
    """A daily window in the local time of a zone; written with ``from``, ``to`` and ``tz``.

    ``start`` and ``end`` are times of day as ``HH:MM`` and differ; the window may cross midnight.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )

    start: str = Field(
        validation_alias="from", serialization_alias="from", description='When it begins, as "HH:MM".'
    )
    end: str = Field(validation_alias="to", serialization_alias="to", description='When it ends, as "HH:MM".')
    tz: str = Field(description="An IANA time zone.")


def _zone(value: object) -> str:
    text = line(64)(value)
    if find_zone(text) is None:
        raise ValueError(_no_zone(text))
    return text


def _no_zone(text: str) -> str:
    return (
        f"{quote_foreign(text, 80)} is not an IANA time zone "
        '(for example "Europe/Berlin", "America/New_York", "UTC")'
    )


def _quiet_hours(value: object) -> object:
    if isinstance(value, QuietHours):
        return value
    if not isinstance(value, dict):
        raise ValueError(f"must be an object with from, to and tz, not {kind_of(value)}")  # noqa: TRY004 - pydantic hears it
    foreign = [quote_foreign(str(name), 40) for name in value if name not in _QUIET_FIELDS]
    if foreign:
        raise ValueError(f"takes from, to and tz, not {', '.join(foreign[:5])}")
    start, end = (_time_of_day(value.get(name)) for name in ("from", "to"))
    if start is None or end is None:
        raise ValueError('from and to must be times of day as "HH:MM" (00:00 to 23:59)')
    if start == end:
        raise ValueError("from and to must differ")
    zone = value.get("tz", "")
    if not isinstance(zone, str) or find_zone(zone.strip()) is None:
        raise ValueError(f"tz {_no_zone(zone if isinstance(zone, str) else str(zone))}")
    return {"from": start, "to": end, "tz": zone.strip()}


def _time_of_day(value: object) -> str | None:
    text = value.strip() if isinstance(value, str) else ""
    return text if _TIME_OF_DAY.fullmatch(text) else None


def _at(value: object) -> str:
    text = at_most(text_of(value).strip(), 64)
    read_time(text)
    return text


def _rule(value: object) -> str:
    return read_rule(at_most(text_of(value).strip(), RULE_CHARACTERS))


Zone = Annotated[str, Field(max_length=64), BeforeValidator(_zone)]
QuietWindow = Annotated[QuietHours, BeforeValidator(_quiet_hours)]
Time = Annotated[str, Field(max_length=64), BeforeValidator(_at)]
RecurrenceRule = Annotated[str, Field(max_length=RULE_CHARACTERS), BeforeValidator(_rule)]
