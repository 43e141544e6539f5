"""What a check finds: nothing in a sound store, and in any other what is wrong and where."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from showcaller.store.errors import StoreDamaged, StoreMissing
from showcaller.store.integrity import RULES, full_check, quick_check
from tests.store.commands.test_cards import card_of
from tests.store.commands.test_subscriptions import held, seen, wanted
from tests.store.commands.test_tasks import end_of, task_of
from tests.store.desk import Desk, ending, message_of, session_of

BREAKING = {
    "queued messages that nothing would start": "DELETE FROM outbox WHERE key = 'msg_waits'",
    "entries of the outbox without a queued message": (
        "INSERT INTO outbox (kind, key, session, created_at) VALUES ('prompt', 'msg_done', 'ses_a', 1)"
    ),
    "sessions with more than one running turn": (
        "UPDATE message SET steered_into = NULL WHERE id = 'msg_joined'"
    ),
    "messages within a turn that does not run": (
        "UPDATE message SET status = 'done', ended_at = 1 WHERE id = 'msg_turn'"
    ),
    "queued messages that joined a turn": "UPDATE message SET steer_taken = 1 WHERE id = 'msg_waits'",
    "messages with an unknown status": "UPDATE message SET status = 'lost' WHERE id = 'msg_done'",
    "messages whose end has no time, or that have one without an end": (
        "UPDATE message SET ended_at = NULL WHERE id = 'msg_done'"
    ),
    "messages of no session": "UPDATE message SET session = 'ses_x' WHERE id = 'msg_done_reply'",
    "replies without their prompt": "UPDATE message SET reply_to = 'msg_x' WHERE role = 'agent'",
    "sessions that count their messages wrongly": "UPDATE session SET message_count = 7 WHERE id = 'ses_a'",
    "archived sessions with something under way": "UPDATE session SET archived_at = 1 WHERE id = 'ses_a'",
    "deleted sessions that are listed or say something": (
        "UPDATE session SET title = 'back' WHERE id = 'ses_gone'"
    ),
    "sessions in a group that is not there": "UPDATE session SET \"group\" = 'grp_x' WHERE id = 'ses_a'",
    "groups led by a session that is not there": "UPDATE session_group SET head = 'ses_x'",
    "tasks of no session": "UPDATE task SET session = 'ses_x'",
    "tasks whose end has no time, or that have one without an end": "UPDATE task SET ended_at = 1",
    "cards of no session": "UPDATE card SET session = 'ses_x'",
    "cards whose end has no time, or that have one without an end": "UPDATE card SET ended_at = 1",
    "cards that wait in a turn which does not run": "UPDATE card SET message = 'msg_done'",
    "events that were deleted and are there": "UPDATE relay SET pruned_cursor = 2",
    "events of no session": "UPDATE event SET session = 'ses_x' WHERE cursor = 1",
    "names of writes that lead to no message": "UPDATE client_id SET message = 'msg_x'",
    "fan-outs without their group": "DELETE FROM session_group WHERE id = 'grp_f'",
    "items of no fan-out": "UPDATE fanout_item SET \"group\" = 'grp_x'",
    "items whose attempt is not there": "UPDATE fanout_item SET attempts = 0 WHERE number = 1",
    "items with half a result": "UPDATE fanout_item SET status = 'done' WHERE number = 2",
    "tokens of a conversation that is not there": "UPDATE token SET session = 'ses_x'",
    "subscriptions of no session": "UPDATE subscription SET watcher = 'ses_x'",
    "subscriptions whose end has no reason, or that have one without an end": (
        "UPDATE subscription SET ended_at = 1"
    ),
    "subscriptions with half a window of quiet hours": "UPDATE subscription SET quiet_tz = 'UTC'",
    "what is held for no subscription": "UPDATE held_event SET subscription = 'sub_x'",
    "what is watched by no subscription": "UPDATE watched SET subscription = 'sub_x'",
    "more than one relay": (
        "INSERT INTO relay (id, name, version, created_at, opened_at) VALUES ('rly_b', 'b', '1', 0, 0)"
    ),
    "settings that are no JSON": "UPDATE setting SET value = 'yes'",
}


@pytest.fixture
def lived_in(desk: Desk) -> Desk:
    """Have a store in which a bit of everything happened."""
    desk.value("open_relay", relay="rly_a", name="desk", version="1", at=0)
    desk.value("set_setting", name="log_days", value=3)
    theirs = session_of("e", provider="external")
    desk.value("issue_token", hash="00", kind="external", name="script", at=1, session=theirs)
    desk.session("gone", "gone")
    desk.value("delete_session", session="ses_gone", at=900)
    desk.handed("a", "done")
    desk.value("end_turn", **ending("done"))
    named = message_of("turn", session="ses_a", client_id="one", fingerprint="f")
    desk.value("accept_message", message=named)
    for name in ("joined", "waits"):
        desk.value("accept_message", message=message_of(name, session="ses_a"))
    desk.value("hand_over", message="msg_turn", worker="wrk_1", at=4_000)
    desk.value("steer_message", message="msg_joined", turn="msg_turn", worker="wrk_1", at=4_100)
    desk.value("start_task", task=task_of("t", message="msg_turn"), at=4_200)
    desk.value("open_card", card=card_of("write", message="msg_turn"), at=4_300)
    watches = {"subscription": wanted("a", "a"), "sessions": ["ses_a"], "limit": 1}
    start = desk.value("subscribe", at=4_350, **watches)["cursor"]
    taken = {"seen": [seen("a", start, start + 1)], "held": [held("a", start + 1)]}
    desk.value("advance_watcher", watcher="ses_a", at=4_400, **taken)
    group = {"id": "grp_f", "name": "counting"}
    desk.value("start_fanout", group=group, spec="{}", items=["1", "2"], at=5_000)
    started = {"session": session_of("item", group="grp_f"), "message": message_of("item")}
    desk.value("start_item", group="grp_f", number=1, **started)
    return desk


def broken(desk: Desk, statement: str) -> list[str]:
    """Spoil the store behind our back; gives what a full check finds."""
    with closing(sqlite3.connect(desk.path)) as connection:
        connection.execute(statement)
        connection.commit()
    return full_check(desk.path)


def test_a_store_in_use_is_sound(lived_in: Desk) -> None:
    assert quick_check(lived_in.path) == []
    assert full_check(lived_in.path) == []
    lived_in.value("end_task", **end_of("t"))
    lived_in.value("interrupt_turns", at=9_000)
    lived_in.value("prune_events", before=9_000, keep=100)
    assert full_check(lived_in.path) == []


@pytest.mark.parametrize("rule", [rule.broken for rule in RULES])
def test_each_rule_finds_what_breaks_it(lived_in: Desk, rule: str) -> None:
    findings = broken(lived_in, BREAKING[rule])
    assert [finding for finding in findings if finding.startswith(f"{rule}: ")], findings


def test_a_finding_names_a_few_of_many(lived_in: Desk) -> None:
    lived_in.session("many", *(f"n{number}" for number in range(7)))
    findings = broken(lived_in, "DELETE FROM outbox WHERE session = 'ses_many'")
    named = "msg_n0, msg_n1, msg_n2, msg_n3, msg_n4 and 2 more"
    assert findings == [f"queued messages that nothing would start: {named}"]


def spoil(path: Path) -> None:
    """Overwrite pages in the middle of a file."""
    with path.open("r+b") as stream:
        stream.seek(path.stat().st_size // 4096 // 2 * 4096)
        stream.write(b"\xa5" * 4 * 4096)


@pytest.mark.parametrize("check", [quick_check, full_check])
def test_a_damaged_file_is_told_and_not_followed(
    path: Path, desk: Desk, check: Callable[[Path], list[str]]
) -> None:
    desk.run(*[("create_session", {"session": session_of(str(n)), "message": None}) for n in range(2_000)])
    desk.close()
    spoil(path)
    assert "damaged" in check(path)[0]


def test_an_index_that_disagrees_with_its_table_is_found_by_the_full_check(lived_in: Desk) -> None:
    with closing(sqlite3.connect(lived_in.path)) as connection:
        connection.execute("PRAGMA writable_schema = on")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, '\"session\"', '\"worker_task\"')"
            " WHERE name = 'task_session_worker_task'"
        )
        connection.commit()
    assert quick_check(lived_in.path) == []
    assert "damaged" in full_check(lived_in.path)[0]


def test_what_cannot_be_opened_is_an_error(path: Path) -> None:
    with pytest.raises(StoreMissing):
        full_check(path)
    path.parent.mkdir()
    path.write_text("dear diary\n" * 50)
    with pytest.raises(StoreDamaged):
        quick_check(path)
