"""What fires is decided as by whoever reads the log line by line and thinks it over each time."""

from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.events import EVENTS
from showcaller.actors.contract.outside import Until
from showcaller.actors.relay import watching

SESSIONS = ("ses_1", "ses_2", "ses_3")

rows = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(sorted(EVENTS)),
            "session": st.sampled_from(SESSIONS),
            "stop_reason": st.sampled_from([None, "end", "died", "interrupted", "timeout", "empty"]),
            "handed_at": st.sampled_from([None, 1]),
        }
    ),
    max_size=12,
).map(lambda found: [{**row, "cursor": place} for place, row in enumerate(found, 1)])
untils = st.sets(st.sampled_from(get_args(Until)))
watched = st.none() | st.sets(st.sampled_from(SESSIONS))


def oracle(row: dict[str, Any], sessions: set[str] | None, until: set[str]) -> bool:
    """Say it in the words of the specification."""
    if sessions is not None and row["session"] not in sessions:
        return False
    happened = {"any"}
    if row["kind"] == "turn_end" or row["kind"] == "error":
        happened.add("turn-end")
    if row["kind"] == "question_asked":
        happened.add("awaiting-input")
    began = row["handed_at"] is not None
    if (
        row["kind"] == "error"
        and began
        and (row["stop_reason"] == "died" or row["stop_reason"] == "interrupted")
    ):
        happened.add("exited")
    return not happened.isdisjoint(until)


@given(rows, watched, untils)
def test_what_fires_is_what_somebody_waits_for_in_a_session_that_he_watches(
    log: list[dict[str, Any]], sessions: set[str] | None, until: Any
) -> None:
    assert watching.fired(log, sessions, until) == [row for row in log if oracle(row, sessions, until)]


@given(rows, watched, untils, st.integers(0, 12))
def test_a_log_read_in_two_parts_fires_the_same(
    log: list[dict[str, Any]], sessions: set[str] | None, until: Any, at: int
) -> None:
    parts = watching.fired(log[:at], sessions, until) + watching.fired(log[at:], sessions, until)
    assert parts == watching.fired(log, sessions, until)


def test_pending_is_what_runs_or_waits_and_idle_is_where_no_turn_is_to_come() -> None:
    still = {"running": None, "queued": 0, "tasks": 0}
    assert not watching.is_pending(still)
    assert watching.is_idle(still)
    for more in ({"running": "msg_1"}, {"queued": 1}):
        assert watching.is_pending({**still, **more})
        assert not watching.is_idle({**still, **more})
    assert watching.is_pending({**still, "tasks": 1})
    assert watching.is_idle({**still, "tasks": 1})
