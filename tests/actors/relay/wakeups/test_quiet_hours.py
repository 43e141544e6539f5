import os
import random
from datetime import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.arguments import QuietHours
from showcaller.actors.relay.wakeups.quiet_hours import is_quiet, next_quiet, quiet_until
from tests.actors.relay.wakeups.clocks import (
    MINUTE,
    Transition,
    Walk,
    labels_about,
    milliseconds,
    text_of,
    transitions,
    zones_that_differ,
    zones_with_transitions,
)

EVERYWHERE = bool(os.environ.get("QUIET_HOURS_EVERYWHERE"))
ZONES = zones_with_transitions() if EVERYWHERE else zones_that_differ()


def window(start: str, end: str, tz: str = "Europe/Berlin") -> QuietHours:
    return QuietHours(start=start, end=end, tz=tz)


def at(text: str) -> int:
    """Read an instant with its offset, so that each pass of a repeated hour has its own text."""
    return milliseconds(datetime.fromisoformat(text))


def check_opening(quiet: QuietHours, begins: str, ends: str) -> None:
    """See that it opens and closes there, and that all that is asked about it agrees on that."""
    first, end = at(begins), at(ends)
    assert not is_quiet(quiet, first - 1)
    assert next_quiet(quiet, first - 1) == first
    assert is_quiet(quiet, first)
    assert quiet_until(quiet, first) == end
    assert quiet_until(quiet, (first + end) // 2) == end
    assert is_quiet(quiet, end - 1)
    assert not is_quiet(quiet, end)
    following = next_quiet(quiet, first)
    assert following is not None
    assert following > end


# -- ordinary days ---------------------------------------------------------------------------------


def test_a_window_within_a_day() -> None:
    check_opening(window("12:30", "14:00"), "2026-11-30T12:30+01:00", "2026-11-30T14:00+01:00")


def test_a_window_may_cross_midnight() -> None:
    check_opening(window("23:00", "06:00"), "2026-11-30T23:00+01:00", "2026-12-01T06:00+01:00")


def test_a_window_may_touch_midnight_or_be_a_minute_long_or_leave_a_minute_out() -> None:
    check_opening(window("00:00", "06:00"), "2026-12-01T00:00+01:00", "2026-12-01T06:00+01:00")
    check_opening(window("22:00", "00:00"), "2026-12-01T22:00+01:00", "2026-12-02T00:00+01:00")
    check_opening(window("23:59", "00:00"), "2026-12-01T23:59+01:00", "2026-12-02T00:00+01:00")
    check_opening(window("00:01", "00:00"), "2026-12-01T00:01+01:00", "2026-12-02T00:00+01:00")


def test_a_window_opens_on_a_leap_day() -> None:
    check_opening(window("12:00", "13:00"), "2028-02-29T12:00+01:00", "2028-02-29T13:00+01:00")
    check_opening(window("23:00", "06:00"), "2028-02-28T23:00+01:00", "2028-02-29T06:00+01:00")
    check_opening(window("23:00", "06:00"), "2028-02-29T23:00+01:00", "2028-03-01T06:00+01:00")


def test_a_window_follows_offsets_of_half_hours_and_quarters() -> None:
    check_opening(window("23:00", "06:00", "Asia/Kolkata"), "2026-06-01T17:30Z", "2026-06-02T00:30Z")
    check_opening(window("23:00", "06:00", "Asia/Kathmandu"), "2026-06-01T17:15Z", "2026-06-02T00:15Z")
    check_opening(window("02:30", "03:00", "Pacific/Chatham"), "2026-01-10T12:45Z", "2026-01-10T13:15Z")


def test_a_window_in_utc() -> None:
    check_opening(window("23:00", "06:00", "UTC"), "2026-03-28T23:00Z", "2026-03-29T06:00Z")


# -- clocks go back: Berlin, 2026-10-25, 03:00 (+02:00) becomes 02:00 (+01:00) -----------------------


@pytest.mark.parametrize(
    ("start", "end", "begins", "ends"),
    [
        # The end comes twice: it ends the window the first time.
        ("23:00", "02:30", "2026-10-24T23:00+02:00", "2026-10-25T02:30+02:00"),
        ("23:00", "02:00", "2026-10-24T23:00+02:00", "2026-10-25T02:00+02:00"),
        ("23:00", "02:59", "2026-10-24T23:00+02:00", "2026-10-25T02:59+02:00"),
        ("01:00", "02:30", "2026-10-25T01:00+02:00", "2026-10-25T02:30+02:00"),
        # Just outside of the repeated hour it comes once.
        ("23:00", "01:59", "2026-10-24T23:00+02:00", "2026-10-25T01:59+02:00"),
        ("23:00", "03:00", "2026-10-24T23:00+02:00", "2026-10-25T03:00+01:00"),
        ("23:00", "03:01", "2026-10-24T23:00+02:00", "2026-10-25T03:01+01:00"),
        # The begin comes twice: the first pass opens, and it stays open through the second.
        ("02:30", "06:00", "2026-10-25T02:30+02:00", "2026-10-25T06:00+01:00"),
        ("02:00", "06:00", "2026-10-25T02:00+02:00", "2026-10-25T06:00+01:00"),
        ("02:59", "03:00", "2026-10-25T02:59+02:00", "2026-10-25T03:00+01:00"),
        ("03:00", "06:00", "2026-10-25T03:00+01:00", "2026-10-25T06:00+01:00"),
        # Both come twice.
        ("02:10", "02:40", "2026-10-25T02:10+02:00", "2026-10-25T02:40+02:00"),
        ("02:40", "02:10", "2026-10-25T02:40+02:00", "2026-10-26T02:10+01:00"),
        ("02:40", "02:10", "2026-10-24T02:40+02:00", "2026-10-25T02:10+02:00"),
        # The whole of it is inside.
        ("01:30", "03:30", "2026-10-25T01:30+02:00", "2026-10-25T03:30+01:00"),
    ],
)
def test_when_clocks_go_back(start: str, end: str, begins: str, ends: str) -> None:
    check_opening(window(start, end), begins, ends)


def test_the_repeated_hour_does_not_open_a_window_again() -> None:
    quiet = window("23:00", "02:30")
    assert not is_quiet(quiet, at("2026-10-25T02:10+01:00"))
    assert next_quiet(quiet, at("2026-10-25T02:30+02:00")) == at("2026-10-25T23:00+01:00")
    assert next_quiet(window("02:10", "02:40"), at("2026-10-25T02:40+02:00")) == at("2026-10-26T02:10+01:00")


def test_a_window_opened_in_the_first_pass_is_open_in_the_second_before_its_begin_on_the_clock() -> None:
    assert quiet_until(window("02:30", "06:00"), at("2026-10-25T02:05+01:00")) == at("2026-10-25T06:00+01:00")


# -- clocks go forward: Berlin, 2027-03-28, 02:00 (+01:00) becomes 03:00 (+02:00) --------------------


@pytest.mark.parametrize(
    ("start", "end", "begins", "ends"),
    [
        # Over the end: it ends at the jump.
        ("23:00", "02:30", "2027-03-27T23:00+01:00", "2027-03-28T03:00+02:00"),
        ("23:00", "02:01", "2027-03-27T23:00+01:00", "2027-03-28T03:00+02:00"),
        ("23:00", "02:59", "2027-03-27T23:00+01:00", "2027-03-28T03:00+02:00"),
        # On the edges of the hour that is left out, and beside them.
        ("23:00", "02:00", "2027-03-27T23:00+01:00", "2027-03-28T03:00+02:00"),
        ("23:00", "03:00", "2027-03-27T23:00+01:00", "2027-03-28T03:00+02:00"),
        ("23:00", "01:59", "2027-03-27T23:00+01:00", "2027-03-28T01:59+01:00"),
        ("23:00", "03:01", "2027-03-27T23:00+01:00", "2027-03-28T03:01+02:00"),
        # Over the begin: it begins at the jump.
        ("02:30", "06:00", "2027-03-28T03:00+02:00", "2027-03-28T06:00+02:00"),
        ("02:00", "06:00", "2027-03-28T03:00+02:00", "2027-03-28T06:00+02:00"),
        ("02:59", "03:01", "2027-03-28T03:00+02:00", "2027-03-28T03:01+02:00"),
        ("03:00", "06:00", "2027-03-28T03:00+02:00", "2027-03-28T06:00+02:00"),
        ("01:59", "06:00", "2027-03-28T01:59+01:00", "2027-03-28T06:00+02:00"),
    ],
)
def test_when_clocks_go_forward(start: str, end: str, begins: str, ends: str) -> None:
    check_opening(window(start, end), begins, ends)


def test_a_window_that_the_clock_leaves_out_does_not_open() -> None:
    quiet = window("02:10", "02:40")
    assert not is_quiet(quiet, at("2027-03-28T03:00+02:00"))
    assert next_quiet(quiet, at("2027-03-27T02:40+01:00")) == at("2027-03-29T02:10+02:00")


def test_a_window_that_ends_and_begins_in_what_is_left_out_goes_on() -> None:
    check_opening(window("02:40", "02:20"), "2027-03-27T02:40+01:00", "2027-03-29T02:20+02:00")


# -- other clocks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tz", "start", "end", "begins", "ends"),
    [
        # Lord Howe is put by half an hour: 02:00 (+11:00) becomes 01:30 (+10:30), and 02:00 becomes 02:30.
        ("Australia/Lord_Howe", "23:00", "01:45", "2026-04-04T23:00+11:00", "2026-04-05T01:45+11:00"),
        ("Australia/Lord_Howe", "01:45", "06:00", "2026-04-05T01:45+11:00", "2026-04-05T06:00+10:30"),
        ("Australia/Lord_Howe", "23:00", "02:15", "2026-10-03T23:00+10:30", "2026-10-04T02:30+11:00"),
        ("Australia/Lord_Howe", "02:15", "06:00", "2026-10-04T02:30+11:00", "2026-10-04T06:00+11:00"),
        # Chatham is put at 02:45 of its own.
        ("Pacific/Chatham", "23:00", "03:15", "2026-09-26T23:00+12:45", "2026-09-27T03:45+13:45"),
        ("Pacific/Chatham", "03:00", "06:00", "2026-04-05T03:00+13:45", "2026-04-05T06:00+12:45"),
        # In Havana the hour before 01:00 comes twice, in Beirut the one before midnight.
        ("America/Havana", "00:30", "06:00", "2026-11-01T00:30-04:00", "2026-11-01T06:00-05:00"),
        ("America/Havana", "22:00", "00:30", "2026-10-31T22:00-04:00", "2026-11-01T00:30-04:00"),
        ("Asia/Beirut", "22:00", "23:30", "2026-10-24T22:00+03:00", "2026-10-24T23:30+03:00"),
        ("Asia/Beirut", "23:30", "06:00", "2026-10-24T23:30+03:00", "2026-10-25T06:00+02:00"),
        # In Beirut's spring midnight itself is left out.
        ("Asia/Beirut", "22:00", "00:00", "2026-03-28T22:00+02:00", "2026-03-29T01:00+03:00"),
        ("Asia/Beirut", "00:00", "06:00", "2026-03-29T01:00+03:00", "2026-03-29T06:00+03:00"),
        # Some were put once and for all: Volgograd went back, Juba too, Greenland's capital forward.
        ("Europe/Volgograd", "23:00", "01:30", "2020-12-26T23:00+04:00", "2020-12-27T01:30+04:00"),
        ("Africa/Juba", "23:30", "06:00", "2021-01-31T23:30+03:00", "2021-02-01T06:00+02:00"),
        ("America/Nuuk", "22:30", "23:30", "2023-03-25T23:00-02:00", "2023-03-25T23:30-02:00"),
        # Apia had no 30 December 2011: what it left out was reached at its midnight.
        ("Pacific/Apia", "22:00", "06:00", "2011-12-29T22:00-10:00", "2011-12-31T06:00+14:00"),
        ("Pacific/Apia", "10:00", "12:00", "2011-12-29T10:00-10:00", "2011-12-29T12:00-10:00"),
        ("Pacific/Apia", "10:00", "12:00", "2011-12-31T10:00+14:00", "2011-12-31T12:00+14:00"),
        ("Pacific/Apia", "12:00", "10:00", "2011-12-29T12:00-10:00", "2011-12-31T10:00+14:00"),
    ],
)
def test_clocks_that_are_put_otherwise(tz: str, start: str, end: str, begins: str, ends: str) -> None:
    check_opening(window(start, end, tz), begins, ends)


