"""Looking whether a store is sound: the file as SQLite sees it, and what its tables say of each other."""

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from peewee import SQL

from showcaller.store.database import open_for_reading
from showcaller.store.errors import is_row_damage, storage_error
from showcaller.store.models import MODELS, StoreModel
from showcaller.store.soundness import RowShape, text_if_sound
from showcaller.store.statement import Statement

SHOWN: Final = 5
"""How many rows one finding names."""

_MOST: Final = 100


class Rule(NamedTuple):
    """Something that holds in every sound store: ``broken`` says what is so where ``sql`` finds rows."""

    broken: str
    sql: str


RULES: Final = (
    Rule(
        "queued messages that nothing would start",
        "SELECT id FROM message WHERE status = 'queued' AND status IN ('queued', 'handed') AND NOT EXISTS"
        " (SELECT 1 FROM outbox WHERE kind = 'prompt' AND key = message.id AND session = message.session)",
    ),
    Rule(
        "entries of the outbox without a queued message",
        "SELECT key FROM outbox WHERE kind = 'prompt' AND NOT EXISTS"
        " (SELECT 1 FROM message WHERE id = outbox.key AND status = 'queued')",
    ),
    Rule(
        "sessions with more than one running turn",
        "SELECT session FROM message WHERE status = 'handed' AND status IN ('queued', 'handed')"
        " AND steered_into IS NULL GROUP BY session HAVING count(*) > 1",
    ),
    Rule(
        "messages within a turn that does not run",
        "SELECT id FROM message WHERE status = 'handed' AND status IN ('queued', 'handed')"
        " AND steered_into IS NOT NULL AND NOT EXISTS (SELECT 1 FROM message AS turn WHERE"
        " turn.id = message.steered_into AND turn.session = message.session AND turn.status = 'handed'"
        " AND turn.steered_into IS NULL)",
    ),
    Rule(
        "queued messages that joined a turn",
        "SELECT id FROM message WHERE status = 'queued' AND status IN ('queued', 'handed')"
        " AND (steered_into IS NOT NULL OR steer_taken)",
    ),
    Rule(
        "messages with an unknown status",
        "SELECT id FROM message WHERE status NOT IN"
        " ('queued', 'handed', 'done', 'failed', 'stopped', 'cancelled')",
    ),
    Rule(
        "messages whose end has no time, or that have one without an end",
        "SELECT id FROM message WHERE (ended_at IS NULL) != (status IN ('queued', 'handed'))",
    ),
    Rule(
        "messages of no session",
        "SELECT id FROM message WHERE NOT EXISTS (SELECT 1 FROM session WHERE id = message.session)",
    ),
    Rule(
        "replies without their prompt",
        "SELECT id FROM message WHERE role = 'agent' AND NOT EXISTS (SELECT 1 FROM message AS prompt WHERE"
        " prompt.id = message.reply_to AND prompt.session = message.session"
        " AND prompt.position < message.position)",
    ),
    Rule(
        "sessions that count their messages wrongly",
        "SELECT id FROM session WHERE message_count !="
        " (SELECT count(*) FROM message WHERE message.session = session.id)",
    ),
    Rule(
        "archived sessions with something under way",
        "SELECT id FROM session WHERE archived_at IS NOT NULL AND ("
        " EXISTS (SELECT 1 FROM message WHERE message.session = session.id"
        " AND status IN ('queued', 'handed'))"
        " OR EXISTS (SELECT 1 FROM task WHERE task.session = session.id AND status = 'running'))",
    ),
    Rule(
        "deleted sessions that are listed or say something",
        'SELECT id FROM session WHERE deleted_at IS NOT NULL AND (archived_at IS NULL OR "group" IS NOT NULL'
        " OR title != '' OR cwd IS NOT NULL OR EXISTS"
        " (SELECT 1 FROM message WHERE message.session = session.id AND (text != '' OR item IS NOT NULL)))",
    ),
    Rule(
        "sessions in a group that is not there",
        'SELECT id FROM session WHERE "group" IS NOT NULL AND NOT EXISTS'
        ' (SELECT 1 FROM session_group WHERE id = session."group")',
    ),
    Rule(
        "groups led by a session that is not there",
        "SELECT id FROM session_group WHERE head IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM session WHERE id = session_group.head)",
    ),
    Rule(
        "tasks of no session",
        "SELECT id FROM task WHERE NOT EXISTS (SELECT 1 FROM session WHERE id = task.session)",
    ),
    Rule(
        "tasks whose end has no time, or that have one without an end",
        "SELECT id FROM task WHERE (ended_at IS NULL) != (status = 'running')",
    ),
    Rule(
        "cards of no session",
        "SELECT id FROM card WHERE NOT EXISTS (SELECT 1 FROM session WHERE id = card.session)",
    ),
    Rule(
        "cards whose end has no time, or that have one without an end",
        "SELECT id FROM card WHERE (ended_at IS NULL) != (status = 'pending')",
    ),
    Rule(
        "cards that wait in a turn which does not run",
        "SELECT id FROM card WHERE status = 'pending' AND kind != 'approval' AND NOT EXISTS"
        " (SELECT 1 FROM message WHERE message.id = card.message AND message.session = card.session"
        " AND message.status = 'handed' AND message.steered_into IS NULL)",
    ),
    Rule(
        "events that were deleted and are there",
        "SELECT cursor FROM event WHERE cursor <= (SELECT max(pruned_cursor) FROM relay)",
    ),
    Rule(
        "events of no session",
        "SELECT cursor FROM event WHERE NOT EXISTS (SELECT 1 FROM session WHERE id = event.session)",
    ),
    Rule(
        "names of writes that lead to no message",
        "SELECT client_id FROM client_id WHERE (message IS NULL) = (result IS NULL)"
        " OR (message IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM message WHERE id = client_id.message AND session = client_id.session))",
    ),
    Rule(
        "fan-outs without their group",
        'SELECT "group" FROM fanout WHERE NOT EXISTS (SELECT 1 FROM session_group WHERE id = fanout."group")',
    ),
    Rule(
        "items of no fan-out",
        "SELECT \"group\" || ' ' || number FROM fanout_item WHERE NOT EXISTS"
        ' (SELECT 1 FROM fanout WHERE fanout."group" = fanout_item."group")',
    ),
    Rule(
        "items whose attempt is not there",
        "SELECT \"group\" || ' ' || number FROM fanout_item WHERE (attempts > 0) != (message IS NOT NULL)"
        " OR (message IS NOT NULL AND NOT EXISTS (SELECT 1 FROM message WHERE id = fanout_item.message"
        " AND session = fanout_item.session))",
    ),
    Rule(
        "items with half a result",
        "SELECT \"group\" || ' ' || number FROM fanout_item WHERE (status IS NULL) != (ended_at IS NULL)",
    ),
    Rule(
        "tokens of a conversation that is not there",
        "SELECT name FROM token WHERE session IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM session WHERE id = token.session)",
    ),
    Rule(
        "subscriptions of no session",
        "SELECT id FROM subscription WHERE NOT EXISTS"
        " (SELECT 1 FROM session WHERE id = subscription.watcher)",
    ),
    Rule(
        "subscriptions whose end has no reason, or that have one without an end",
        "SELECT id FROM subscription WHERE (ended_at IS NULL) != (end_reason IS NULL)",
    ),
    Rule(
        "subscriptions with half a window of quiet hours",
        "SELECT id FROM subscription WHERE (quiet_from IS NULL) != (quiet_to IS NULL)"
        " OR (quiet_from IS NULL) != (quiet_tz IS NULL)",
    ),
    Rule(
        "what is held for no subscription",
        "SELECT subscription || ' ' || cursor FROM held_event WHERE NOT EXISTS"
        " (SELECT 1 FROM subscription WHERE id = held_event.subscription)",
    ),
    Rule(
        "what is watched by no subscription",
        "SELECT subscription || ' ' || session FROM watched WHERE NOT EXISTS"
        " (SELECT 1 FROM subscription WHERE id = watched.subscription)",
    ),
    Rule("more than one relay", "SELECT id FROM relay LIMIT -1 OFFSET 1"),
    Rule("settings that are no JSON", "SELECT name FROM setting WHERE NOT json_valid(value)"),
)


