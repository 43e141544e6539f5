"""How many requests a caller may send."""

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.calls import OWNER, Caller
from showcaller.transport.doors.http.pace import MOST_KNOWN, OTHERS, OWNERS, Bucket, Pace, Paces, take

SLOW = Pace(2, 0.5)


def test_a_burst_is_let_in_and_then_so_many_a_second_and_what_is_refused_takes_nothing() -> None:
    bucket = Bucket(2.0, 10.0)
    for _ in range(2):
        bucket = take(bucket, 10.0, SLOW)
    for _ in range(3):
        with pytest.raises(Refusal) as refused:
            take(bucket, 10.0, SLOW)
        assert (refused.value.code, refused.value.fields) == (Code.RATE_LIMITED, {"retry_after_seconds": 2})
    bucket = take(bucket, 12.0, SLOW)
    with pytest.raises(Refusal):
        take(bucket, 13.0, SLOW)
    assert take(bucket, 1_000.0, SLOW).left == 1.0


def test_each_caller_has_a_bound_of_its_own_and_the_owners_is_far_higher() -> None:
    now = [0.0]
    paces = Paces(lambda: now[0])
    one, other = Caller("agent", "ses_aaaaaaaaaaaa"), Caller("external", "ses_bbbbbbbbbbbb")
    for _ in range(OTHERS.burst):
        paces.admit(one)
    with pytest.raises(Refusal):
        paces.admit(one)
    paces.admit(other)
    for _ in range(OWNERS.burst):
        paces.admit(OWNER)
    with pytest.raises(Refusal):
        paces.admit(OWNER)
    now[0] = 60.0
    for number in range(MOST_KNOWN + 10):
        paces.admit(Caller("agent", f"ses_{number:012}"))
    now[0] = 120.0
    paces.admit(one)
    assert len(paces._buckets) < 5