def test_a_day_that_a_zone_left_out_opens_no_window_of_its_own() -> None:
    quiet = window("10:00", "12:00", "Pacific/Apia")
    assert next_quiet(quiet, at("2011-12-29T12:00-10:00")) == at("2011-12-31T10:00+14:00")


def test_a_zone_that_is_not_known_any_more_holds_nothing_for_ever() -> None:
    gone = window("00:00", "23:59", "Europe/Atlantis")
    assert not is_quiet(gone, at("2026-11-30T12:00Z"))
    assert next_quiet(gone, at("2026-11-30T12:00Z")) is None


# -- against every minute --------------------------------------------------------------------------


def check_against_the_walk(walk: Walk, quiet: QuietHours) -> None:
    """Compare at each instant at which a window opens or closes on the walk, and beside it."""
    minutes = list(walk.quiet(quiet.start, quiet.end))
    edges = [
        (instant, now_open)
        for (_, was_open), (instant, now_open) in pairwise(minutes)
        if was_open != now_open
    ]
    assert edges, quiet
    for (instant, now_open), following in zip(edges, [*edges[1:], None], strict=True):
        assert is_quiet(quiet, instant - 1) is not now_open, (quiet, instant)
        assert is_quiet(quiet, instant) is now_open, (quiet, instant)
        if following is not None:
            asked = quiet_until(quiet, instant) if now_open else next_quiet(quiet, instant)
            assert asked == following[0], (quiet, instant)
    for instant, is_open in minutes[::173]:
        assert is_quiet(quiet, instant) is is_open, (quiet, instant)


