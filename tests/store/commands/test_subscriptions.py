"""Subscriptions begin and end, and what they take reaches their watcher once and together."""

import json
from typing import Any

import pytest

from tests.store.desk import Desk, message_of

LIMIT = 3


def wanted(name: str, watcher: str = "desk", **more: Any) -> dict[str, Any]:
    """Give a subscription called ``name`` of a watcher."""
    return {
        "id": f"sub_{name}",
        "watcher": f"ses_{watcher}",
        "watches_all": False,
        "once": False,
        "stalled_minutes": 15,
        "hops": 0,
        **more,
    }


def subscribe(desk: Desk, name: str, *sessions: str, watcher: str = "desk", **more: Any) -> int:
    """Subscribe to sessions, all of them without any; gives the cursor from which it watches."""
    given = wanted(name, watcher, watches_all=not sessions, **more)
    named = [f"ses_{session}" for session in sessions]
    value = desk.value("subscribe", subscription=given, sessions=named, limit=LIMIT, at=1_500)
    assert value["subscription"] == f"sub_{name}"
    cursor: int = value["cursor"]
    return cursor


def happen(desk: Desk, name: str) -> int:
    """Have a turn of a session begin; gives the cursor of its event."""
    message = message_of(name, session="ses_one", created_at=1_800)
    desk.value("accept_message", message=message)
    desk.value("hand_over", message=f"msg_{name}", worker="wrk_1", at=2_000)
    cursor: int = desk.rows("SELECT max(cursor) FROM event")[0][0]
    return cursor


def seen(name: str, before: int, cursor: int, **more: Any) -> dict[str, Any]:
    return {"subscription": f"sub_{name}", "before": before, "cursor": cursor, **more}


def held(name: str, cursor: int, due_at: int | None = None) -> dict[str, Any]:
    return {"subscription": f"sub_{name}", "cursor": cursor, "due_at": due_at}


def wake(*cursors: int, message: str = "wake") -> dict[str, Any]:
    """Give a wake-up of the desk that tells of these events of this relay."""
    new = message_of(message, session="ses_desk", origin="relay", kind="wake", text="[relay event]")
    return {"events": [("", cursor) for cursor in cursors], "message": new, "queue_limit": 100}


def told(desk: Desk) -> list[tuple[int, str]]:
    """List what has reached the desk: events with the messages that told them."""
    return desk.rows("SELECT cursor, message FROM delivery WHERE watcher = 'ses_desk' ORDER BY cursor")


@pytest.fixture(autouse=True)
def sessions(desk: Desk) -> None:
    """Have a conversation that watches, and two others."""
    for name in ("desk", "one", "two"):
        desk.session(name)


def test_what_happened_before_a_subscription_is_not_its_own(desk: Desk) -> None:
    before = happen(desk, "early")
    assert subscribe(desk, "a", "one", "two", events=json.dumps(["turn_end"])) == before
    (kept,) = desk.read("watching", watcher="ses_desk")["subscriptions"]
    assert (kept["cursor"], kept["events"], kept["matches"]) == (before, ["turn_end"], None)
    assert [each["id"] for each in kept["sessions"]] == ["ses_one", "ses_two"]
    assert kept["sessions"][0]["title"] == "Session one"


def test_a_subscription_to_all_leaves_some_out(desk: Desk) -> None:
    desk.value(
        "subscribe",
        subscription=wanted("a", watches_all=True),
        excluded=["ses_two", "ses_never"],
        limit=LIMIT,
        at=1,
    )
    (kept,) = desk.read("watching", watcher="ses_desk")["subscriptions"]
    assert (kept["sessions"], kept["watches_all"]) == ([], 1)
    assert sorted(each["id"] for each in kept["excluded"]) == ["ses_never", "ses_two"]


def test_a_conversation_has_only_so_many_and_ended_ones_do_not_count(desk: Desk) -> None:
    for name in "abc":
        subscribe(desk, name, "one")
    more = {"subscription": wanted("d"), "sessions": ["ses_one"], "limit": LIMIT, "at": 2}
    assert desk.conflict("subscribe", **more) == "subscriptions"
    desk.value("unsubscribe", watcher="ses_desk", subscription="sub_a", reason="unsubscribed", at=2)
    assert desk.value("subscribe", **more)["subscription"] == "sub_d"


