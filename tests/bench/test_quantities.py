"""Figures read as people write them, and better means better in every unit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.quantities import Unit, times

VALUES = st.floats(min_value=1e-6, max_value=1e9)


@pytest.mark.parametrize(
    ("unit", "value", "shown"),
    [
        (Unit.RATE, 4_312_345, "4.31 M/s"),
        (Unit.RATE, 12_500, "12.5 k/s"),
        (Unit.RATE, 7, "7.00 /s"),
        (Unit.SECONDS, 3.25, "3.25 s"),
        (Unit.SECONDS, 0.0089, "8.90 ms"),
        (Unit.SECONDS, 2.4e-6, "2.40 µs"),
        (Unit.SECONDS, 9e-9, "9.00 ns"),
        (Unit.BYTES, 410, "410 B"),
        (Unit.BYTES, 22_500, "22.5 kB"),
        (Unit.TIMES, 1.05, "1.05 ×"),
    ],
)
def test_a_value_has_three_digits_and_a_fitting_prefix(unit: Unit, value: float, shown: str) -> None:
    assert unit.show(value) == shown


@pytest.mark.parametrize(
    ("ratio", "shown"), [(0.004, "0.004"), (0.15, "0.15"), (1, "1"), (8.04, "8.04"), (1234, "1,234")]
)
def test_a_ratio_has_no_digits_that_say_nothing(ratio: float, shown: str) -> None:
    assert times(ratio) == shown


@given(ours=VALUES, theirs=VALUES)
def test_a_ratio_above_one_means_that_we_are_better_in_every_unit(ours: float, theirs: float) -> None:
    assert (Unit.RATE.better_by(ours, theirs) > 1) == (ours > theirs)
    assert (Unit.SECONDS.better_by(ours, theirs) > 1) == (ours < theirs)


@given(value=VALUES, limit=VALUES)
def test_a_limit_is_a_floor_for_rates_and_a_ceiling_for_the_rest(value: float, limit: float) -> None:
    assert Unit.RATE.within(value, limit) == (value >= limit)
    assert Unit.BYTES.within(value, limit) == (value <= limit)
