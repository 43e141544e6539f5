import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.recurrence_rule import check_count, first_time, next_time, read_rule
from showcaller.actors.contract.zones import find_zone, instant, local_time

BERLIN = find_zone("Europe/Berlin")
START = datetime(2026, 11, 29, 10, 15, 30, tzinfo=UTC)  # a Sunday, 11:15:30 in Berlin
HOURS = ",".join(map(str, range(24)))
MINUTES = ",".join(map(str, range(60)))


def first(rule: str, start: datetime = START) -> datetime:
    assert BERLIN is not None
    return first_time(read_rule(rule), start, BERLIN)


@pytest.mark.parametrize(
    ("rule", "fires"),
    [
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0", "2026-11-30T08:00Z"),
        ("FREQ=DAILY;BYHOUR=12;BYMINUTE=0", "2026-11-29T11:00Z"),
        ("FREQ=DAILY;BYHOUR=11;BYMINUTE=15", "2026-11-30T10:15Z"),
        ("FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=30", "2026-12-25T16:30Z"),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;BYHOUR=9;BYMINUTE=0", "2026-11-30T08:00Z"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYHOUR=0;BYMINUTE=0", "2028-02-28T23:00Z"),
        ("FREQ=HOURLY;INTERVAL=6", "2026-11-29T10:16Z"),
        ("FREQ=DAILY;BYHOUR=9;BYMINUTE=0;COUNT=1", "2026-11-30T08:00Z"),
        ("FREQ=DAILY;BYHOUR=9;BYMINUTE=0;UNTIL=20261130", "2026-11-30T08:00Z"),
        ("FREQ=DAILY;BYHOUR=9;BYMINUTE=0;UNTIL=20261130T080000Z", "2026-11-30T08:00Z"),
    ],
)
def test_a_rule_fires_first_by_its_zones_clock(rule: str, fires: str) -> None:
    assert first(rule) == datetime.fromisoformat(fires)


def test_nine_o_clock_is_nine_o_clock_in_summer_and_winter() -> None:
    rule = "FREQ=DAILY;BYHOUR=9;BYMINUTE=0"
    assert first(rule, datetime(2026, 7, 1, tzinfo=UTC)).hour == 7
    assert first(rule, datetime(2026, 12, 1, tzinfo=UTC)).hour == 8


def test_a_skipped_time_fires_at_the_jump_and_a_repeated_one_once() -> None:
    rule = "FREQ=DAILY;BYHOUR=2;BYMINUTE=30"
    assert first(rule, datetime(2027, 3, 27, 12, tzinfo=UTC)) == datetime(2027, 3, 28, 1, tzinfo=UTC)
    assert first(rule, datetime(2026, 10, 25, tzinfo=UTC)) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    second_pass = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)
    assert first(rule, second_pass) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)


