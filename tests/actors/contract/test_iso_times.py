from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.iso_times import milliseconds_at, moment_of, read_time
from showcaller.actors.contract.times import milliseconds_of, time_text
from showcaller.actors.contract.zones import find_zone

NOON = 1_793_620_800_000  # 2026-11-02T12:00:00Z


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-02T12:00:00Z",
        "2026-11-02T12:00:00.000Z",
        " 2026-11-02t12:00z ",
        "2026-11-02T13:00+01:00",
        "2026-11-02T13:00:00+0100",
        "2026-11-02T13:00:00+01",
        "20261102T120000Z",
        "2026-11-02T02:30:00-09:30",
    ],
)
def test_a_time_with_an_offset_is_an_instant(text: str) -> None:
    assert milliseconds_at(read_time(text), None) == NOON


def test_a_time_without_an_offset_is_meant_in_a_zone() -> None:
    read = read_time("2026-11-02T13:00:00")
    assert read.tzinfo is None
    assert milliseconds_at(read, find_zone("Europe/Berlin")) == NOON
    assert milliseconds_at(read, find_zone("UTC")) == NOON + 3_600_000


def test_an_offset_counts_before_the_zone() -> None:
    assert milliseconds_at(read_time("2026-11-02T12:00:00Z"), find_zone("Asia/Tokyo")) == NOON


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tomorrow",
        "2026-11-02",
        "12:00",
        "2026-11-02 12:00:00Z",
        "2026-11-02T12Z",
        "2026-02-30T12:00:00Z",
        "2026-11-02T25:00:00Z",
        "2026-11-02T12:60:00Z",
        "2026-W45-1T12:00:00Z",
        "2026-11-02T12:00:00 Europe/Berlin",
        "2026-11-02T12:00:00+99:00",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "٢٠٢٦-11-02T12:00:00Z",
        "1793620800",
    ],
)
def test_any_other_text_is_refused_with_an_example_or_the_reason(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no ISO 8601 date with a time|no schedule reaches"):
        read_time(text)


@given(st.text(max_size=40))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    try:
        read = read_time(text)
    except ValueError:
        return
    assert 2 <= read.year <= 9998


@given(st.datetimes(datetime.fromisoformat("1970-01-01"), datetime.fromisoformat("9998-01-01")))
def test_times_of_results_are_read_again(time: datetime) -> None:
    text = time_text(milliseconds_at(time.replace(tzinfo=UTC), None))
    assert milliseconds_at(read_time(text), None) == milliseconds_of(text)
    assert time_text(milliseconds_at(moment_of(milliseconds_of(text)), None)) == text
