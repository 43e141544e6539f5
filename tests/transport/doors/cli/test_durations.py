"""Durations as people type them."""

import pytest

from showcaller.transport.doors.cli.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 30), ("30s", 30), ("1.5h", 5400), ("500ms", 0.5), ("1h30m", 5400), (" 2M ", 120), ("1d", 86400)],
)
def test_a_duration_is_read_in_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "s", "3x", "-1s", "0", "0ms", "1e9", "nan", "inf", "400d", "1 h", "1h30", "٣s5"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"duration|must be more"):
        parse_duration(text)