def test_a_rule_is_read_in_any_case_and_with_its_name() -> None:
    assert read_rule("rrule:freq=daily;byhour=9;") == "FREQ=DAILY;BYHOUR=9"


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("", "has no part"),
        ("every monday", "has no part"),
        ("BYHOUR=9", "needs FREQ"),
        ("FREQ=SECONDLY", "FREQ must be one of"),
        ("FREQ=DAILY;BYSECOND=0", "rules have no seconds"),
        ("FREQ=DAILY\nDTSTART:20261101T090000", "FREQ must be one of"),
        ("DTSTART=20261101T090000;FREQ=DAILY", "at says when it begins"),
        ("FREQ=YEARLY;BYEASTER=0", "has no part"),
        ("FREQ=DAILY;FREQ=WEEKLY", "has FREQ twice"),
        ("FREQ=DAILY;BYHOUR=24", "BYHOUR must be 0 to 23"),
        ("FREQ=DAILY;BYHOUR=-1", "BYHOUR must be 0 to 23"),
        ("FREQ=DAILY;BYHOUR=9,,10", "BYHOUR must be"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL must be 1 to"),
        ("FREQ=DAILY;INTERVAL=99999999999999999999", "INTERVAL must be 1 to"),
        ("FREQ=DAILY;COUNT=1,2", "COUNT must be"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY must be 1 to 31 or -31 to -1"),
        ("FREQ=MONTHLY;BYDAY=0MO", "BYDAY must name days"),
        ("FREQ=MONTHLY;BYDAY=XX", "BYDAY must name days"),
        ("FREQ=WEEKLY;WKST=1MO", "WKST must be a day"),
        ("FREQ=DAILY;UNTIL=soon", "UNTIL must be a time"),
        ("FREQ=DAILY;UNTIL=20260230", "UNTIL must be a time"),
        ("FREQ=DAILY;COUNT=2;UNTIL=20270101", "COUNT and UNTIL"),
        ("FREQ=DAILY;BYWEEKNO=1", "FREQ=YEARLY only"),
        ("FREQ=MONTHLY;BYYEARDAY=1", "does not go with FREQ=MONTHLY"),
        ("FREQ=WEEKLY;BYMONTHDAY=1", "does not go with FREQ=WEEKLY"),
        ("FREQ=WEEKLY;BYDAY=1MO", "numbered days"),
        ("FREQ=MONTHLY;BYDAY=MO,1TU", "with and without a number"),
        ("FREQ=DAILY;BYSETPOS=1", "needs another part"),
    ],
)
def test_what_is_no_rule_is_refused_with_the_reason(rule: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_rule(rule)


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30;BYHOUR=9",
        "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30;BYHOUR=9;BYMINUTE=7",
        "FREQ=MINUTELY;INTERVAL=1439;BYHOUR=9;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MINUTELY;INTERVAL=525600;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MINUTELY;INTERVAL=60;BYMINUTE=3",
        "FREQ=HOURLY;INTERVAL=2;BYHOUR=12",
        "FREQ=MINUTELY;INTERVAL=1440;BYHOUR=12",
        "FREQ=WEEKLY;INTERVAL=525600;BYDAY=MO",
        "FREQ=YEARLY;INTERVAL=3;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=MONTHLY;BYDAY=1MO;BYMONTHDAY=20",
        f"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;BYHOUR={HOURS};BYMINUTE={MINUTES}",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYSETPOS=366",
        "FREQ=DAILY;UNTIL=20200101",
        "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;UNTIL=20261130T075959Z",
    ],
)
def test_a_rule_that_never_fires_is_refused_quickly(rule: str) -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match="has no time within 5 years"):
        first(rule)
    assert time.process_time() - began < 1  # a tenth of a second here; the library alone searches for many


def test_a_rule_of_many_times_is_answered_quickly() -> None:
    began = time.process_time()
    rule = f"FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR={HOURS};BYMINUTE={MINUTES}"
    assert first(rule) == datetime(2026, 11, 29, 10, 16, tzinfo=UTC)
    assert time.process_time() - began < 1


def lists(low: int, high: int) -> st.SearchStrategy[str]:
    return st.lists(st.integers(low, high), min_size=1, max_size=3).map(
        lambda given: ",".join(map(str, given))
    )


PARTS = {
    "INTERVAL": st.integers(1, 2000).map(str),
    "COUNT": st.integers(1, 9).map(str),
    "WKST": st.sampled_from(["MO", "SU"]),
    "BYMONTH": lists(1, 12),
    "BYMONTHDAY": lists(1, 31),
    "BYHOUR": lists(0, 23),
    "BYMINUTE": lists(0, 59),
    "BYSETPOS": lists(1, 3),
    "BYWEEKNO": lists(1, 53),
    "BYYEARDAY": lists(1, 366),
    "BYDAY": st.sampled_from(["MO", "MO,WE", "1FR", "-1SU", "5MO"]),
}
FREQUENCIES = st.sampled_from(["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"])
RULES = st.builds(
    lambda freq, parts: ";".join([f"FREQ={freq}", *(f"{name}={value}" for name, value in parts.items())]),
    FREQUENCIES,
    st.fixed_dictionaries({}, optional=PARTS),
)


