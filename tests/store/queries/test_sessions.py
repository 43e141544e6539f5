"""Sessions one by one, page by page and by the start of their ids, each served by an index."""

import pytest

from showcaller.store.database import open_for_reading
from showcaller.store.queries.sessions import listing
from tests.store.desk import Desk, ending, message_of, session_of
from tests.store.plans import plan


def titles(desk: Desk, **arguments: object) -> list[str]:
    """List the titles of a page of sessions."""
    return [session["title"] for session in desk.read("list_sessions", **arguments)["sessions"]]


def test_an_unknown_session_is_none(desk: Desk) -> None:
    assert desk.read("load_session", session="ses_x") is None


def test_a_session_says_what_waits_what_runs_and_how_the_last_turn_ended(desk: Desk) -> None:
    desk.handed("a", "first")
    desk.value("end_turn", **ending("first", status="failed", stop_reason="timeout"))
    for name in ("second", "third", "fourth"):
        desk.value("accept_message", message=message_of(name, session="ses_a"))
    desk.value("hand_over", message="msg_second", worker="wrk_1", at=4_000)
    desk.value("cancel_message", message="msg_fourth", at=4_500)
    session = desk.read("load_session", session="ses_a")
    assert (session["queued"], session["running"]) == (1, "msg_second")
    assert session["last_turn"] == {
        "message": "msg_first",
        "status": "failed",
        "stop_reason": "timeout",
        "ended_at": 3_000,
    }
    assert [message["id"] for message in session["unfinished"]] == ["msg_second", "msg_third"]
    (listed,) = desk.read("list_sessions")["sessions"]
    only_whole = {"unfinished", "cards"}
    assert listed == {name: value for name, value in session.items() if name not in only_whole}


def test_a_session_of_a_group_says_which(desk: Desk) -> None:
    desk.value("create_group", group="grp_a", name="Reviews", origin="owner", at=5)
    desk.session("a", group="grp_a")
    desk.session("b")
    named = {
        session["id"]: (session["group"], session["group_name"], session["group_head"])
        for session in desk.read("list_sessions")["sessions"]
    }
    assert named == {"ses_a": ("grp_a", "Reviews", None), "ses_b": (None, None, None)}


def test_sessions_come_newest_activity_first_and_page_by_page(desk: Desk) -> None:
    for number, at in enumerate([50, 10, 30, 30, 40]):
        desk.session(str(number), created_at=at)
    seen: list[str] = []
    after = None
    while True:
        page = desk.read("list_sessions", limit=2, after=after)
        seen += [session["id"] for session in page["sessions"]]
        after = page["next"]
        if after is None:
            break
    assert seen == ["ses_0", "ses_4", "ses_3", "ses_2", "ses_1"]


def test_scopes_are_narrow_or_wide(desk: Desk) -> None:
    desk.session("idle")
    desk.session("waiting", "m")
    desk.session("put away")
    desk.value("archive_session", session="ses_put away", at=500)
    assert titles(desk, scope="active") == ["Session waiting"]
    assert sorted(titles(desk)) == ["Session idle", "Session waiting"]
    assert len(titles(desk, scope="all")) == 3
    with pytest.raises(ValueError, match="active, recent, all"):
        titles(desk, scope="some")


@pytest.mark.parametrize("query", ["ÜBER", "über", "100%", "_x", "Straße", "STRASSE"])
def test_titles_are_searched_whatever_the_case_and_literally(desk: Desk, query: str) -> None:
    desk.session("a", title="Über 100% _x Straße")
    desk.session("b", title="Something else, 100 x")
    assert titles(desk, query=query) == ["Über 100% _x Straße"]


def test_ids_are_found_by_how_they_begin(desk: Desk) -> None:
    for name in ("abc111", "abc222", "abd", "zzz"):
        desk.session(name)
    assert desk.read("find_session", prefix="abc") == ["ses_abc111", "ses_abc222"]
    assert desk.read("find_session", prefix="ses_abc2") == ["ses_abc222"]
    assert desk.read("find_session", prefix="q") == []
    assert desk.read("find_session", prefix="a%") == []


@pytest.mark.parametrize("paged", [False, True])
@pytest.mark.parametrize("scope", ["recent", "all"])
def test_a_page_of_sessions_is_read_from_the_index_in_order(desk: Desk, scope: str, paged: bool) -> None:
    found = plan(desk, listing(scope, searched=False, paged=paged), at=5, id="ses_a", limit=20)
    assert "USING INDEX session_last_activity_at_id" in found
    assert "TEMP B-TREE" not in found


def test_active_sessions_are_found_from_what_is_unfinished(desk: Desk) -> None:
    assert "message_unfinished" in plan(desk, listing("active", searched=False, paged=False), limit=20)


def test_the_queue_of_a_session_is_read_from_the_index_of_what_is_unfinished(desk: Desk) -> None:
    from showcaller.store.commands.queue import _COUNT_QUEUED
    from showcaller.store.queries.sessions import _UNFINISHED, LAST_TURN, QUEUED, RUNNING

    for statement in (_COUNT_QUEUED, QUEUED, RUNNING):
        found = plan(desk, statement, session="ses_a")
        assert "INDEX message_unfinished (status=? AND session=?)" in found
    assert "message_unfinished" in plan(desk, _UNFINISHED, session="ses_a")
    assert "message_session_position (session=?)" in plan(desk, LAST_TURN, session="ses_a")


def test_many_sessions_do_not_slow_a_page(desk: Desk) -> None:
    """Counts steps of SQLite's machine, not seconds."""
    desk.run(*[("create_session", {"session": session_of(str(n)), "message": None}) for n in range(2_000)])
    database = open_for_reading(desk.path)
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    database.connection.set_progress_handler(count, 100)
    listing("recent", searched=False, paged=False).records(database.connection, limit=20)
    database.close()
    assert steps < 50
