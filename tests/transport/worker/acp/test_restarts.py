"""An agent that fails again and again is started later each time, and then not for a while."""

from showcaller.transport.worker.acp.restarts import MOST, QUIET, Restarts


def test_the_first_end_costs_nothing_and_then_each_more() -> None:
    restarts, due = Restarts(), []
    for _ in range(MOST - 1):
        restarts = restarts.ended(100.0, "why")
        assert restarts.refusal(100.0) is None
        due.append(restarts.due_at() - 100.0)
    assert due == [0.0, 1.0, 2.0, 4.0]


def test_after_many_ends_it_is_refused_until_a_while_has_passed() -> None:
    restarts = Restarts()
    for _ in range(MOST):
        restarts = restarts.ended(100.0, "exited with code 3")
    refusal = str(restarts.refusal(101.0))
    assert f"has failed {MOST} times in a row" in refusal
    assert "not started again for 10 min" in refusal
    assert refusal.endswith("The last time: exited with code 3")
    assert restarts.refusal(100.0 + QUIET) is None


def test_one_that_has_never_ended_is_started_at_once() -> None:
    assert (Restarts().due_at(), Restarts().refusal(0.0)) == (0.0, None)