@given(
    RULES,
    st.datetimes(
        datetime.fromisoformat("2020-01-01"), datetime.fromisoformat("2080-01-01"), timezones=st.just(UTC)
    ),
)
def test_any_rule_fires_within_five_years_in_its_hours_or_is_refused(rule: str, start: datetime) -> None:
    try:
        found = first(rule, start)
    except ValueError:
        return
    assert start <= found <= start + timedelta(days=5 * 366)
    assert BERLIN is not None
    parts = dict(part.split("=") for part in rule.split(";"))
    local = local_time(found, BERLIN)
    if "BYMONTH" in parts:
        assert str(local.month) in parts["BYMONTH"].split(",")
    if "BYMINUTE" in parts and not (local.month == 3 and local.hour == 3):  # not at a jump
        assert str(local.minute) in parts["BYMINUTE"].split(",")


@given(st.text(max_size=60) | RULES.map(lambda rule: rule.replace("=", ";", 1)) | RULES)
def test_any_text_is_a_rule_or_refused(text: str) -> None:
    try:
        rule = read_rule(text)
    except ValueError:
        return
    assert rule.startswith("FREQ=")
    assert read_rule(rule) == rule


# -- the next times --------------------------------------------------------------------------------


def following(rule: str, start: datetime, after: datetime) -> datetime | None:
    assert BERLIN is not None
    try:
        return next_time(rule, start, after, BERLIN)
    except ValueError:
        return None


