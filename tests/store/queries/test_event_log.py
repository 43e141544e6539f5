"""The event log: read page by page, kept for a time, and honest about what is missing."""

from typing import Any

import pytest

from showcaller.store.queries import event_log
from tests.store.desk import Desk
from tests.store.plans import plan


@pytest.fixture(autouse=True)
def five_events(desk: Desk) -> None:
    """Have five events, at 1, 2, 3, 4 and 5 seconds."""
    desk.value("open_relay", relay="rly_a", name="desk", version="1", at=0)
    for second in range(1, 6):
        desk.session(str(second))
        desk.value("archive_session", session=f"ses_{second}", at=second * 1_000)


def cursors(page: dict[str, Any]) -> list[int]:
    """List the cursors of a page."""
    return [event["cursor"] for event in page["events"]]


def test_pages_give_every_event_once_and_in_order(desk: Desk) -> None:
    since, seen = 0, list[int]()
    while found := cursors(page := desk.read("events", since=since, limit=2)):
        assert page["gap"] is None
        seen += found
        since = page["next"]
    assert seen == [1, 2, 3, 4, 5]
    assert page == {"events": [], "next": 5, "gap": None}
    (event,) = desk.read("events", since=4)["events"]
    assert event == {
        "cursor": 5,
        "session": "ses_5",
        "kind": "archived",
        "at": 5_000,
        "message": None,
        "text": "",
        "task": None,
        "detail": None,
    }


def test_events_are_pruned_by_age(desk: Desk) -> None:
    assert desk.value("prune_events", before=3_000, keep=100) == {"pruned": 2, "more": False}
    assert cursors(desk.read("events")) == [3, 4, 5]
    assert desk.value("prune_events", before=3_000, keep=100) == {"pruned": 0, "more": False}


def test_events_are_pruned_by_number(desk: Desk) -> None:
    assert desk.value("prune_events", before=0, keep=2) == {"pruned": 3, "more": False}
    assert cursors(desk.read("events")) == [4, 5]


def test_one_step_of_pruning_is_bounded(desk: Desk) -> None:
    assert desk.value("prune_events", before=9_000, keep=100, limit=2) == {"pruned": 2, "more": True}
    assert desk.value("prune_events", before=9_000, keep=100, limit=3) == {"pruned": 3, "more": True}
    assert desk.value("prune_events", before=9_000, keep=100, limit=3) == {"pruned": 0, "more": False}


@pytest.mark.parametrize(("since", "gap"), [(0, 4), (2, 4), (3, None), (4, None)])
def test_a_reader_behind_what_was_pruned_sees_a_gap(desk: Desk, since: int, gap: int | None) -> None:
    desk.value("prune_events", before=4_000, keep=100)
    page = desk.read("events", since=since)
    assert page["gap"] == gap
    assert cursors(page) == [cursor for cursor in (4, 5) if cursor > since]


def test_a_log_that_was_pruned_whole_still_shows_the_gap_and_goes_on(desk: Desk) -> None:
    desk.value("prune_events", before=9_000, keep=100)
    assert desk.read("events", since=2) == {"events": [], "next": 5, "gap": 6}
    assert desk.read("events", since=5) == {"events": [], "next": 5, "gap": None}
    desk.session("new", "m")
    desk.value("hand_over", message="msg_m", worker="wrk_1", at=9_500)
    assert cursors(desk.read("events", since=5)) == [6]


def test_an_empty_log_is_pruned_of_nothing(desk: Desk) -> None:
    desk.value("prune_events", before=9_000, keep=0)
    assert desk.value("prune_events", before=9_999, keep=0) == {"pruned": 0, "more": False}


def test_a_page_of_events_is_read_in_order_of_their_numbers(desk: Desk) -> None:
    steps = plan(desk, event_log._PAGE, since=3, limit=10)
    assert "INTEGER PRIMARY KEY (rowid>?)" in steps
    assert "TEMP B-TREE" not in steps


def test_an_event_of_no_turn_is_told_like_the_others(desk: Desk) -> None:
    (told,) = desk.read("told_events", since=4)["events"]
    assert (told["kind"], told["title"]) == ("archived", "Session 5")
    assert (told["status"], told["stop_reason"], told["handed_at"]) == (None, None, None)
