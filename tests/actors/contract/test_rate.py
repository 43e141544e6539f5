import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.rate import Past, admit


def made(times: list[int], *, write: bool) -> Past:
    past = Past()
    for time in times:
        past = admit(past, time, write=write)
    return past


def refused(past: Past, now: int, *, write: bool) -> Refusal:
    with pytest.raises(Refusal) as caught:
        admit(past, now, write=write)
    return caught.value


def test_sixty_calls_are_made_in_a_minute_and_no_more() -> None:
    past = made([number * 100 for number in range(60)], write=False)
    refusal = refused(past, 6000, write=False)
    assert refusal.code is Code.RATE_LIMITED
    assert refusal.to_result()["retryAfterSeconds"] == 54
    assert "60 calls" in refusal.error


def test_the_refusal_says_that_refused_writes_count_too_and_when_to_come_again() -> None:
    refusal = refused(made([0] * 10, write=True), 1, write=True)
    assert "10 writes" in refusal.error
    assert "refused ones count" in refusal.error
    assert "60 s" in refusal.error


def test_ten_of_them_may_be_writes() -> None:
    past = made([0] * 10, write=True)
    assert "10 writes" in refused(past, 59_999, write=True).error
    assert len(admit(past, 59_999, write=False).calls) == 11


def test_the_minute_slides() -> None:
    past = made([*[0] * 5, *[30_000] * 5], write=True)
    assert refused(past, 59_001, write=True).to_result()["retryAfterSeconds"] == 1
    past = admit(past, 60_000, write=True)
    assert past.writes == (*[30_000] * 5, 60_000)


def test_a_refused_call_does_not_count() -> None:
    past = made([0] * 60, write=False)
    for now in range(1, 60_000, 1000):
        refused(past, now, write=False)
    assert admit(past, 60_000, write=True) == Past((60_000,), (60_000,))


@given(st.lists(st.tuples(st.integers(0, 20_000), st.booleans()), max_size=150))
def test_no_minute_holds_more_than_it_may_and_who_waits_as_told_is_let_in(
    steps: list[tuple[int, bool]],
) -> None:
    past, now, calls, writes = Past(), 0, list[int](), list[int]()
    for pause, write in steps:
        now += pause // 20
        try:
            past = admit(past, now, write=write)
        except Refusal as refusal:
            later = now + refusal.fields["retry_after_seconds"] * 1000
            assert admit(past, later, write=write).calls[-1] == later
        else:
            calls.append(now)
            writes += [now] if write else []
    for end in calls:
        assert sum(end - 60_000 < time <= end for time in calls) <= 60
        assert sum(end - 60_000 < time <= end for time in writes) <= 10
