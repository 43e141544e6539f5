from typing import Any

import pytest

from showcaller.actors.contract.calls import ListSchedules, Schedule, Unschedule
from showcaller.actors.contract.calls.schedules import (
    ListSchedulesResult,
    ScheduleResult,
    ScheduleRow,
    ScheduleView,
    UnscheduleResult,
)
from showcaller.actors.contract.views import SessionTitle
from tests.actors.contract.examples import SESSION
from tests.actors.contract.shaping import call_of, refusal_of, shaped

NOTHING = " Nothing was scheduled."
RULE = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0"


def test_the_defaults_are_those_of_the_contract() -> None:
    assert call_of(Schedule) == Schedule(relay="this", text="Hello", every_minutes=60, once=False)


@pytest.mark.parametrize(
    "given",
    [
        {"at": "2026-11-02T02:00:00Z"},
        {"at": "2026-11-02T02:00:00+01:00", "every_minutes": 1440},
        {"at": "2026-11-02T02:00:00", "tz": "Europe/Berlin"},
        {"every_minutes": 1},
        {"every_minutes": "525600", "once": True},
        {"rrule": RULE, "tz": "Europe/Berlin"},
        {"rrule": RULE, "tz": "Europe/Berlin", "at": "2026-11-02T02:00:00", "title": "Mornings"},
    ],
)
def test_times_that_go_together_are_taken(given: dict[str, Any]) -> None:
    taken = call_of(Schedule, **{"every_minutes": None, **given})
    assert taken.model_dump(exclude_defaults=True).keys() == {"text", *given}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "needs at least one of at, every_minutes, rrule"),
        ({"rrule": RULE, "tz": "UTC", "every_minutes": 5}, "rrule and every_minutes do not go together"),
        ({"rrule": RULE}, "rrule needs tz"),
        ({"at": "2026-11-02T02:00:00"}, "at without an offset or Z needs tz"),
        ({"at": "2026-11-02"}, "is no ISO 8601 date with a time"),
        ({"at": "tomorrow"}, "is no ISO 8601 date with a time"),
        ({"at": 1793620800}, "at must be text, not a number"),
        ({"every_minutes": 0}, "every_minutes must be 1 to 525600, not 0"),
        ({"every_minutes": 525_601}, "every_minutes must be 1 to 525600, not 525601"),
        ({"every_minutes": -5}, "every_minutes must be 1 to 525600, not -5"),
        ({"every_minutes": 1.5}, "every_minutes must be a whole number"),
        ({"rrule": "FREQ=SECONDLY", "tz": "UTC"}, "rrule FREQ must be one of"),
        ({"rrule": "FREQ=DAILY;BYSECOND=30", "tz": "UTC"}, "rrule must not have BYSECOND"),
        ({"rrule": "FREQ=DAILY;BYHOUR=" + "9," * 250, "tz": "UTC"}, "500 are the most"),
        ({"rrule": RULE, "tz": "Berlin"}, 'tz "Berlin" is not an IANA time zone'),
        ({"every_minutes": 5, "tz": "/etc/localtime"}, "is not an IANA time zone"),
        ({"every_minutes": 5, "session": "desk"}, "session"),
        ({"every_minutes": 5, "text": ""}, "needs text"),
    ],
)
def test_times_that_say_nothing_or_too_much_are_refused(given: dict[str, Any], why: str) -> None:
    error = refusal_of("schedule", **{"every_minutes": None, **given})
    assert why in error
    assert error.endswith(NOTHING)


def test_every_minutes_is_never_clamped() -> None:
    assert shaped("schedule", every_minutes=525_600).notes == ()
    assert "must be" in refusal_of("schedule", every_minutes=10**18)


def test_the_text_stays_as_it_was_sent() -> None:
    assert call_of(Schedule, text=" a\n b ").text == " a\n b "


def test_another_session_makes_it_a_write_and_a_prompt() -> None:
    own, other = shaped("schedule"), shaped("schedule", session=SESSION)
    assert not own.action.is_write(own.call)
    assert not own.action.is_prompt(own.call)
    assert other.action.is_write(other.call)
    assert other.action.is_prompt(other.call)


def test_schedule_shows_the_schedule_and_its_next_time() -> None:
    result = ScheduleResult(
        relay="desk",
        summary="schedule → desk: every 1440 min, next 2026-11-02T02:00:00.000Z (sch_3f9c2a1e7b04)",
        schedule_id="sch_3f9c2a1e7b04",
        schedule=ScheduleView(
            id="sch_3f9c2a1e7b04",
            title="Nightly review",
            every_minutes=1440,
            once=False,
            next_fire_at=1_793_584_800_000,
        ),
    ).to_result()
    assert result["schedule_id"] == "sch_3f9c2a1e7b04"
    assert result["schedule"] == {
        "id": "sch_3f9c2a1e7b04",
        "title": "Nightly review",
        "everyMinutes": 1440,
        "once": False,
        "nextFireAt": "2026-11-02T02:00:00.000Z",
    }


def test_a_list_shows_how_often_each_fired_and_how_it_ended() -> None:
    result = ListSchedulesResult(
        relay="desk",
        summary="list_schedules: 1",
        schedules=(
            ScheduleRow(
                id="sch_3f9c2a1e7b04",
                session=SessionTitle(id=SESSION, title="Review"),
                set_by=SessionTitle(id="ses_000000000000", title="Head"),
                text="Review",
                at=0,
                once=True,
                next_fire_at=None,
                last_fired_at=0,
                fired_count=1,
                ended_at=0,
                end_reason="fired",
            ),
        ),
    ).to_result()
    row = result["schedules"][0]
    assert row["nextFireAt"] is None
    assert row["firedCount"] == 1
    assert row["endReason"] == "fired"
    assert row["setBy"] == {"id": "ses_000000000000", "title": "Head"}
    assert row["heldForApproval"] is False


def test_schedules_are_listed_and_ended() -> None:
    assert call_of(ListSchedules).relay == "this"
    assert call_of(Unschedule).schedule_id == "sch_000000000000"
    assert refusal_of("unschedule", schedule_id=[]) == "unschedule: needs schedule_id."
    result = UnscheduleResult(relay="desk", summary="x", schedule_id="sch_000000000000").to_result()
    assert result["endReason"] == "unscheduled"