def put(zone: str) -> list[Transition]:
    """Give the times at which a zone's clock is put: all, or one of each kind."""
    found = transitions(zone)
    if EVERYWHERE:
        return list(found)
    kinds = {(each.before.time(), each.after - each.before): each for each in found}
    return list(kinds.values())


@pytest.mark.parametrize("zone", ZONES)
def test_every_zone_that_puts_its_clock(zone: str) -> None:
    choose = random.Random(zone)
    for transition in put(zone):
        walk = Walk(zone, transition.at)
        labels = labels_about(transition)
        windows = [(start, end) for start in labels for end in labels if start != end]
        for start, end in windows if EVERYWHERE else choose.sample(windows, min(6, len(windows))):
            check_against_the_walk(walk, window(start, end, zone))


@given(
    st.sampled_from(zones_that_differ()),
    st.integers(at("2020-01-03T00:00Z") // MINUTE, at("2030-12-28T00:00Z") // MINUTE),
    st.integers(0, 1439),
    st.integers(1, 1439),
)
def test_any_window_at_any_time(zone: str, minute: int, start: int, length: int) -> None:
    near = [each for each in transitions(zone) if abs(each.at - minute * MINUTE) < 3 * 86_400_000]
    moment = near[0].at if near else minute * MINUTE
    check_against_the_walk(Walk(zone, moment), window(text_of(start), text_of(start + length), zone))