@pytest.mark.parametrize(
    ("watcher", "watched", "conflict"),
    [("none", "one", "missing"), ("desk", "none", "missing"), ("away", "one", "archived")],
)
def test_who_is_not_there_neither_watches_nor_is_watched(
    desk: Desk, watcher: str, watched: str, conflict: str
) -> None:
    desk.session("away")
    desk.value("archive_session", session="ses_away", at=1_200)
    given = {"subscription": wanted("a", watcher), "sessions": [f"ses_{watched}"], "limit": LIMIT, "at": 2}
    assert desk.conflict("subscribe", **given) == conflict
    assert desk.read("watchers") == []


def test_a_subscription_made_again_under_its_name_is_the_first(desk: Desk) -> None:
    given = {"sessions": ["ses_one"], "limit": LIMIT, "at": 2}
    call = {"client_id": "c1", "fingerprint": "f", "caller": "ses_desk"}
    first = desk.value("subscribe", subscription=wanted("a"), call=call, **given)
    again = desk.value("subscribe", subscription=wanted("b"), call=call, **given)
    assert again == {"duplicate_result": first}
    assert desk.rows("SELECT id FROM subscription") == [("sub_a",)]
    other = {**call, "fingerprint": "g"}
    assert desk.conflict("subscribe", subscription=wanted("b"), call=other, **given) == "client_id"


@pytest.mark.parametrize(
    "wrong",
    [
        {"subscription": wanted("a", ended_at=3), "sessions": ["ses_one"]},
        {"subscription": wanted("a", watches_all=True), "sessions": ["ses_one"]},
        {"subscription": wanted("a")},
    ],
)
def test_what_is_no_subscription_is_a_fault(desk: Desk, wrong: dict[str, Any]) -> None:
    assert desk.one("subscribe", limit=LIMIT, at=2, **wrong).error == "fault"
    assert desk.read("watchers") == []


def test_one_ends_or_all_with_what_they_hold(desk: Desk) -> None:
    start = subscribe(desk, "a", "one")
    for name in "bc":
        subscribe(desk, name)
    event = happen(desk, "x")
    desk.value(
        "advance_watcher",
        watcher="ses_desk",
        seen=[seen("a", start, event), seen("b", start, event)],
        held=[held("a", event, 9_000), held("b", event)],
        at=2_100,
    )
    ended = desk.value("unsubscribe", watcher="ses_desk", subscription="sub_a", reason="unsubscribed", at=3)
    assert ended == {"ended": ["sub_a"]}
    assert [row["subscription"] for row in desk.read("watching", watcher="ses_desk")["held"]] == ["sub_b"]
    again = {"watcher": "ses_desk", "reason": "unsubscribed", "at": 4}
    assert desk.conflict("unsubscribe", subscription="sub_a", **again) == "missing"
    assert desk.conflict("unsubscribe", subscription="sub_b", **{**again, "watcher": "ses_two"}) == "missing"
    assert desk.value("unsubscribe", **again) == {"ended": ["sub_b", "sub_c"]}
    assert desk.read("watchers") == []
    listed = desk.read("subscriptions", watcher="ses_desk", ended_since=4)
    assert [(row["id"], row["end_reason"]) for row in listed] == [
        ("sub_b", "unsubscribed"),
        ("sub_c", "unsubscribed"),
    ]


@pytest.mark.parametrize(
    ("command", "reason"), [("archive_session", "archived"), ("delete_session", "deleted")]
)
def test_a_watcher_that_is_put_away_hears_of_nothing_more(desk: Desk, command: str, reason: str) -> None:
    start = subscribe(desk, "a", "one")
    event = happen(desk, "x")
    pace = {"wakeups": "[]", "window_ends_at": 9_000, "digest_at": None}
    taken = {"seen": [seen("a", start, event)], "held": [held("a", event)], "pace": pace}
    desk.value("advance_watcher", watcher="ses_desk", at=2_100, **taken)
    desk.value(command, session="ses_desk", at=2_200)
    assert desk.read("watchers") == []
    assert desk.rows("SELECT * FROM held_event") == desk.rows("SELECT * FROM watcher") == []
    (ended,) = desk.read("subscriptions", watcher="ses_desk", ended_since=0)
    assert (ended["end_reason"], ended["ended_at"]) == (reason, 2_200)


