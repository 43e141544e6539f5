from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.times import milliseconds_of, time_text
from showcaller.actors.relay.wakeups.recurrence import MINUTE, Fire, Hold, Rhythm, Skip, Wait, due, next_after

MADE = milliseconds_of("2026-11-30T10:00:00.000Z")
DAY = 1440 * MINUTE
HOURLY = Rhythm(MADE, every_minutes=60)
NINE = Rhythm(MADE, rrule="FREQ=DAILY;BYHOUR=9;BYMINUTE=0", tz="Europe/Berlin")


def at(text: str) -> int:
    return milliseconds_of(f"{text}:00.000Z")


def minutes(number: float) -> int:
    return MADE + int(number * MINUTE)


# -- the next time ---------------------------------------------------------------------------------


def test_every_so_many_minutes_from_when_it_was_made() -> None:
    assert next_after(HOURLY, MADE) == minutes(60)
    assert next_after(HOURLY, minutes(59.9)) == minutes(60)
    assert next_after(HOURLY, minutes(60)) == minutes(120)


def test_the_first_at_a_time_and_then_every_so_many_minutes() -> None:
    rhythm = Rhythm(MADE, at=minutes(7), every_minutes=60)
    assert next_after(rhythm, MADE) == minutes(7)
    assert next_after(rhythm, minutes(7)) == minutes(67)
    assert next_after(rhythm, minutes(1000)) == minutes(1027)


def test_one_time_comes_once() -> None:
    rhythm = Rhythm(MADE, at=minutes(7))
    assert next_after(rhythm, MADE) == minutes(7)
    assert next_after(rhythm, minutes(7)) is None


def test_a_rule_keeps_to_its_zones_clock() -> None:
    assert next_after(NINE, at("2027-03-27T08:00")) == at("2027-03-28T07:00")
    assert next_after(NINE, at("2026-12-01T07:59")) == at("2026-12-01T08:00")


def test_a_rule_has_no_time_before_its_first_and_none_after_its_last() -> None:
    late = NINE._replace(at=at("2026-12-24T08:00"))
    assert next_after(late, MADE) == at("2026-12-24T08:00")
    until = NINE._replace(rrule="FREQ=DAILY;BYHOUR=9;BYMINUTE=0;UNTIL=20261202")
    assert next_after(until, at("2026-12-02T08:00")) is None
    counted = NINE._replace(rrule="FREQ=DAILY;BYHOUR=9;BYMINUTE=0;COUNT=2")
    assert next_after(counted, at("2026-12-01T08:00")) == at("2026-12-02T08:00")
    assert next_after(counted, at("2026-12-02T08:00")) is None


def test_a_rule_in_a_zone_that_is_not_known_any_more_has_no_time() -> None:
    assert next_after(NINE._replace(tz="Europe/Atlantis"), MADE) is None


# -- what is due -----------------------------------------------------------------------------------


def test_it_fires_when_its_time_has_come() -> None:
    assert due(HOURLY, minutes(60), minutes(59.9)) == Wait(minutes(60))
    assert due(HOURLY, minutes(60), minutes(60)) == Fire(minutes(120))


@pytest.mark.parametrize(
    "rhythm",
    [Rhythm(MADE, at=minutes(60)), HOURLY._replace(once=True), NINE._replace(once=True)],
)
def test_what_fires_once_has_no_next_time(rhythm: Rhythm) -> None:
    assert due(rhythm, minutes(60), minutes(61)) == Fire(None)


def test_missed_times_fire_once_and_keep_their_grid() -> None:
    assert due(HOURLY, minutes(60), minutes(725)) == Fire(minutes(780))
    assert due(NINE, at("2026-12-01T08:00"), at("2026-12-11T20:00")) == Fire(at("2026-12-12T08:00"))
    assert due(Rhythm(MADE, at=minutes(60)), minutes(60), minutes(9000)) == Fire(None)


def test_a_repeat_is_left_out_while_the_message_of_the_last_still_waits() -> None:
    assert due(HOURLY, minutes(120), minutes(120), last_fired_at=minutes(60), last_waits=True) == Skip(
        minutes(180)
    )


def test_a_firing_that_may_not_leave_is_held_and_looked_at_each_minute() -> None:
    held = due(HOURLY, minutes(60), minutes(61), is_allowed=False)
    assert held == Hold(minutes(61), minutes(62))
    later = due(HOURLY, minutes(60), minutes(150), is_allowed=False, held_since=minutes(61))
    assert later == Hold(minutes(61), minutes(151))
    assert due(HOURLY, minutes(60), minutes(151), held_since=minutes(61)) == Fire(minutes(180))


# -- a clock that is set ---------------------------------------------------------------------------


