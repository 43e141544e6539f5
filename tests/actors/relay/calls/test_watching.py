"""A monitor is told of everything that fires, once, waits without polling, and says what is pending."""

import random
from typing import Any

import pytest

from showcaller.actors.contract.outside import Monitor
from showcaller.actors.relay.calls import OWNER, ActRequest, Caller
from showcaller.actors.runtime import Future
from showcaller.store.errors import StoreClosed
from tests.actors.relay.calls import external
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage
from tests.actors.relay.watch import ask, begin, kinds, monitor


def end_turn(stage: Stage, turn: str, outcome: Any = "done", **more: Any) -> None:
    """Have the worker end a turn, and all that follows."""
    stage.workers.end(turn, outcome, **more)
    stage.settle()


def test_a_monitor_waits_for_a_turn_end_and_gives_all_that_fired_and_all_that_is_pending(
    stage: Stage,
) -> None:
    (one, turn), (two, other) = stage.create("one"), stage.create("two")
    waiting = monitor(stage, sessions=[one, two], timeout=600)
    stage.advance(500)
    stage.settle()
    assert not waiting.done
    end_turn(stage, turn, reply="well done")
    answer = waiting.get()
    assert kinds(answer) == [("turn_end", one)]
    assert answer["fired"][0] | {"at": 0} == {
        "cursor": 3,
        "event": "turn_end",
        "session": one,
        "title": "one",
        "at": 0,
        "message_id": turn,
        "status": "done",
        "stopReason": "end",
        "text": "well done",
    }
    assert [(each["session"], each["state"], each["message_id"]) for each in answer["pending"]] == [
        (two, "running_turn", other)
    ]
    assert (answer["next"], answer["gap"], answer["timedOut"], answer["more"]) == (3, None, False, False)


@pytest.mark.parametrize("outcome", ["done", "failed", "stopped"])
def test_an_event_of_a_turns_end_says_how_it_has_ended(stage: Stage, outcome: str) -> None:
    _, turn = stage.create()
    end_turn(stage, turn, outcome)
    (told,) = [row for row in ask(stage, "session_events")["events"] if row["event"] in {"turn_end", "error"}]
    assert told["status"] == outcome
    assert ("stopReason" in told) == (outcome != "stopped"), "what is stopped has come to no end of its own"


def test_a_session_that_is_idle_already_does_not_fire_again_for_an_old_cursor(stage: Stage) -> None:
    session, turn = stage.create()
    before = ask(stage, "session_events")["next"]
    end_turn(stage, turn)
    first = ask(stage, "session_monitor", sessions=[session], since=before, timeout=0)
    assert kinds(first) == [("turn_end", session)]
    waiting = monitor(stage, sessions=[session], since=first["next"], timeout=60)
    assert not waiting.done
    stage.advance(61)
    stage.settle()
    again = waiting.get()
    assert (again["fired"], again["pending"], again["timedOut"]) == ([], [], True)
    assert again["next"] == first["next"]


def test_without_a_cursor_named_sessions_that_are_idle_are_told_at_once_and_those_of_all_are_not(
    stage: Stage,
) -> None:
    session, turn = stage.create()
    assert not monitor(stage, sessions=[session], timeout=60).done
    end_turn(stage, turn)
    answer = ask(stage, "session_monitor", sessions=[session], timeout=60)
    assert answer["fired"] == []
    assert [(each["session"], each["lastTurn"]) for each in answer["alreadyIdle"]] == [(session, "done")]
    assert not monitor(stage, sessions=["all"], timeout=60).done
    assert not monitor(stage, sessions=[session], until=["exited"], timeout=60).done


@pytest.mark.parametrize(
    ("until", "outcome", "more", "fires"),
    [
        ("turn-end", "done", {}, True),
        ("turn-end", "failed", {"stop_reason": "end"}, True),
        ("turn-end", "stopped", {}, True),
        ("awaiting-input", "done", {}, False),
        ("exited", "done", {}, False),
        ("exited", "failed", {"stop_reason": "end"}, False),
        ("exited", "failed", {"stop_reason": "died"}, True),
        ("exited", "failed", {"stop_reason": "interrupted"}, True),
        ("any", "done", {}, True),
    ],
)
def test_until_says_what_ends_a_wait(
    stage: Stage, until: str, outcome: str, more: dict[str, Any], fires: bool
) -> None:
    session, turn = stage.create()
    waiting = monitor(stage, sessions=[session], until=[until], timeout=60)
    end_turn(stage, turn, outcome, error_text="why" if outcome == "failed" else None, **more)
    assert waiting.done is fires
    stage.advance(61)
    stage.settle()
    assert waiting.get()["timedOut"] is not fires