def test_an_event_is_held_and_leaves_with_its_message_in_one_step(desk: Desk) -> None:
    start = subscribe(desk, "a", "one", digest_minutes=30, next_digest_at=5_000)
    event = happen(desk, "x")
    pace = {"wakeups": "[]", "window_ends_at": 8_000, "digest_at": None}
    first = desk.value(
        "advance_watcher",
        watcher="ses_desk",
        seen=[seen("a", start, event, next_digest_at=5_000)],
        held=[held("a", event, 5_000)],
        pace=pace,
        at=2_100,
    )
    assert first == {}
    waits = desk.read("watching", watcher="ses_desk")
    assert waits["held"] == [{"subscription": "sub_a", "cursor": event, "event": None, "due_at": 5_000}]
    assert waits["pace"] == {"wakeups": [], "window_ends_at": 8_000, "digest_at": None}
    left = desk.value(
        "advance_watcher",
        watcher="ses_desk",
        let_go=[("sub_a", event)],
        pace={**pace, "wakeups": "[5000]", "window_ends_at": None},
        wakeup=wake(event),
        at=5_000,
    )
    assert left["position"] > 0
    waits = desk.read("watching", watcher="ses_desk")
    assert (waits["held"], waits["pace"]["wakeups"]) == ([], [5_000])
    assert told(desk) == [(event, "msg_wake")]


def test_what_was_held_gets_another_time(desk: Desk) -> None:
    start = subscribe(desk, "a", "one")
    event = happen(desk, "x")
    first = {"seen": [seen("a", start, event)], "held": [held("a", event, 5_000)]}
    desk.value("advance_watcher", watcher="ses_desk", at=2_100, **first)
    desk.value("advance_watcher", watcher="ses_desk", held=[held("a", event)], at=2_200)
    assert [row["due_at"] for row in desk.read("watching", watcher="ses_desk")["held"]] == [None]


def test_the_first_event_of_one_made_for_once_ends_it_and_still_leaves(desk: Desk) -> None:
    start = subscribe(desk, "a", "one", once=True)
    event = happen(desk, "x")
    ends = [seen("a", start, event, end_reason="once")]
    desk.value("advance_watcher", watcher="ses_desk", seen=ends, held=[held("a", event, 9_000)], at=2_100)
    (ended,) = desk.read("watching", watcher="ses_desk")["subscriptions"]
    assert (ended["end_reason"], ended["ended_at"]) == ("once", 2_100)
    assert desk.read("watchers") == ["ses_desk"], "it holds something still"
    assert desk.conflict("advance_watcher", watcher="ses_desk", seen=ends, at=2_200) == "moved"
    leaves = {"let_go": [("sub_a", event)], "wakeup": wake(event)}
    desk.value("advance_watcher", watcher="ses_desk", at=9_000, **leaves)
    assert desk.read("watchers") == []


@pytest.mark.parametrize(
    "late",
    [
        {"seen": [seen("a", 0, 7)]},
        {"seen": [seen("none", 0, 7)]},
        {"watcher": "ses_two", "seen": [seen("a", 1, 7)]},
    ],
)
def test_who_has_an_older_view_of_a_subscription_changes_nothing(desk: Desk, late: dict[str, Any]) -> None:
    start = subscribe(desk, "a", "one")
    event = happen(desk, "x")
    late = {"watcher": "ses_desk", "at": 2_100, "wakeup": wake(event), "held": [held("a", event)], **late}
    late["seen"] = [{**each, "before": start if each["before"] else start - 1} for each in late["seen"]]
    assert desk.conflict("advance_watcher", **late) == "moved"
    waits = desk.read("watching", watcher="ses_desk")
    assert (waits["subscriptions"][0]["cursor"], waits["held"], told(desk)) == (start, [], [])
    assert desk.rows("SELECT count(*) FROM message WHERE session = 'ses_desk'") == [(0,)]


def test_no_event_reaches_its_watcher_twice(desk: Desk) -> None:
    first = happen(desk, "x")
    desk.value("advance_watcher", watcher="ses_desk", wakeup=wake(first), at=2_100)
    again = {"watcher": "ses_desk", "wakeup": wake(first + 1, first, message="again"), "at": 2_200}
    assert desk.conflict("advance_watcher", **again) == "delivered"
    assert told(desk) == [(first, "msg_wake")]
    assert desk.rows("SELECT id FROM message WHERE session = 'ses_desk'") == [("msg_wake",)]
    other = wake(first, message="other")
    other["message"] |= {"session": "ses_two"}
    desk.value("advance_watcher", watcher="ses_two", wakeup=other, at=2_300)


