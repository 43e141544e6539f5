from showcaller.actors.relay.wakeups.release import HOUR, MINUTE, Key, Pace, Terms, next_due
from tests.actors.relay.wakeups.released import MIDNIGHT, NIGHT, NOON, Run, digest

# -- the window ------------------------------------------------------------------------------------


def test_the_first_event_opens_a_window_and_all_leaves_at_its_end() -> None:
    run = Run(sub=Terms())
    run.at(0, 1, "sub")
    run.at(10, 2, "sub")
    run.at(29.999, 3, "sub")
    run.at(31, 4, "sub")
    run.until(200)
    assert run.told == [(30, (1, 2, 3)), (61, (4,))]


def test_an_urgent_event_leaves_at_once_and_takes_along_what_has_gathered() -> None:
    run = Run(sub=Terms())
    run.at(0, 1, "sub")
    run.at(10, 2, "sub", urgent=True)
    run.until(200)
    assert run.told == [(10, (2, 1))]
    assert run.left[0][1].urgent == (Key("", 2),)


def test_an_urgent_event_may_come_for_the_conversation_itself() -> None:
    run = Run()
    run.at(5, 1, urgent=True)
    assert run.told == [(5, (1,))]


def test_no_window_means_that_each_leaves_as_it_comes() -> None:
    run = Run(Pace(0, 0), sub=Terms())
    run.at(0, 1, "sub")
    run.at(1, 2, "sub")
    assert run.told == [(0, (1,)), (1, (2,))]


def test_an_event_comes_once_however_often_it_is_taken() -> None:
    run = Run(one=Terms(), other=Terms())
    run.at(0, 1, "one", "other")
    run.at(1, 1, "one")
    run.until(3600)
    assert run.told == [(30, (1,))]


def test_an_event_that_nobody_takes_opens_no_window() -> None:
    run = Run(sub=Terms())
    run.at(0, 1)
    assert next_due(run.watcher, NOON) is None


# -- several subscriptions ---------------------------------------------------------------------------


def test_an_event_leaves_with_the_first_subscription_that_lets_it_go() -> None:
    run = Run(slow=digest(30), quick=digest(10), free=Terms())
    run.at(60, 1, "slow", "quick")
    run.at(61, 2, "slow")
    run.at(700, 3, "slow", "free")
    run.until(7200)
    assert run.told == [(600, (1,)), (730, (3,)), (1800, (2,))]


def test_a_digest_is_not_put_off_by_what_left_with_another() -> None:
    run = Run(slow=digest(30), free=Terms())
    run.at(60, 1, "slow", "free")
    run.until(120)
    assert run.watcher.terms["slow"].next_digest_at == NOON + 30 * MINUTE


# -- digests ---------------------------------------------------------------------------------------


def test_a_digest_comes_so_long_after_the_subscription_was_made_and_then_after_the_last() -> None:
    run = Run(sub=digest(30))
    run.at(60, 1, "sub")
    run.at(1799, 2, "sub")
    run.at(1801, 3, "sub")
    run.until(4000)
    assert run.told == [(1800, (1, 2)), (3600, (3,))]
    assert run.left[0][1].digests == ("sub",)


def test_after_a_longer_silence_an_event_opens_a_window_of_a_digest() -> None:
    run = Run(sub=digest(30))
    run.at(7200, 1, "sub")
    run.at(7210, 2, "sub")
    run.at(7240, 3, "sub")
    run.until(20_000)
    assert run.told == [(7230, (1, 2)), (7230 + 1800, (3,))]


def test_an_urgent_event_takes_nothing_from_a_digest() -> None:
    run = Run(sub=digest(30))
    run.at(60, 1, "sub")
    run.at(70, 2, "sub", urgent=True)
    run.until(1800)
    assert run.told == [(70, (2,)), (1800, (1,))]


# -- quiet hours -----------------------------------------------------------------------------------


def test_what_happens_in_quiet_hours_comes_in_one_message_when_they_end() -> None:
    run = Run(began=MIDNIGHT, sub=Terms(quiet=NIGHT))
    run.at(60, 1, "sub")
    run.at(7200, 2, "sub")
    run.at(7300, 3, "sub", urgent=True)
    run.at(6 * 3600 - 0.001, 4, "sub")
    run.until(86_400)
    assert run.told == [(7300, (3,)), (6 * 3600, (1, 2, 4))]
    assert dict(run.left[1][1].quiet) == {Key("", cursor): "sub" for cursor in (1, 2, 4)}


def test_an_urgent_event_takes_nothing_from_quiet_hours() -> None:
    run = Run(began=MIDNIGHT, sub=Terms(quiet=NIGHT))
    run.at(60, 1, "sub")
    run.at(65, 2, "sub", urgent=True)
    run.until(86_400)
    assert run.told == [(65, (2,)), (6 * 3600, (1,))]


def test_what_happens_as_quiet_hours_end_is_not_held() -> None:
    run = Run(began=MIDNIGHT, sub=Terms(quiet=NIGHT))
    run.at(6 * 3600, 1, "sub")
    run.until(86_400)
    assert run.told == [(6 * 3600 + 30, (1,))]
    assert not run.left[0][1].quiet


def test_a_digest_that_is_due_in_quiet_hours_moves_to_their_end() -> None:
    run = Run(sub=digest(60, made=MIDNIGHT + 21 * HOUR + 30 * MINUTE, quiet=NIGHT))
    run.at(10.4 * 3600, 1, "sub")
    run.until(10.9 * 3600)
    run.at(10.95 * 3600, 2, "sub")
    run.until(40 * 3600)
    assert run.told == [(10.5 * 3600, (1,)), (18 * 3600, (2,))]
    assert run.left[1][1].digests == ("sub",)
    assert dict(run.left[1][1].quiet) == {Key("", 2): "sub"}


def test_a_window_ends_before_quiet_hours_begin() -> None:
    run = Run(sub=Terms(quiet=NIGHT))
    run.at(11 * 3600 - 10, 1, "sub")
    run.until(86_400)
    assert run.told == [(11 * 3600 - 1, (1,))]


def test_a_timer_that_is_late_does_not_put_off_a_window_into_the_morning() -> None:
    run = Run(sub=Terms(quiet=NIGHT))
    run.at(11 * 3600 - 10, 1, "sub")
    run.now = NOON + 11 * HOUR + 250
    assert run.ask() is not None


def test_who_comes_back_in_quiet_hours_is_woken_when_they_end() -> None:
    run = Run(sub=digest(30, quiet=NIGHT))
    run.at(60, 1, "sub")
    run.now = NOON + 13 * HOUR
    assert run.ask() is None
    run.until(86_400)
    assert run.told == [(18 * 3600, (1,))]


def test_a_subscription_without_quiet_hours_lets_go_in_those_of_another() -> None:
    run = Run(began=MIDNIGHT, quiet=Terms(quiet=NIGHT), free=Terms())
    run.at(60, 1, "quiet", "free")
    run.at(61, 2, "quiet")
    run.until(86_400)
    assert run.told == [(90, (1,)), (6 * 3600, (2,))]


def test_a_digest_of_the_cap_waits_for_the_end_of_quiet_hours_as_well() -> None:
    run = Run(Pace(0, 1), sub=Terms(quiet=NIGHT))
    run.at(11 * 3600 - 300, 1, "sub")
    run.at(11 * 3600 - 200, 2, "sub")
    run.until(86_400)
    assert run.told == [(11 * 3600 - 300, (1,)), (18 * 3600, (2,))]
