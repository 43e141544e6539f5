from typing import Any

import pytest

from showcaller.actors.contract.calls import Schedule
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.schedule_start import first_fire
from showcaller.actors.contract.shape import shape_call
from showcaller.actors.contract.times import milliseconds_of, time_text

NOW = "2026-11-29T10:15:30.500Z"


def first(**given: Any) -> str:
    call = shape_call({"action": "schedule", "text": "Hello", **given}).call
    assert isinstance(call, Schedule)
    return time_text(first_fire(call, milliseconds_of(NOW)))


@pytest.mark.parametrize(
    ("given", "fires"),
    [
        ({"every_minutes": 90}, "2026-11-29T11:45:30.500Z"),
        ({"at": "2026-12-01T09:00:00Z"}, "2026-12-01T09:00:00.000Z"),
        ({"at": "2026-12-01T09:00:00Z", "every_minutes": 5}, "2026-12-01T09:00:00.000Z"),
        ({"at": "2026-12-01T09:00:00", "tz": "Europe/Berlin"}, "2026-12-01T08:00:00.000Z"),
        ({"at": "2027-03-28T02:30:00", "tz": "Europe/Berlin"}, "2027-03-28T01:00:00.000Z"),
        ({"at": "2027-10-31T02:30:00", "tz": "Europe/Berlin"}, "2027-10-31T00:30:00.000Z"),
        ({"at": NOW}, NOW),
        ({"at": "2031-11-29T10:15:30.500Z"}, "2031-11-29T10:15:30.500Z"),
        ({"rrule": "FREQ=DAILY;BYHOUR=9;BYMINUTE=0", "tz": "Europe/Berlin"}, "2026-11-30T08:00:00.000Z"),
        (
            {
                "rrule": "FREQ=DAILY;BYHOUR=9;BYMINUTE=0",
                "tz": "Asia/Tokyo",
                "at": "2026-12-24T00:00:01Z",
            },
            "2026-12-25T00:00:00.000Z",
        ),
    ],
)
def test_a_schedule_fires_first_when_it_says(given: dict[str, Any], fires: str) -> None:
    assert first(**given) == fires


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"at": "2026-11-29T10:15:30.499Z"}, "is past"),
        ({"at": "1980-01-01T00:00:00Z"}, "is past"),
        ({"at": "2031-11-29T10:15:30.501Z"}, "more than 5 years ahead"),
        ({"rrule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "tz": "UTC"}, "has no time within 5 years"),
        (
            {"rrule": "FREQ=DAILY;UNTIL=20261201", "tz": "UTC", "at": "2026-12-02T00:00:00Z"},
            "has no time within",
        ),
    ],
)
def test_a_time_that_is_past_too_far_or_never_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(Refusal, match=why) as caught:
        first(**given)
    assert caught.value.code is Code.INVALID_INPUT
    assert caught.value.error.endswith("Nothing was scheduled.")