def test_a_monitor_of_all_hears_of_sessions_that_are_made_later(stage: Stage) -> None:
    waiting = monitor(stage, sessions="all", until="any", timeout=60)
    assert not waiting.done
    session, _ = stage.create()
    assert kinds(waiting.get()) == [("turn_started", session)]
    assert waiting.get()["pending"][0]["session"] == session


def test_nobody_polls_and_nothing_is_read_for_nobody(stage: Stage) -> None:
    _, turn = stage.create()
    waiting = monitor(stage, timeout=3600)
    asked = len(stage.reader.asked)
    stage.advance(50)  # nothing is tidied up yet
    stage.settle()
    assert "told_events" not in stage.reader.asked[asked:]
    end_turn(stage, turn)
    assert waiting.done
    asked = len(stage.reader.asked)
    stage.create("two")
    assert "told_events" not in stage.reader.asked[asked:]


def test_a_wait_that_is_over_leaves_nothing_behind(stage: Stage) -> None:
    stage.create()
    waiting = monitor(stage, sessions="all", until="exited", timeout=10)
    stage.advance(11)
    stage.settle()
    assert waiting.get()["timedOut"]
    stage.create("two")
    asked = len(stage.reader.asked)
    stage.create("three")
    assert "told_events" not in stage.reader.asked[asked:]


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_no_event_is_lost_when_a_limit_cuts_a_page(stage: Stage, limit: int) -> None:
    for number in range(5):
        end_turn(stage, stage.create(str(number))[1])
    since, seen, pages = 0, list[int](), 0
    while True:
        page = ask(stage, "session_events", since=since, limit=limit)
        seen += [event["cursor"] for event in page["events"]]
        since, pages = page["next"], pages + 1
        if not page["more"]:
            break
    assert seen == list(range(1, 11))
    assert pages == -(-10 // limit)


def test_a_reader_behind_the_kept_log_sees_a_gap(stage: Stage) -> None:
    end_turn(stage, stage.create()[1])
    stage.advance(8 * 24 * 3600)
    stage.settle()
    assert ask(stage, "session_events", since=1)["gap"] == 3
    behind = ask(stage, "session_monitor", since=1, timeout=60)
    assert (behind["gap"], behind["fired"], behind["next"]) == (3, [], 2)
    assert ask(stage, "session_monitor", since=2, timeout=0)["gap"] is None


def test_a_cursor_of_another_relay_is_refused(stage: Stage) -> None:
    stage.create()
    for name in ("session_events", "session_monitor"):
        refused = ask(stage, name, since=99)
        assert (refused["code"], refused["newest"]) == ("REMOTE_RELAY_INVALID_INPUT", 1)
        assert "ahead of the log" in refused["error"]


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("session_monitor", {"sessions": ["nothing here"]}, "is no session id"),
        ("session_monitor", {"sessions": ["all", "ses_abcdef"]}, 'must be ["all"] alone'),
        ("session_monitor", {"sessions": {"a": 1}}, "must be an array"),
        ("session_monitor", {"until": ["sunset"]}, "must be one of turn-end"),
        ("session_monitor", {"timeout": -1}, "must be 0 to"),
        ("session_monitor", {"timeout": "soon"}, "must be a number of seconds"),
        ("session_monitor", {"since": -1}, "must be 0 to"),
        ("session_monitor", {"since": 2**63}, "must be 0 to"),
        ("session_monitor", {"sleep": 3}, "does not take"),
        ("session_events", {"limit": 1001}, "must be 1 to 1,000"),
        ("session_output", {}, "needs session"),
        ("session_output", {"session": "ses_abcdef", "since": "0", "last": 3}, "since or last"),
    ],
)
def test_bad_input_is_refused_with_what_to_mend(
    stage: Stage, name: str, arguments: dict[str, Any], says: str
) -> None:
    refused = ask(stage, name, **arguments)
    assert refused["code"] == "REMOTE_RELAY_INVALID_INPUT"
    assert says in refused["error"]


def test_an_unknown_session_and_a_deleted_one_are_named(stage: Stage) -> None:
    refused = ask(stage, "session_monitor", sessions=["ses_000000000000"])
    assert (refused["code"], refused["missing"]) == ("REMOTE_RELAY_NOT_FOUND", ["ses_000000000000"])
    session, turn = stage.create()
    end_turn(stage, turn)
    deleted = stage.door._request(ActRequest("delete", session))
    stage.settle()
    assert deleted.get()["ok"]
    assert ask(stage, "session_monitor", sessions=[session])["code"] == "REMOTE_RELAY_NOT_FOUND"