def test_a_clock_that_is_set_back_a_little_fires_nothing_twice() -> None:
    fired = minutes(60)
    for back in (0.1, 1, 30, 59):
        now = fired - int(back * MINUTE)
        assert due(HOURLY, minutes(120), now, last_fired_at=fired) == Wait(minutes(120)), back


def test_a_clock_that_is_set_back_far_does_not_stop_it() -> None:
    fired = minutes(600 * 1440)
    assert due(HOURLY, fired + 60 * MINUTE, minutes(90), last_fired_at=fired) == Wait(minutes(120))
    rule = due(NINE, at("2031-06-02T07:00"), at("2026-12-01T09:00"), last_fired_at=at("2031-06-01T07:00"))
    assert rule == Wait(at("2026-12-02T08:00"))


def test_a_clock_that_is_set_back_before_it_was_made_does_not_stop_it() -> None:
    assert due(HOURLY, minutes(60), MADE - 400 * DAY) == Wait(MADE - 400 * DAY + 60 * MINUTE)
    assert due(NINE, at("2026-12-01T08:00"), at("2025-01-01T00:00")) == Wait(at("2025-01-01T08:00"))


def test_a_time_that_was_named_is_waited_for_whatever_the_clock_does() -> None:
    assert due(Rhythm(MADE, at=minutes(60)), minutes(60), MADE - 400 * DAY) == Wait(minutes(60))


def test_a_clock_that_is_set_forward_fires_once() -> None:
    assert due(HOURLY, minutes(60), minutes(60 + 300 * 1440)) == Fire(minutes(120 + 300 * 1440))


# -- against every minute --------------------------------------------------------------------------

RHYTHMS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "every": st.integers(1, 90),
        "first": st.none() | st.integers(0, 200),
        "off": st.lists(st.tuples(st.integers(0, 600), st.integers(1, 200)), max_size=3),
        "slow": st.lists(st.tuples(st.integers(0, 600), st.integers(1, 200)), max_size=3),
    }
)


@given(RHYTHMS)
def test_each_minute_says_so(drawn: dict[str, Any]) -> None:
    """The relay is off, and the last message waits, for some of the minutes."""
    every, first = drawn["every"], drawn["first"]
    rhythm = Rhythm(MADE, at=None if first is None else minutes(first), every_minutes=every)
    begins = every if first is None else first

    def within(spans: list[tuple[int, int]], minute: int) -> bool:
        return any(start <= minute < start + length for start, length in spans)

    fired: list[int] = []
    skipped: list[int] = []
    missed = False
    for minute in range(1000):
        missed = missed or (minute >= begins and (minute - begins) % every == 0)
        if missed and not within(drawn["off"], minute):
            missed = False
            waits = bool(fired) and within(drawn["slow"], minute)
            (skipped if waits else fired).append(minute)

    really_fired: list[int] = []
    really_skipped: list[int] = []
    next_at, last = minutes(begins), None
    for minute in range(1000):
        if within(drawn["off"], minute):
            continue
        now = minutes(minute)
        waits = last is not None and within(drawn["slow"], minute)
        decision = due(rhythm, next_at, now, last_fired_at=last, last_waits=waits)
        assert not isinstance(decision, Hold)
        if isinstance(decision, Fire):
            really_fired.append(minute)
            last = now
        elif isinstance(decision, Skip):
            really_skipped.append(minute)
        following = decision.until if isinstance(decision, Wait) else decision.next_at
        assert following is not None
        next_at = following
    assert (really_fired, really_skipped) == (fired, skipped)


@given(
    st.integers(1, 3000),
    st.lists(st.integers(-5000, 5000), min_size=1, max_size=12),
    st.sampled_from([None, "FREQ=HOURLY;BYMINUTE=30", "FREQ=DAILY;INTERVAL=2;BYHOUR=9,17;BYMINUTE=0"]),
)
def test_however_the_clock_is_set_it_goes_on_and_fires_no_time_twice_in_a_row(
    every: int, settings: list[int], rule: str | None
) -> None:
    rhythm = Rhythm(
        MADE, every_minutes=None if rule else every, rrule=rule, tz="Europe/Berlin" if rule else None
    )
    longest = 5 * DAY if rule else 2 * every * MINUTE
    now = MADE
    first = next_after(rhythm, now)
    assert first is not None
    next_at, last = first, None
    for setting in settings:
        now += setting * MINUTE
        decision = due(rhythm, next_at, now, last_fired_at=last)
        while not isinstance(decision, Fire):
            assert isinstance(decision, Wait)
            assert decision.until - now <= longest, (time_text(now), time_text(decision.until))
            if rule is None and last is not None and now < last:
                assert next_after(rhythm, decision.until - 1) == decision.until
            next_at = now = decision.until
            decision = due(rhythm, next_at, now, last_fired_at=last)
        assert decision.next_at is not None
        next_at, last = decision.next_at, now
        assert due(rhythm, next_at, now, last_fired_at=last) == Wait(next_at)
