from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.times import FIRST, LAST, milliseconds_of, time_text


def test_a_time_is_written_in_utc_with_milliseconds_and_z() -> None:
    assert time_text(0) == "1970-01-01T00:00:00.000Z"
    assert (
        time_text(int(datetime(2026, 11, 2, 2, tzinfo=UTC).timestamp()) * 1000) == "2026-11-02T02:00:00.000Z"
    )
    assert time_text(-1) == "1969-12-31T23:59:59.999Z"
    assert time_text(FIRST) == "0001-01-01T00:00:00.000Z"
    assert time_text(LAST) == "9999-12-31T23:59:59.999Z"


@given(st.integers(FIRST, LAST))
def test_every_time_that_is_written_is_read_again(milliseconds: int) -> None:
    assert milliseconds_of(time_text(milliseconds)) == milliseconds


@given(st.integers(FIRST, LAST), st.integers(FIRST, LAST))
def test_texts_sort_as_their_times_do(one: int, other: int) -> None:
    assert (time_text(one) < time_text(other)) == (one < other)


@pytest.mark.parametrize("beyond", [FIRST - 1, LAST + 1, 2**63])
def test_a_time_outside_of_the_calendar_is_an_error(beyond: int) -> None:
    with pytest.raises(OverflowError):
        time_text(beyond)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-02",
        "2026-11-02T02:00:00Z",
        "2026-11-02T02:00:00.000",
        "2026-11-02T02:00:00.000+00:00",
        "2026-11-02 02:00:00.000Z",
        "2026-02-30T02:00:00.000Z",
        "2026-11-02T25:00:00.000Z",
        "0000-11-02T02:00:00.000Z",
        "2026-11-02T02:00:00.000Z\n",
        "٢٠٢٦-11-02T02:00:00.000Z",
    ],
)
def test_any_other_text_is_an_error_that_shows_it(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the calendar's own words differ between Pythons
        milliseconds_of(text)
