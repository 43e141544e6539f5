import pytest

from showcaller.actors.relay.wakeups.release import (
    HOUR,
    MINUTE,
    SECOND,
    Hold,
    Key,
    Pace,
    Terms,
    Watcher,
    held_by,
    next_due,
    release,
    take,
    without,
)
from tests.actors.relay.wakeups.released import NIGHT, NOON, PACE, Run, digest

# -- the hourly cap ----------------------------------------------------------------------------------


def test_beyond_the_cap_the_rest_come_every_ten_minutes() -> None:
    run = Run(Pace(0, 3), sub=Terms())
    for cursor in range(30):
        run.at(cursor * 60, cursor, "sub")
    run.until(3600)
    assert run.told == [
        (0, (0,)),
        (60, (1,)),
        (120, (2,)),
        (720, tuple(range(3, 13))),
        (1320, tuple(range(13, 23))),
        (1920, tuple(range(23, 30))),
    ]
    assert [wakeup.capped for _, wakeup in run.left] == [False] * 3 + [True] * 3


def test_the_cap_counts_a_sliding_hour() -> None:
    run = Run(Pace(0, 2), sub=Terms())
    for second, cursor in ((0, 1), (3000, 2), (3599, 3), (3601, 4), (6601, 5)):
        run.at(second, cursor, "sub")
    run.until(20_000)
    assert run.told == [(0, (1,)), (3000, (2,)), (3600, (3,)), (4200, (4,)), (6601, (5,))]


def test_urgent_events_count_and_are_never_held() -> None:
    run = Run(Pace(0, 2), sub=Terms())
    for cursor in range(5):
        run.at(cursor, cursor, "sub", urgent=True)
    run.at(6, 5, "sub")
    run.at(7, 6, "sub", urgent=True)
    run.at(8, 7, "sub")
    run.until(3600)
    assert run.told == [*((cursor, (cursor,)) for cursor in range(5)), (7, (6, 5)), (607, (7,))]


def test_no_cap_holds_nothing() -> None:
    run = Run(Pace(0, 0), sub=Terms())
    for cursor in range(200):
        run.at(cursor, cursor, "sub")
    assert len(run.told) == 200


def test_what_extends_an_unread_message_is_no_wakeup_and_is_not_capped() -> None:
    run = Run(Pace(0, 1), sub=Terms())
    run.at(0, 1, "sub")
    run.now += SECOND
    run.watcher = take(run.watcher, Key("", 2), ["sub"], run.now, run.pace, urgent=False)
    assert run.ask(extends=True) is not None
    assert run.watcher.wakeups == (NOON,)


def test_when_both_digests_meet_the_message_is_of_both() -> None:
    run = Run(Pace(0, 1), sub=digest(10), free=Terms())
    run.at(0, 1, "free")
    run.at(60, 2, "sub")
    run.at(61, 3, "free")
    run.until(3600)
    assert run.told == [(0, (1,)), (600, (2, 3))]
    assert run.left[1][1].digests == ("sub",)
    assert run.left[1][1].capped


# -- what is held ------------------------------------------------------------------------------------


def test_what_a_subscription_holds_and_until_when() -> None:
    run = Run(sub=digest(30), night=Terms(quiet=NIGHT), free=Terms())
    assert held_by(run.watcher, "sub") == (0, None)
    run.at(60, 1, "sub")
    run.at(61, 2, "sub")
    run.at(62, 3, "free")
    assert held_by(run.watcher, "sub") == (2, NOON + 30 * MINUTE)
    assert held_by(run.watcher, "free") == (0, None)
    run.at(63, 4, "sub", "free")
    assert held_by(run.watcher, "sub") == (3, NOON + 92 * SECOND)


def test_what_a_subscription_held_goes_with_it() -> None:
    run = Run(sub=digest(30), free=Terms())
    run.at(60, 1, "sub")
    run.at(61, 2, "sub", "free")
    run.watcher = without(without(run.watcher, "free"), "sub")
    assert run.watcher == Watcher()


def test_nothing_is_due_of_what_waits_for_nothing() -> None:
    assert next_due(Watcher(), NOON) is None
    assert release(Watcher(), NOON, PACE).wakeup is None


def test_what_gathered_for_a_window_that_is_not_known_any_more_leaves() -> None:
    left = Watcher(terms={"sub": Terms()}, holds=(Hold("sub", Key("", 1)),))
    assert next_due(left, NOON) == NOON
    assert release(left, NOON, PACE).wakeup is not None


# -- a clock that is set -----------------------------------------------------------------------------


@pytest.mark.parametrize("back", [MINUTE, 3 * HOUR, 400 * 24 * HOUR])
def test_a_clock_that_is_set_back_holds_nothing_longer_than_its_minutes(back: int) -> None:
    run = Run(Pace(30, 1), sub=digest(30), free=Terms())
    run.at(0, 1, "free", urgent=True)
    run.at(1, 2, "sub")
    run.at(2, 3, "free")
    run.until(40)
    assert run.watcher.digest_at is not None
    run.began = run.now = run.now - back
    run.ask()  # as a timer does, for timers go by another clock
    run.until(600)
    assert (3,) in [cursors for _, cursors in run.told]
    run.until(1800)
    assert (2,) in [cursors for _, cursors in run.told]


def test_a_clock_that_is_set_forward_lets_all_go_once() -> None:
    run = Run(sub=digest(30), free=Terms())
    run.at(0, 1, "free")
    run.at(1, 2, "sub")
    run.now += 24 * HOUR
    run.ask()
    run.until(7 * 86_400)
    assert [cursors for _, cursors in run.told] == [(1, 2)]
