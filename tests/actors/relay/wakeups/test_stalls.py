from showcaller.actors.contract.arguments import QuietHours
from showcaller.actors.contract.times import milliseconds_of
from showcaller.actors.relay.wakeups.stalls import (
    MINUTE,
    Beat,
    Idle,
    Stalls,
    Work,
    all_idle,
    heartbeat,
    stalls,
)

NOON = milliseconds_of("2026-11-30T12:00:00.000Z")
TURN = Work("msg_1", "ses_a", since=NOON)
TASK = Work("tsk_1", "ses_a", since=NOON, is_task=True)


def at(minute: float) -> int:
    return NOON + int(minute * MINUTE)


def names(found: Stalls) -> list[str]:
    return [each.work.id for each in found.found]


def test_a_turn_that_gives_no_sign_is_stalled_once() -> None:
    early = stalls([TURN], {}, 15, at(14.9))
    assert early == Stalls((), {}, at(15))
    found = stalls([TURN], early.told, 15, at(15))
    assert [(each.work, each.minutes) for each in found.found] == [(TURN, 15)]
    assert found.look_at is None
    again = stalls([TURN], found.told, 15, at(60))
    assert names(again) == []
    assert again.told == found.told


def test_it_is_stalled_again_after_a_further_sign() -> None:
    found = stalls([TURN], {}, 15, at(15))
    spoke = TURN._replace(sign_at=at(20))
    lively = stalls([spoke], found.told, 15, at(21))
    assert lively == Stalls((), {}, at(35))
    assert names(stalls([spoke], lively.told, 15, at(35))) == ["msg_1"]


def test_a_sign_that_was_seen_only_with_the_next_silence_is_news_as_well() -> None:
    found = stalls([TURN], {}, 15, at(15))
    assert names(stalls([TURN._replace(sign_at=at(20))], found.told, 15, at(90))) == ["msg_1"]


def test_who_waits_is_not_stalled_and_is_silent_from_then_on() -> None:
    waiting = TURN._replace(waits=True)
    assert stalls([waiting], {}, 15, at(90)) == Stalls((), {}, None)
    done = TURN._replace(waited_until=at(90))
    assert names(stalls([done], {}, 15, at(104.9))) == []
    assert names(stalls([done], {}, 15, at(105))) == ["msg_1"]


def test_a_wait_does_not_make_old_news_new() -> None:
    found = stalls([TURN], {}, 15, at(15))
    waiting = stalls([TURN._replace(waits=True)], found.told, 15, at(16))
    assert names(stalls([TURN], waiting.told, 15, at(17))) == []


def test_a_turn_with_a_talking_task_is_alive_and_its_end_is_no_silence() -> None:
    talking = TASK._replace(sign_at=at(50))
    assert names(stalls([TURN, talking], {}, 15, at(60))) == []
    silent = stalls([TURN, talking], {}, 15, at(65))
    assert names(silent) == ["msg_1", "tsk_1"]
    assert names(stalls([TURN], silent.told, 15, at(66))) == []


def test_a_task_of_another_session_says_nothing_of_a_turn() -> None:
    elsewhere = Work("tsk_2", "ses_b", since=NOON, sign_at=at(14), is_task=True)
    assert names(stalls([TURN, elsewhere], {}, 15, at(15))) == ["msg_1"]


def test_a_task_is_stalled_while_its_turn_is_not() -> None:
    lively = TURN._replace(sign_at=at(14))
    assert names(stalls([lively, TASK], {}, 15, at(15))) == ["tsk_1"]


def test_what_does_not_run_any_more_is_forgotten() -> None:
    found = stalls([TURN], {}, 15, at(15))
    assert stalls([], found.told, 15, at(16)) == Stalls((), {}, None)


def test_all_idle_is_told_once_until_something_starts_again() -> None:
    assert all_idle(is_armed=False, at_work=2) == Idle(tells=False, is_armed=True)
    assert all_idle(is_armed=True, at_work=1) == Idle(tells=False, is_armed=True)
    assert all_idle(is_armed=True, at_work=0) == Idle(tells=True, is_armed=False)
    assert all_idle(is_armed=False, at_work=0) == Idle(tells=False, is_armed=False)


def test_a_heartbeat_comes_every_so_many_minutes_while_something_runs() -> None:
    assert heartbeat(None, 5, at(0), runs=True) == Beat(tells=False, next_at=at(5))
    assert heartbeat(at(5), 5, at(4), runs=True) == Beat(tells=False, next_at=at(5))
    assert heartbeat(at(5), 5, at(5.1), runs=True) == Beat(tells=True, next_at=at(10))
    assert heartbeat(at(10), 5, at(10), runs=False) == Beat(tells=False, next_at=None)


def test_heartbeats_that_were_missed_come_once() -> None:
    assert heartbeat(at(5), 5, at(63), runs=True) == Beat(tells=True, next_at=at(65))


def test_no_heartbeat_comes_inside_quiet_hours() -> None:
    quiet = QuietHours(start="12:03", end="12:08", tz="UTC")
    assert heartbeat(at(5), 5, at(5), runs=True, quiet=quiet) == Beat(tells=False, next_at=at(10))
    assert heartbeat(at(10), 5, at(10), runs=True, quiet=quiet) == Beat(tells=True, next_at=at(15))


def test_a_clock_that_is_set_back_puts_off_no_heartbeat() -> None:
    assert heartbeat(at(600), 5, at(0), runs=True) == Beat(tells=False, next_at=at(5))