@pytest.mark.parametrize(
    ("rule", "after", "fires"),
    [
        # The interval is counted from where the rule began, on 29 November 2026 at 11:16.
        ("FREQ=DAILY;INTERVAL=3;BYHOUR=9;BYMINUTE=0", "2026-12-03T00:00Z", "2026-12-05T08:00Z"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0", "2036-01-01T00:00Z", "2036-01-07T08:00Z"),
        ("FREQ=WEEKLY", "2036-01-01T00:00Z", "2036-01-06T10:16Z"),
        ("FREQ=MONTHLY", "2027-01-30T00:00Z", "2027-03-29T09:16Z"),
        ("FREQ=YEARLY", "2030-12-01T00:00Z", "2031-11-29T10:16Z"),
        ("FREQ=YEARLY;INTERVAL=2;BYMONTH=2;BYMONTHDAY=28", "2030-01-01T00:00Z", "2030-02-28T10:16Z"),
        ("FREQ=HOURLY;INTERVAL=7", "2026-11-30T00:00Z", "2026-11-30T00:16Z"),
        ("FREQ=MINUTELY;INTERVAL=50", "2040-11-30T00:00Z", "2040-11-30T00:16Z"),
        ("FREQ=DAILY;BYHOUR=9,17;BYMINUTE=0;BYSETPOS=-1", "2027-01-01T20:00Z", "2027-01-02T16:00Z"),
        (
            "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1;BYHOUR=9;BYMINUTE=0",
            "2026-12-01T00:00Z",
            "2026-12-07T08:00Z",
        ),
        ("FREQ=DAILY;BYHOUR=9;BYMINUTE=0;COUNT=400", "2027-12-01T00:00Z", "2027-12-01T08:00Z"),
    ],
)
def test_a_rule_goes_on_from_where_it_began(rule: str, after: str, fires: str) -> None:
    assert following(read_rule(rule), START, datetime.fromisoformat(after)) == datetime.fromisoformat(fires)


def test_a_rule_ends_with_its_last_time() -> None:
    for rule in ("FREQ=DAILY;BYHOUR=9;BYMINUTE=0;COUNT=2", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;UNTIL=20261201"):
        last = datetime(2026, 12, 1, 8, tzinfo=UTC)
        assert following(rule, START, last - timedelta(milliseconds=1)) == last
        assert following(rule, START, last) is None


def test_times_that_a_clock_leaves_out_come_once_at_the_jump_and_those_shown_twice_once() -> None:
    assert BERLIN is not None
    found: list[str] = []
    moment = datetime(2027, 3, 28, 0, 30, tzinfo=UTC)
    for _ in range(4):
        moment = next_time("FREQ=MINUTELY;INTERVAL=20", moment, moment, BERLIN)
        found.append(f"{moment:%H:%M}")
    assert found == ["00:50", "01:00", "01:20", "01:40"]
    start = datetime(2026, 10, 24, 23, 0, tzinfo=UTC)
    assert following("FREQ=HOURLY", start, start) == datetime(2026, 10, 25, 0, 0, tzinfo=UTC)
    assert following("FREQ=HOURLY", start, datetime(2026, 10, 25, 0, 0, tzinfo=UTC)) == datetime(
        2026, 10, 25, 2, 0, tzinfo=UTC
    )


@pytest.mark.parametrize(
    "rule", ["FREQ=MINUTELY;INTERVAL=7", "FREQ=HOURLY;BYDAY=MO", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"]
)
def test_a_rule_that_began_long_ago_is_gone_on_with_quickly(rule: str) -> None:
    began = time.process_time()
    assert following(rule, START - timedelta(days=30 * 365), START) is not None
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("rule", "passes"),
    [
        ("FREQ=DAILY;COUNT=10000", True),
        ("FREQ=YEARLY;COUNT=50", True),
        ("FREQ=MINUTELY;COUNT=10000", True),
        ("FREQ=DAILY", True),
        ("FREQ=YEARLY;COUNT=101", False),
        ("FREQ=HOURLY;BYMONTH=1;BYHOUR=9;BYMINUTE=0;COUNT=10000", False),
    ],
)
def test_a_count_that_takes_too_long_to_count_to_is_refused(rule: str, passes: bool) -> None:
    assert BERLIN is not None
    began = time.process_time()
    if passes:
        check_count(read_rule(rule), START, BERLIN)
    else:
        with pytest.raises(ValueError, match="give UNTIL"):
            check_count(read_rule(rule), START, BERLIN)
    assert time.process_time() - began < 2


def slow_next(rule: str, start: datetime, after: datetime, up_to: datetime) -> datetime | None:
    """Go through all times of a rule from where it began, as the library gives them."""
    assert BERLIN is not None
    whole = start + (timedelta(minutes=1) if start.second or start.microsecond else timedelta())
    begun = local_time(whole.replace(second=0, microsecond=0), BERLIN)
    text = rule if "WKST" in rule else f"{rule};WKST=MO"
    limit = local_time(up_to, BERLIN)
    for local in cast(Iterable[datetime], rrulestr(text, dtstart=begun)):
        if local > limit:
            return None
        if (found := instant(local, BERLIN)) > after:
            return found
    return None


@given(
    RULES,
    st.datetimes(
        datetime.fromisoformat("2026-01-01"), datetime.fromisoformat("2028-01-01"), timezones=st.just(UTC)
    ),
    st.integers(0, 60 * 24 * 40),
)
def test_the_next_time_is_the_one_that_going_through_all_of_them_finds(
    rule: str, start: datetime, minutes: int
) -> None:
    try:
        rule = read_rule(rule)
        first(rule, start)
    except ValueError:
        return
    after = start + timedelta(minutes=minutes)
    found = following(rule, start, after)
    if found is None and rule.startswith(("FREQ=HOURLY", "FREQ=MINUTELY")):
        return  # the library would look for a second time for years
    limit = after + timedelta(days=60) if found is None else found + timedelta(days=1)
    if limit - start < timedelta(days=200):
        assert slow_next(rule, start, after, limit) == found
