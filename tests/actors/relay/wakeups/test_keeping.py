"""What a watcher keeps goes through the store and back, and each event reaches its conversation once."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.relay.wakeups.event_lines import AtWork, Told, event_line
from showcaller.actors.relay.wakeups.keeping import Kept, News, changes, happened, kept, leaving, seen, told
from showcaller.actors.relay.wakeups.release import HOUR, MINUTE, Hold, Key, Pace
from showcaller.actors.relay.wakeups.taking import Watch, takes
from showcaller.store.writer import InlineWriter
from tests.actors.relay.wakeups.released import NOON
from tests.store.desk import Desk, ending, message_of

PACE = Pace(coalesce_seconds=30, wakeups_per_hour=4)
AT_ONCE = Pace(coalesce_seconds=0, wakeups_per_hour=0)
WATCHED = ("one", "two", "three")
OF_TURNS = ["turn_end", "error", "question_asked", "archived"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    path = tmp_path / "data" / "store.db"
    desk = Desk(path, InlineWriter(path, busy_seconds=0.1))
    for name in ("desk", *WATCHED):
        desk.session(name)
    yield desk
    desk.close()


class Conversation:
    """A conversation that watches, kept in a store; it may forget at any time all that is not there."""

    def __init__(self, desk: Desk, pace: Pace = AT_ONCE) -> None:
        self.desk, self.pace = desk, pace
        self.now = NOON
        self.read = 0  # up to here it has read the log
        self.names = iter(range(10_000))
        self.texts: list[str] = []
        self.unread: str | None = None
        self.kept = Kept()

    def subscribe(self, *sessions: str, **more: Any) -> str:
        name = f"sub_{next(self.names)}"
        minutes = more.get("digest_minutes")
        given = {
            "id": name,
            "watcher": "ses_desk",
            "watches_all": not sessions,
            "once": False,
            "stalled_minutes": 15,
            "hops": 1,
            "next_digest_at": None if minutes is None else self.now + minutes * MINUTE,
            "events": json.dumps(OF_TURNS),
            **more,
        }
        named = [f"ses_{session}" for session in sessions]
        self.desk.value("subscribe", subscription=given, sessions=named, limit=20, at=self.now)
        self.load()
        return name

    def load(self) -> None:
        """Take up what the store has, and nothing else."""
        self.kept = kept(self.desk.read("watching", watcher="ses_desk"))
        self.read = self.kept.since or 0

    def turn(self, session: str, *, fails: bool = False) -> None:
        """Have a turn of a session begin and end."""
        name = f"{session}_{next(self.names)}"
        self.desk.value("accept_message", message=message_of(name, session=f"ses_{session}"))
        self.desk.value("hand_over", message=f"msg_{name}", worker="wrk_1", at=self.now)
        failed = {"status": "failed", "stop_reason": "died", "error_text": "no", "reply": None}
        self.desk.value("end_turn", **ending(name, at=self.now, **(failed if fails else {})))

    def hear(self, limit: int = 1000) -> None:
        """Read the log on and store what was taken of it, with what leaves now."""
        rows = self.desk.read("told_events", since=self.read, limit=limit)["events"]
        if rows:
            self.read = rows[-1]["cursor"]
        self._store(seen(self.kept, rows, self.now, self.pace) if rows else self.kept)

    def _store(self, after: Kept) -> None:
        unread = None if self.unread is None else self._text_of(self.unread)
        left = leaving(after, self.now, self.pace, unread=unread)
        wakeup: dict[str, Any] | None = None
        if left.wakeup is not None:
            wakeup = {"events": [tuple(key) for key in left.wakeup.events]}
            if self.unread is None:
                name = f"wake_{next(self.names)}"
                wakeup |= {
                    "message": message_of(name, session="ses_desk", origin="wakeup", text=left.text),
                    "queue_limit": 10_000,
                }
            else:
                wakeup |= {"extends": self.unread, "text": left.text}
            self.texts.append(left.text)
        stored = changes(self.kept, left.kept)
        self.desk.value("advance_watcher", watcher="ses_desk", at=self.now, wakeup=wakeup, **stored)
        self.kept = left.kept._replace(ended={})

    def _text_of(self, message: str) -> str:
        (row,) = self.desk.rows("SELECT text FROM message WHERE id = ?", message)
        text: str = row[0]
        return text

    def until(self, moment: int) -> None:
        """Let the time come at which something is due, again and again, up to that moment."""
        while (due := self.kept.due(self.now)) is not None and due <= moment:
            self.now = max(self.now, due)
            self._store(self.kept)
        self.now = max(self.now, moment)

    @property
    def delivered(self) -> list[int]:
        return [
            cursor
            for (cursor,) in self.desk.rows(
                "SELECT cursor FROM delivery WHERE watcher = 'ses_desk' ORDER BY 1"
            )
        ]


def log(desk: Desk) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = desk.read("told_events", since=0, limit=100_000)["events"]
    return rows


# -- single rules ------------------------------------------------------------------------------------


def test_an_event_comes_with_its_line_and_is_forgotten(desk: Desk) -> None:
    watcher = Conversation(desk)
    watcher.subscribe("one")
    watcher.turn("one")
    watcher.turn("two")
    watcher.hear()
    (text,) = watcher.texts
    assert text.splitlines()[1:] == [
        next(event_line(told(row)) for row in log(desk) if row["kind"] == "turn_end")
    ]
    assert '"Session one" (ses_one): turn_end (done) "' in text
    assert not watcher.kept.news


def test_what_takes_nothing_is_not_stored_again(desk: Desk) -> None:
    watcher = Conversation(desk)
    watcher.subscribe("one")
    watcher.turn("two")
    rows = log(desk)
    after = seen(watcher.kept, rows, NOON, AT_ONCE)
    assert changes(watcher.kept, after) == {"seen": [], "held": [], "let_go": [], "pace": None}


def test_a_subscription_made_for_once_ends_and_what_it_took_still_obeys_its_digest(desk: Desk) -> None:
    watcher = Conversation(desk)
    name = watcher.subscribe("one", once=True, digest_minutes=30)
    watcher.turn("one")
    watcher.turn("one")
    watcher.hear()
    assert desk.rows("SELECT end_reason FROM subscription WHERE id = ?", name) == [("once",)]
    watcher.load()
    assert (watcher.kept.due(watcher.now), watcher.kept.watches) == (NOON + 30 * MINUTE, {})
    watcher.until(NOON + 31 * MINUTE)
    assert len(watcher.texts) == 1
    assert watcher.texts[0].count("turn_end") == 1
    assert watcher.kept.is_over
    assert not watcher.kept.watcher.terms


@pytest.mark.parametrize(
    ("command", "reason"), [("archive_session", "archived"), ("delete_session", "deleted")]
)
def test_it_ends_with_the_last_session_that_it_names(desk: Desk, command: str, reason: str) -> None:
    watcher = Conversation(desk)
    name, of_all = watcher.subscribe("one", "two"), watcher.subscribe()
    desk.value("archive_session", session="ses_one", at=NOON)
    watcher.hear()
    watcher.load()
    assert list(watcher.kept.watches) == [name, of_all]
    desk.value(command, session="ses_two", at=NOON)
    watcher.hear()
    assert desk.rows("SELECT end_reason FROM subscription ORDER BY rowid") == [(reason,), (None,)]
    assert [text.count("archived") for text in watcher.texts] == [1, 1]
    assert list(watcher.kept.watches) == [of_all]


def test_it_does_not_end_before_the_log_has_told_of_each_session(desk: Desk) -> None:
    """Both are put away by the time it reads, and each is told, one page after the other."""
    watcher = Conversation(desk)
    name = watcher.subscribe("one", "two")
    for session in ("one", "two"):
        desk.value("archive_session", session=f"ses_{session}", at=NOON)
    watcher.load()
    watcher.hear(limit=1)
    assert list(watcher.kept.watches) == [name]
    watcher.hear(limit=1)
    assert len(watcher.delivered) == 2
    assert watcher.kept.is_over


def test_what_no_subscription_names_is_not_kept_when_it_is_put_away(desk: Desk) -> None:
    watcher = Conversation(desk)
    watcher.subscribe()
    watcher.subscribe("one", "two")
    for session in ("one", "three"):
        desk.value("archive_session", session=f"ses_{session}", at=NOON)
    watcher.hear()
    assert watcher.kept.put_away == {"ses_one"}
    in_memory = watcher.kept
    watcher.load()
    assert watcher.kept == in_memory


def test_the_hops_of_what_leaves_are_the_most_of_who_took_it(desk: Desk) -> None:
    watcher = Conversation(desk)
    watcher.subscribe("one", hops=1)
    watcher.subscribe("one", hops=3)
    watcher.subscribe("two", hops=7)
    watcher.turn("one")
    after = seen(watcher.kept, log(desk), NOON, AT_ONCE)
    assert leaving(after, NOON, AT_ONCE).hops == 3


def test_what_waits_unread_is_extended(desk: Desk) -> None:
    watcher = Conversation(desk)
    watcher.subscribe("one")
    watcher.turn("one")
    watcher.hear()
    ((watcher.unread,),) = desk.rows("SELECT message FROM delivery")
    watcher.turn("one", fails=True)
    watcher.hear()
    assert desk.rows("SELECT count(*) FROM message WHERE origin = 'wakeup'") == [(1,)]
    text = watcher.texts[-1]
    assert [line.split(": ")[-1].split(" ")[0] for line in text.splitlines()[1:]] == ["turn_end", "error"]


def test_all_that_a_line_tells_outlives_the_log(desk: Desk) -> None:
    """What is held may be older than what the log keeps."""
    watcher = Conversation(desk)
    watcher.subscribe("one", digest_minutes=600)
    watcher.turn("one")
    watcher.hear()
    before = watcher.kept.news
    desk.value("prune_events", before=NOON + 1, keep=0)
    watcher.load()
    assert watcher.kept.news == before
    assert before


@pytest.mark.parametrize(
    ("kind", "status", "stop_reason", "text", "outcome", "said"),
    [
        ("turn_end", "done", "end", "It works.", "done", "It works."),
        ("turn_end", "stopped", "cancelled", "", "stopped", ""),
        ("error", "failed", "died", "exit code 1", "died", "exit code 1"),
        ("archived", None, None, "deleted", "deleted", ""),
        ("archived", None, None, "", "", ""),
        ("turn_started", "handed", None, "", "", ""),
    ],
)
def test_what_a_line_tells_of_an_event(
    kind: str, status: str | None, stop_reason: str | None, text: str, outcome: str, said: str
) -> None:
    row = {
        "cursor": 7,
        "kind": kind,
        "session": "ses_one",
        "title": "One",
        "status": status,
        "stop_reason": stop_reason,
        "text": text,
        "task": None,
        "detail": {},
    }
    assert told(row) == Told(kind, "ses_one", "One", outcome=outcome, text=said)


def test_every_field_of_what_is_told_is_stored() -> None:
    each = Told(
        "heartbeat",
        relay="box",
        outcome="dismissed",
        about="tsk_1",
        text="a\nb",
        subscription="sub_1",
        minutes=3,
        watched=2,
        at_work=(AtWork("ses_one", "One", 5), AtWork("ses_two", "Two", 6)),
        choice="yes",
        via="box",
        held=4,
    )
    before = Kept(hops={"sub_1": 1})
    key = Key("", 5)
    after = seen_as(before, key, each)
    (row,) = changes(before, after)["held"]
    held = {**row, "event": json.loads(row["event"])}
    record = {"subscriptions": [subscribed("sub_1")], "held": [held], "pace": None}
    assert kept(record).news[key].told == each


def seen_as(before: Kept, key: Key, each: Told) -> Kept:
    """Give what is kept after an event was taken whose line tells this."""
    holds = (Hold("sub_1", key, NOON + HOUR),)
    return before._replace(watcher=before.watcher._replace(holds=holds), news={key: News(each, 1)})


def subscribed(name: str) -> dict[str, Any]:
    """Give a subscription as the store tells of it."""
    empty = dict.fromkeys(
        ("events", "matches", "heartbeat_minutes", "digest_minutes", "quiet_from", "next_digest_at")
    )
    return {
        **empty,
        "id": name,
        "watcher": "ses_desk",
        "relay": "",
        "watches_all": 1,
        "once": 0,
        "hops": 1,
        "cursor": 0,
        "ended_at": None,
        "sessions": [],
        "excluded": [],
    }


# -- through crashes ---------------------------------------------------------------------------------


def expected(watches: list[Watch], rows: list[dict[str, Any]]) -> set[int]:
    """Say which events are to come, going by one subscription and one event at a time."""
    due: set[int] = set()
    for watch in watches:
        for row in rows:
            if takes(watch, happened(row)):
                due.add(row["cursor"])
                if watch.once:
                    break
    return due


@pytest.mark.parametrize("seed", range(15))
def test_each_event_that_is_taken_is_delivered_once_however_often_all_but_the_store_is_forgotten(
    desk: Desk, seed: int
) -> None:
    chance = random.Random(seed)
    watcher = Conversation(desk, chance.choice([PACE, AT_ONCE, Pace(30, 0)]))
    made: list[Watch] = []
    for _ in range(80):
        match chance.randrange(10):
            case 0 if len(made) < 6:
                name = watcher.subscribe(
                    *chance.sample(WATCHED, chance.randrange(3)),
                    **chance.choice(OPTIONS),
                    **chance.choice(ONCE),
                )
                made.append(watcher.kept.watches[name])
            case 1:
                watcher.load()  # it dies before it stores what it has heard
            case 2 | 3 | 4:
                watcher.turn(chance.choice(WATCHED), fails=chance.random() < 0.2)
            case 5:
                watcher.until(watcher.now + chance.choice([10, 40, 3600, 40_000]) * 1000)
            case 6:
                watcher.hear(limit=chance.choice([1, 3, 1000]))
                watcher.load()  # it dies once that is stored
            case _:
                watcher.hear(limit=chance.choice([1, 3, 1000]))
    watcher.hear()
    watcher.until(watcher.now + 3 * 24 * HOUR)
    assert set(watcher.delivered) == expected(made, log(desk))
    lines = [
        line for text in watcher.texts for line in text.splitlines() if line.startswith("[relay event] ")
    ]
    assert len(lines) == len(watcher.delivered)
    assert desk.rows("SELECT * FROM held_event") == []
    in_memory = watcher.kept
    watcher.load()
    assert watcher.kept == in_memory


OPTIONS: list[dict[str, Any]] = [
    {},
    {"digest_minutes": 30},
    {"digest_minutes": 700},
    {"quiet_from": "23:00", "quiet_to": "06:00", "quiet_tz": "Europe/Berlin"},
    {"matches": json.dumps(["ONE", "three is"])},
    {"events": json.dumps(["turn_started", "error"])},
]
ONCE: list[dict[str, Any]] = [{}, {}, {"once": True}]
