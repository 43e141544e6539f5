"""Who gets the next call and when there is another process: the decisions, without any process."""

import pytest

from showcaller.transport.worker.function_children import (
    PATIENCE,
    PREFETCHED,
    SHARED,
    ChildState,
    chosen,
    grown_at,
    missing,
)


def states(*calls: int, ready_since: float | None = 0.0) -> list[ChildState]:
    return [ChildState(each, ready_since) for each in calls]


@pytest.mark.parametrize(
    ("calls", "most", "quick", "place"),
    [
        ([], 4, False, None),
        ([0], 4, False, 0),
        ([1], 4, False, None),
        ([1, 0, 0], 4, False, 1),
        ([1], 4, True, 0),
        ([PREFETCHED, PREFETCHED - 1], 4, True, 1),
        ([PREFETCHED], 4, True, None),
        ([5, 3], 2, False, 1),
        ([1], 1, False, 0),
        ([SHARED], 1, True, None),
    ],
)
def test_a_call_goes_where_the_fewest_run_and_one_to_each_until_all_processes_are_there(
    calls: list[int], most: int, *, quick: bool, place: int | None
) -> None:
    assert chosen(states(*calls), most, quick=quick) == place


def test_the_first_call_gets_a_process_at_once_and_none_is_started_for_nobody() -> None:
    assert missing([], 8, waiting_since=1.0, now=1.0) == 1
    assert missing([], 8, waiting_since=None, now=1.0) == 0
    assert missing(states(1), 8, waiting_since=None, now=99.0) == 0


def test_processes_double_while_calls_wait_for_long_up_to_the_bound() -> None:
    counts, now = [1], 0.0
    while counts[-1] < 6:
        now += PATIENCE
        more = missing(states(*[1] * counts[-1], ready_since=now - PATIENCE), 6, 0.0, now)
        counts.append(counts[-1] + more)
    assert counts == [1, 2, 4, 6]
    assert missing(states(*[1] * 6), 6, waiting_since=0.0, now=99.0) == 0


def test_a_process_that_is_about_to_be_ready_is_waited_for_and_has_its_chance() -> None:
    assert missing(states(1, ready_since=None), 8, waiting_since=0.0, now=99.0) == 0
    due = grown_at(ready_since=10.0, waiting_since=0.0)
    assert missing(states(1, ready_since=10.0), 8, waiting_since=0.0, now=due - 0.001) == 0
    assert missing(states(1, ready_since=10.0), 8, waiting_since=0.0, now=due) == 1
