"""Moments that are given to timers: milliseconds or a datetime, and nothing that was meant otherwise."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from showcaller.actors.runtime.testkit import ManualDispatcher, probe
from showcaller.actors.runtime.wall_time import seconds_of

NOW = 1_767_225_600_000  # 2026-01-01, milliseconds


def test_a_datetime_with_its_zone_is_the_same_moment_as_its_milliseconds() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert seconds_of(noon, NOW) == seconds_of(NOW + 12 * 3_600_000, NOW)
    assert seconds_of(noon.astimezone(timezone(timedelta(hours=5))), NOW) == seconds_of(noon, NOW)


def test_a_datetime_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="give it a time zone"):
        seconds_of(datetime(2026, 1, 1, 12), NOW)  # noqa: DTZ001 - that is the mistake


@pytest.mark.parametrize("seconds", [0, -5, NOW / 1000, 4_102_444_800])
def test_seconds_are_refused(seconds: Any) -> None:
    with pytest.raises(ValueError, match=r"give milliseconds \(not seconds\), or a datetime"):
        seconds_of(seconds, NOW)


def test_a_clock_that_shows_the_epoch_takes_times_near_it() -> None:
    assert seconds_of(60_000, 0) == 60


@pytest.mark.parametrize("wrong", ["tomorrow", None, timedelta(hours=1)])
def test_what_is_no_moment_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a moment is a datetime or milliseconds"):
        seconds_of(wrong, NOW)


def test_an_actor_is_told_at_a_datetime(manual: ManualDispatcher) -> None:
    ref, got = probe()
    ref.tell_at(datetime(2026, 1, 1, 1, tzinfo=UTC), "one o'clock")
    manual.advance(3599)
    assert got == []
    manual.advance(1)
    assert got == ["one o'clock"]


@pytest.mark.parametrize("timeout", ["1", float("nan")])
def test_a_timeout_that_is_none_is_refused_before_the_message_is_sent(
    manual: ManualDispatcher, timeout: Any
) -> None:
    ref, got = probe()
    for send in (ref.ask, ref.request):
        with pytest.raises((TypeError, ValueError), match="seconds, not"):
            send("hello", timeout=timeout)
    manual.settle()
    assert got == []
