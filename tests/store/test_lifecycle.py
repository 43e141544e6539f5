"""Any commands in any batches leave a store whose tables tell the same story, and a model's story."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from showcaller.store.batch import Answer
from showcaller.store.writer import InlineWriter
from tests.store.desk import Desk, ending, message_of, session_of

SESSIONS = ["a", "b"]
NAMES = ["m0", "m1", "m2", "m3"]
Steps = list[tuple[str, str, str]]
KINDS = [
    "create_session",
    "accept_message",
    "hand_over",
    "take_back",
    "end_turn",
    "cancel_message",
    "archive_session",
    "interrupt_turns",
]
STEP = st.tuples(st.sampled_from(KINDS), st.sampled_from(SESSIONS), st.sampled_from(NAMES))
BATCHES = st.lists(st.lists(STEP, max_size=6), max_size=12)


def command(step: tuple[str, str, str]) -> tuple[str, dict[str, Any]]:
    """Make a command of a step."""
    kind, session, name = step
    message = message_of(name, client_id=name)
    arguments: dict[str, dict[str, Any]] = {
        "create_session": {"session": session_of(session), "message": None},
        "accept_message": {"message": {**message, "session": f"ses_{session}"}, "queue_limit": 2},
        "hand_over": {"message": f"msg_{name}", "worker": "wrk_1", "at": 2_000},
        "take_back": {"message": f"msg_{name}"},
        "end_turn": ending(name),
        "cancel_message": {"message": f"msg_{name}", "at": 2_500},
        "archive_session": {"session": f"ses_{session}", "at": 4_000},
        "interrupt_turns": {"at": 5_000},
    }
    return kind, arguments[kind]


class Story:
    """What a store should say, told in a few lines: sessions, and the state of each message."""

    def __init__(self) -> None:
        self.archived: dict[str, bool] = {}
        self.status: dict[str, str] = {}
        self.home: dict[str, str] = {}

    def of(self, session: str, status: str) -> list[str]:
        """Name the messages of a session that are in a state."""
        return [name for name, now in self.status.items() if now == status and self.home[name] == session]

    def tell(self, kind: str, session: str, name: str) -> bool:
        """Go on by one step; gives whether it goes through."""
        may = getattr(self, kind)
        result: bool = may(session, name)
        return result

    def create_session(self, session: str, _name: str) -> bool:
        """A session is made once."""
        if session in self.archived:
            return False
        self.archived[session] = False
        return True

    def accept_message(self, session: str, name: str) -> bool:
        """A message is accepted once; again it is a repeat, or in another session refused."""
        if name in self.status:
            return self.home[name] == session
        if self.archived.get(session, True) or len(self.of(session, "queued")) >= 2:
            return False
        self.status[name], self.home[name] = "queued", session
        return True

    def move(self, name: str, before: str, after: str) -> bool:
        """A message goes from one state to another, or is not in that state."""
        if self.status.get(name) != before:
            return False
        self.status[name] = after
        return True

    def hand_over(self, _session: str, name: str) -> bool:
        """What is queued is handed over."""
        return self.move(name, "queued", "handed")

    def take_back(self, _session: str, name: str) -> bool:
        """What is handed over is taken back."""
        return self.move(name, "handed", "queued")

    def end_turn(self, _session: str, name: str) -> bool:
        """What is handed over ends."""
        return self.move(name, "handed", "done")

    def cancel_message(self, _session: str, name: str) -> bool:
        """What is queued is cancelled."""
        return self.move(name, "queued", "cancelled")

    def archive_session(self, session: str, _name: str) -> bool:
        """A session that is not at work is put away with its queue."""
        if self.archived.get(session, True) or self.of(session, "handed"):
            return False
        self.archived[session] = True
        for name in self.of(session, "queued"):
            self.status[name] = "cancelled"
        return True

    def interrupt_turns(self, _session: str, _name: str) -> bool:
        """Whatever is handed over fails."""
        for name in NAMES:
            self.move(name, "handed", "failed")
        return True


def assert_the_tables_agree(desk: Desk) -> None:
    """See that what is written in two places is the same in both."""
    queued = desk.rows("SELECT id FROM message WHERE status = 'queued' ORDER BY id")
    assert desk.rows("SELECT key FROM outbox ORDER BY key") == queued
    counted = desk.rows("SELECT id, message_count FROM session ORDER BY id")
    for session, count in counted:
        assert desk.rows("SELECT count(*) FROM message WHERE session = ?", session) == [(count,)]
    ends = desk.rows(
        "SELECT message, count(*) FROM event WHERE kind IN ('turn_end', 'error') GROUP BY message"
    )
    ended = desk.rows("SELECT id, 1 FROM message WHERE role = 'user' AND status IN ('done', 'failed')")
    assert sorted(ends) == sorted(ended)
    replies = desk.rows("SELECT reply_to FROM message WHERE role = 'agent' ORDER BY reply_to")
    assert replies == desk.rows("SELECT id FROM message WHERE role = 'user' AND status = 'done' ORDER BY id")
    assert desk.rows("PRAGMA quick_check") == [("ok",)]


def went_through(answer: Answer) -> bool:
    """Say whether a command was carried out; the only fault that may be is a session made twice."""
    assert answer.error in {None, "conflict", "fault"}
    assert answer.error != "fault" or "session.id" in (answer.detail or "")
    return answer.error is None


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=40)
@given(BATCHES)
def test_any_batches_of_any_commands_tell_one_story(batches: list[Steps]) -> None:
    story = Story()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        desk = Desk(path, InlineWriter(path))
        for steps in batches:
            answers = desk.run(*[command(step) for step in steps])
            assert [went_through(answer) for answer in answers] == [story.tell(*step) for step in steps]
        stored = desk.rows("SELECT substr(id, 5), status FROM message WHERE role = 'user'")
        assert dict(stored) == story.status
        assert_the_tables_agree(desk)
        desk.close()