def quick_check(path: Path | str) -> list[str]:
    """Look whether the file is what SQLite wrote, without its indexes, and its values what we write.

    Gives what is wrong, in words.

    Works beside a running relay. Raises a StoreError when the file cannot be opened at all.
    """
    return _checked(path, "quick_check", ())


def full_check(path: Path | str) -> list[str]:
    """Look at the file with its indexes, and at what its tables say of each other; gives what is wrong.

    Reads everything, so it takes its time with a large store; works beside a running relay, and sees one
    moment of it. Raises a StoreError when the file cannot be opened at all.
    """
    return _checked(path, "integrity_check", RULES)


def _checked(path: Path | str, pragma: str, rules: tuple[Rule, ...]) -> list[str]:
    with closing(open_for_reading(path)) as database:
        try:
            return _findings(database.connection, pragma, rules)
        except sqlite3.Error as error:
            trouble = storage_error(error, database.path)
            if trouble is None:
                raise
            return [trouble.reason]


def _findings(db: sqlite3.Connection, pragma: str, rules: tuple[Rule, ...]) -> list[str]:
    db.execute("BEGIN")
    verdicts = [verdict for (verdict,) in db.execute(f"PRAGMA {pragma}({_MOST})")]
    if verdicts != ["ok"]:
        return [f"the file is damaged: {verdict}" for verdict in verdicts]
    found = [told for model in MODELS if (told := strange_rows(db, model))]
    for rule in rules:
        rows = [str(row[0]) for row in db.execute(rule.sql)]
        if rows:
            found.append(f"{rule.broken}: {_some(rows)}")
    return found


def strange_rows(db: sqlite3.Connection, model: type[StoreModel]) -> str | None:
    """Name the rows of a table with values that are never written there; None when there are none."""
    try:
        rows = _strange_rows(db, model)
    except sqlite3.OperationalError as error:
        if not is_row_damage(error):
            raise
        db.text_factory = text_if_sound
        rows = _strange_rows(db, model)
        db.text_factory = str
    return f"rows with values that are never written there: {_some(rows)}" if rows else None


def _strange_rows(db: sqlite3.Connection, model: type[StoreModel]) -> list[str]:
    sql, shape = _whole_table(model)
    return [f"{shape.told(row[1:])} (row {row[0]})" for row in db.execute(sql) if not shape.fits(row[1:])]


@cache
def _whole_table(model: type[StoreModel]) -> tuple[str, RowShape]:
    """Give the statement that reads all of a table, the number of each row first, and what its rows hold."""
    fields = model._meta.sorted_fields
    return Statement(model.select(SQL("rowid"), *fields)).sql, RowShape(fields)


def _some(rows: list[str]) -> str:
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return ", ".join(rows[:SHOWN]) + more