def test_watching_from_outside_is_for_the_owner_and_for_supervisors(stage: Stage) -> None:
    session, _ = stage.create()
    outside = external.client(stage).caller
    for caller in (Caller("agent", session), outside):
        for name, more in (
            ("session_monitor", {}),
            ("session_events", {}),
            ("session_output", {"session": session}),
        ):
            assert ask(stage, name, caller, **more)["code"] == "REMOTE_RELAY_FORBIDDEN"
    assert ask(stage, "session_events", outside._replace(supervises=True))["ok"]


def test_a_relay_that_closes_ends_every_wait(stage: Stage) -> None:
    stage.create()
    waiting = monitor(stage, until="exited", timeout=3600 * 24)
    stage.close()
    assert waiting.get()["code"] == "REMOTE_RELAY_UNAVAILABLE"


def test_a_log_that_cannot_be_read_ends_every_wait(stage: Stage) -> None:
    stage.create()
    waiting = monitor(stage, until="exited", timeout=3600 * 24)
    stage.reader.failing["told_events"] = StoreClosed(stage.path, "it was closed")
    stage.create("two")
    stage.settle()
    assert waiting.get()["code"] == "REMOTE_RELAY_STORAGE"


def test_a_relay_that_only_reads_tells_how_it_stands_and_does_not_wait(open_stage: OpenStage) -> None:
    open_stage().create()
    looking = open_stage(read_only=True)
    assert ask(looking, "session_events")["events"][0]["event"] == "turn_started"
    assert ask(looking, "session_monitor", timeout=0)["pending"][0]["state"] == "running_turn"
    refused = ask(looking, "session_monitor", timeout=5)
    assert refused["code"] == "REMOTE_RELAY_UNAVAILABLE"


class Reader:
    """Somebody who monitors all sessions from cursor to cursor, and notes what fired."""

    def __init__(self, stage: Stage, until: list[str], chance: random.Random) -> None:
        self.stage = stage
        self.until = until
        self.chance = chance
        self.cursor = 0
        self.seen: list[int] = []
        self.waiting: Future[Any] | None = None

    def go_on(self) -> bool:
        """Take the answer, if there is one, and ask again; whether nothing fired until time was up."""
        is_over = False
        if self.waiting is not None and self.waiting.done:
            answer = self.waiting.get()
            self.seen += [event["cursor"] for event in answer["fired"]]
            self.cursor, self.waiting = answer["next"], None
            is_over = answer["timedOut"]
        if self.waiting is None:
            asked: dict[str, Any] = {"since": self.cursor, "until": self.until}
            asked["timeout"] = self.chance.choice([0, 1, 50])
            self.waiting = begin(self.stage, "session_monitor", OWNER, **asked)
        return is_over


def happen(stage: Stage, chance: random.Random) -> None:
    """Have something happen."""
    match chance.randrange(3):
        case 0:
            stage.begin("create_session", text="go", wait_seconds=0)
        case 1 if stage.workers.open:
            turn = chance.choice(sorted(stage.workers.open))
            stage.workers.end(turn, chance.choice(["done", "stopped"]))
        case _:
            stage.advance(chance.choice([0.1, 2]))


@pytest.mark.parametrize("seed", range(12))
def test_whoever_goes_on_from_cursor_to_cursor_sees_every_event_once_and_in_order(
    open_stage: OpenStage, seed: int
) -> None:
    stage, chance = open_stage(seed), random.Random(seed)
    until = chance.choice([["any"], ["turn-end"], ["turn-end", "exited"]])
    readers = [Reader(stage, until, chance) for _ in range(3)]
    for _ in range(60):
        if chance.random() < 0.5:
            happen(stage, chance)
        else:
            chance.choice(readers).go_on()
        for _ in range(chance.randrange(40)):
            stage.dispatcher.step()
    stage.settle()
    for reader in readers:
        reader.go_on()  # with what was asked before the last event, of which that answer need not tell
        stage.advance(60)
        stage.settle()
        while not reader.go_on():
            stage.advance(60)
            stage.settle()
    log = stage.read("events", limit=100_000)["events"]
    due = [event["cursor"] for event in log if until == ["any"] or event["kind"] in {"turn_end", "error"}]
    assert [reader.seen for reader in readers] == [due, due, due]


def test_a_monitor_is_one_model_for_all_doors() -> None:
    assert Monitor().until == ("turn-end", "awaiting-input", "exited")
