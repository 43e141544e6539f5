"""``all_idle`` is stored with the end of the last work, as somebody tells who looks at all each time."""

import json
import random
from typing import Any

import pytest

from showcaller.store.commands import idling
from tests.store.commands.test_subscriptions import wanted
from tests.store.desk import Desk, ending, message_of
from tests.store.plans import plan

SESSIONS = ("one", "two", "three")


def found(desk: Desk) -> list[dict[str, Any]]:
    """What was told, in order."""
    rows = desk.rows("SELECT session, detail FROM event WHERE kind = 'all_idle' ORDER BY cursor")
    assert all(session == "" for session, _ in rows)
    return [json.loads(detail) for _, detail in rows]


class World:
    """Sessions at work, and subscriptions to them with a plain idea of who hears what."""

    def __init__(self, desk: Desk, seed: int) -> None:
        self.desk = desk
        self.random = random.Random(seed)
        self.count = 0
        self.queued: dict[str, list[str]] = {name: [] for name in SESSIONS}
        self.running: dict[str, str] = {}
        self.tasks: dict[str, str] = {}
        self.watches: dict[str, tuple[set[str], int | None]] = {}
        self.told: list[dict[str, Any]] = []

    def subscribe(self) -> None:
        name = f"{len(self.watches)}"
        named = self.random.choice([(), ("one",), ("one", "two"), ("desk", "three")])
        excluded = () if named else self.random.choice([(), ("two",)])
        events = self.random.choice([None, ["all_idle", "error"], ["turn_end"]])
        given = wanted(name, watches_all=not named, events=None if events is None else json.dumps(events))
        self.desk.value(
            "subscribe",
            subscription=given,
            sessions=[f"ses_{session}" for session in named],
            excluded=[f"ses_{session}" for session in excluded],
            limit=1000,
            at=1_500,
        )
        watched = set(named or SESSIONS) - set(excluded) - {"desk"}
        if events is None or "all_idle" in events:
            self.watches[given["id"]] = (watched, len(watched) if named else None)
        else:
            self.watches[given["id"]] = (set(), None)

    def is_busy(self, session: str) -> bool:
        return bool(self.queued[session]) or session in self.running or session in self.tasks.values()

    def new_name(self) -> str:
        self.count += 1
        return f"{self.count:04}"

    def ends(self, session: str) -> None:
        """Something has ended in a session: say who is to hear that nothing is left."""
        if self.is_busy(session):
            return
        for subscription, (watched, number) in sorted(self.watches.items()):
            if session in watched and not any(map(self.is_busy, watched)):
                self.told.append({"subscription": subscription, "watched": number})

    def step(self) -> None:
        session = self.random.choice(SESSIONS)
        begins, ends = ["send", "begin", "task"], ["begin", "end", "cancel", "fail", "task ends"]
        act = self.random.choice([*begins, *ends, *ends])
        if act == "send":
            name = self.new_name()
            self.desk.value("accept_message", message=message_of(name, session=f"ses_{session}"))
            self.queued[session].append(name)
        elif act == "begin" and self.queued[session] and session not in self.running:
            name = self.running[session] = self.queued[session].pop(0)
            self.desk.value("hand_over", message=f"msg_{name}", worker="wrk_1", at=2_000)
        elif act == "end" and session in self.running:
            self.desk.value("end_turn", **ending(self.running.pop(session)))
            self.ends(session)
        elif act == "cancel" and self.queued[session]:
            self.desk.value("cancel_message", message=f"msg_{self.queued[session].pop()}", at=2_500)
            self.ends(session)
        elif act == "fail" and self.queued[session]:
            name = self.queued[session].pop()
            self.desk.value("end_queued", message=f"msg_{name}", error_text="no", at=2_500)
            self.ends(session)
        elif act == "task":
            name = f"tsk_{self.new_name()}"
            task = {
                "id": name,
                "session": f"ses_{session}",
                "worker_task": name,
                "type": "command",
                "description": "d",
            }
            self.desk.value("start_task", task=task, at=2_000)
            self.tasks[name] = session
        elif act == "task ends" and self.tasks:
            name = self.random.choice(sorted(self.tasks))
            of = self.tasks.pop(name)
            self.desk.value("end_task", task=name, status="done", exit_code=0, tail=None, at=2_600)
            self.ends(of)


@pytest.mark.parametrize("seed", range(8))
def test_whatever_begins_and_ends_it_is_told_just_when_nothing_is_left(desk: Desk, seed: int) -> None:
    for name in ("desk", *SESSIONS):
        desk.session(name)
    world = World(desk, seed)
    for number in range(150):
        if number % 30 == 0:
            world.subscribe()
        world.step()
    told = sorted(world.told, key=json.dumps)
    assert world.told, "nothing ever became idle"
    assert sorted(found(desk), key=json.dumps) == told


def test_where_nobody_watches_one_look_at_an_index_tells(desk: Desk) -> None:
    assert "USING INDEX subscription_open (relay=?)" in plan(desk, idling._IS_ANY)


def test_it_stands_behind_the_end_that_has_caused_it(desk: Desk) -> None:
    desk.session("desk")
    desk.session("one")
    desk.value("subscribe", subscription=wanted("a"), sessions=["ses_one"], limit=9, at=1_500)
    desk.value("accept_message", message=message_of("m", session="ses_one"))
    desk.value("hand_over", message="msg_m", worker="wrk_1", at=2_000)
    desk.value("end_turn", **ending("m"))
    kinds = [kind for (kind,) in desk.rows("SELECT kind FROM event ORDER BY cursor")]
    assert kinds == ["turn_started", "turn_end", "all_idle"]
    (event,) = [row for row in desk.read("told_events")["events"] if row["kind"] == "all_idle"]
    assert (event["title"], event["detail"]) == ("", {"subscription": "sub_a", "watched": 1})


def test_what_an_archived_session_leaves_is_told(desk: Desk) -> None:
    desk.session("desk")
    desk.session("one")
    desk.value("subscribe", subscription=wanted("a"), sessions=["ses_one"], limit=9, at=1_500)
    desk.value("accept_message", message=message_of("m", session="ses_one"))
    desk.value("archive_session", session="ses_one", at=2_000)
    assert found(desk) == [{"subscription": "sub_a", "watched": 1}]
