from itertools import accumulate
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.arguments import QuietHours
from showcaller.actors.relay.wakeups.release import (
    HOUR,
    MINUTE,
    SECOND,
    Key,
    Pace,
    Terms,
    Watcher,
    let_go_at,
    next_due,
    release,
    take,
)
from tests.actors.relay.wakeups.clocks import text_of
from tests.actors.relay.wakeups.released import MIDNIGHT, PACE
from tests.actors.relay.wakeups.slow_release import Arrival, Left, Options, SlowWatcher

BEGAN = MIDNIGHT + 10 * HOUR
OPTIONS = st.builds(
    lambda digest_minutes, start, length: Options(
        digest_minutes, None if start is None else (start, start + length)
    ),
    st.none() | st.integers(1, 12),
    st.none() | st.integers(600, 650),
    st.integers(3, 40),
)
NAMES = ("a", "b", "c")
# Events crowd: what one of them opens or holds is mostly met by others.
ARRIVALS = st.lists(
    st.tuples(
        st.integers(0, 40) | st.integers(0, 40) | st.integers(0, 900),
        st.integers(0, 9).map(lambda drawn: drawn == 0),
        st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True),
    ),
    min_size=1,
    max_size=40,
)


def made_with(options: Options) -> Terms:
    quiet = options.quiet and QuietHours(
        start=text_of(options.quiet[0]), end=text_of(options.quiet[1]), tz="UTC"
    )
    due = None if options.digest_minutes is None else BEGAN + options.digest_minutes * MINUTE
    return Terms(options.digest_minutes, quiet, due)


@given(
    st.fixed_dictionaries(dict.fromkeys(NAMES, OPTIONS)),
    ARRIVALS,
    st.sampled_from([0, 5, 30, 60]),
    st.sampled_from([0, 1, 2, 3, 20]),
)
def test_events_leave_when_each_second_says_so(
    options: dict[str, Options], drawn: list[Any], coalesce: int, cap: int
) -> None:
    seconds = accumulate(gap for gap, _, _ in drawn)
    arrivals = [
        Arrival(second, cursor, urgent, tuple(by))
        for cursor, (second, (_, urgent, by)) in enumerate(zip(seconds, drawn, strict=True))
        if second < 4000
    ]
    began = BEGAN // SECOND
    slow = SlowWatcher(options, began, coalesce, cap)
    by_second: dict[int, list[Arrival]] = {}
    for each in arrivals:
        by_second.setdefault(each.second, []).append(each)
    for second in range(6500):
        slow.second(began + second, by_second.get(second, []))

    pace = Pace(coalesce, cap)
    watcher = Watcher(terms={name: made_with(each) for name, each in options.items()})
    left: list[Left] = []
    now, still = BEGAN, sorted(by_second)
    while True:
        coming = BEGAN + still[0] * SECOND if still else None
        due = next_due(watcher, now)
        times = [each for each in (coming, due) if each is not None]
        if not times:
            break
        now = min(times)
        if now == coming:
            for event in by_second[still.pop(0)]:
                watcher = take(watcher, Key("", event.cursor), event.by, now, pace, urgent=event.urgent)
        watcher, wakeup = release(watcher, now, pace)
        if wakeup is not None:
            parts = (tuple(key.cursor for key in part) for part in (wakeup.urgent, wakeup.rest))
            left.append(Left(now // SECOND, *parts))
    assert left == slow.left
    assert sorted(cursor for each in left for cursor in (*each.urgent, *each.rest)) == [
        each.cursor for each in arrivals
    ]


@given(
    st.fixed_dictionaries(dict.fromkeys(NAMES, OPTIONS)),
    ARRIVALS,
    st.lists(st.integers(-7200, 90_000), min_size=1, max_size=60),
)
def test_whenever_it_is_asked_each_event_leaves_once(
    options: dict[str, Options], drawn: list[Any], steps: list[int]
) -> None:
    watcher = Watcher(terms={name: made_with(each) for name, each in options.items()})
    left: list[Key] = []
    now = BEGAN
    for cursor, (second, urgent, by) in enumerate(drawn):
        now += steps[cursor % len(steps)] * SECOND + second
        watcher = take(watcher, Key("", cursor), by, now, PACE, urgent=urgent)
        watcher, wakeup = release(watcher, now + second, PACE)
        left += [] if wakeup is None else wakeup.events
    for _ in range(10 * len(drawn) + 10):
        due = next_due(watcher, now)
        if due is None:
            break
        assert due <= now + 48 * HOUR
        now = due
        watcher, wakeup = release(watcher, now, PACE)
        left += [] if wakeup is None else wakeup.events
    assert sorted(left) == [Key("", cursor) for cursor in range(len(drawn))]
    assert watcher.holds == ()


@given(OPTIONS, st.integers(0, 20_000), st.integers(0, 20_000))
def test_when_it_lets_go_does_not_change_while_it_holds(options: Options, second: int, later: int) -> None:
    terms = made_with(options)
    at = BEGAN + second * SECOND
    due = let_go_at(terms, at)
    moment = min(due, at + later * SECOND)
    assert let_go_at(terms, moment) == due