def test_a_message_that_waits_is_extended_and_one_that_was_read_is_not(desk: Desk) -> None:
    desk.value("advance_watcher", watcher="ses_desk", wakeup=wake(1), at=2_100)
    longer = {"events": [("", 2)], "extends": "msg_wake", "text": "[relay event] two"}
    assert desk.value("advance_watcher", watcher="ses_desk", wakeup=longer, at=2_200) == {}
    assert told(desk) == [(1, "msg_wake"), (2, "msg_wake")]
    assert desk.rows("SELECT text FROM message WHERE id = 'msg_wake'") == [("[relay event] two",)]
    desk.value("hand_over", message="msg_wake", worker="wrk_1", at=2_300)
    late = {"events": [("", 3)], "extends": "msg_wake", "text": "[relay event] three"}
    assert desk.conflict("advance_watcher", watcher="ses_desk", wakeup=late, at=2_400) == "read"
    assert len(told(desk)) == 2


def test_a_conversation_that_is_idle_has_its_turn_begin_in_the_same_step(desk: Desk) -> None:
    begins = {**wake(1), "hand_over": {"worker": "wrk_1", "at": 2_100}}
    begun = desk.value("advance_watcher", watcher="ses_desk", wakeup=begins, at=2_100)
    assert begun["event"] > 0
    assert desk.rows("SELECT status, worker FROM message WHERE id = 'msg_wake'") == [("handed", "wrk_1")]


def test_where_no_message_gets_in_nothing_is_taken_either(desk: Desk) -> None:
    start = subscribe(desk, "a", "one")
    event = happen(desk, "x")
    full = {**wake(event), "queue_limit": 0}
    taken = {"seen": [seen("a", start, event)], "wakeup": full}
    assert desk.conflict("advance_watcher", watcher="ses_desk", at=2_100, **taken) == "queue"
    assert desk.read("watching", watcher="ses_desk")["subscriptions"][0]["cursor"] == start
    assert told(desk) == []


def test_what_has_ended_is_forgotten_later_unless_it_holds_something(desk: Desk) -> None:
    start = subscribe(desk, "holds", "one", once=True)
    for name in ("ends", "stays"):
        subscribe(desk, name, "one", "two")
    event = happen(desk, "x")
    ends = [seen("holds", start, event, end_reason="once")]
    desk.value("advance_watcher", watcher="ses_desk", seen=ends, held=[held("holds", event)], at=2_100)
    desk.value("unsubscribe", watcher="ses_desk", subscription="sub_ends", reason="unsubscribed", at=2_200)
    assert desk.value("prune_subscriptions", before=2_200) == {"pruned": 0, "more": False}
    assert desk.value("prune_subscriptions", before=2_201, limit=1) == {"pruned": 1, "more": True}
    kept = ["sub_holds", "sub_stays"]
    assert [row["id"] for row in desk.read("subscriptions", watcher="ses_desk", ended_since=0)] == kept
    assert desk.rows("SELECT DISTINCT subscription FROM watched ORDER BY 1") == [(each,) for each in kept]
    desk.value("advance_watcher", watcher="ses_desk", let_go=[("sub_holds", event)], at=2_300)
    assert desk.value("prune_subscriptions", before=2_201) == {"pruned": 1, "more": False}


def test_what_was_delivered_long_ago_is_forgotten(desk: Desk) -> None:
    desk.value("advance_watcher", watcher="ses_desk", wakeup=wake(1, 2), at=2_100)
    desk.value("advance_watcher", watcher="ses_desk", wakeup=wake(3, message="later"), at=2_200)
    assert desk.value("prune_deliveries", before=2_200, limit=1) == {"pruned": 1, "more": True}
    assert desk.value("prune_deliveries", before=2_200) == {"pruned": 1, "more": False}
    assert told(desk) == [(3, "msg_later")]


def test_a_heartbeat_is_told_for_a_subscription_that_is_open(desk: Desk) -> None:
    subscribe(desk, "a", "one")
    works = [{"id": "ses_one", "title": "One", "since": 1_000}]
    cursor = desk.value("tell_heartbeat", subscription="sub_a", at=2_000, sessions=works)["event"]
    (event,) = [row for row in desk.read("told_events")["events"] if row["cursor"] == cursor]
    assert (event["kind"], event["session"]) == ("heartbeat", "")
    assert event["detail"] == {"subscription": "sub_a", "at_work": [["ses_one", "One", 1_000]]}
    desk.value("unsubscribe", watcher="ses_desk", reason="unsubscribed", at=2_000)
    assert desk.conflict("tell_heartbeat", subscription="sub_a", at=3_000, sessions=works) == "moved"
