"""A batch is one transaction: together where it goes well, apart where it does not, and never twice."""

import os
from pathlib import Path
from typing import Any

import pytest

from showcaller.store.batch import Answer, Batch, Command
from showcaller.store.database import open_for_reading, open_for_writing
from showcaller.store.transaction import committed_answers, run_batch
from tests.store.desk import Desk, ending, message_of, session_of

Order = tuple[str, dict[str, Any]]
GOOD: list[Order] = [
    ("create_session", {"session": session_of("good"), "message": message_of("good")}),
    ("hand_over", {"message": "msg_good", "worker": "wrk_1", "at": 2_000}),
]
BAD: dict[str, Order] = {
    "guard": ("hand_over", {"message": "msg_x", "worker": "wrk_1", "at": 1}),
    "unknown command": ("drop_everything", {}),
    "missing argument": ("hand_over", {"message": "msg_x"}),
    "foreign argument": ("take_back", {"message": "msg_x", "colour": "red"}),
    "wrong type": ("create_group", {"group": "g", "name": ["n"], "origin": "owner", "at": 1}),
    "number beyond 64 bits": ("create_group", {"group": "g", "name": "n", "origin": "owner", "at": 2**64}),
    "half a surrogate pair": ("create_group", {"group": "g", "name": "\ud800", "origin": "owner", "at": 1}),
    "keys that are no names": ("create_group", {"group": {1: 2}, "name": "n", "origin": "owner", "at": 1}),
    "object": ("create_group", {"group": object(), "name": "n", "origin": "owner", "at": 1}),
    "text that is missing": ("create_group", {"group": "g", "name": "n", "origin": None, "at": 1}),
}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("kind", BAD)
def test_a_bad_command_hurts_no_other_wherever_it_stands(either_desk: Desk, kind: str, place: int) -> None:
    commands = [*GOOD[:place], BAD[kind], *GOOD[place:]]
    answers = either_desk.run(*commands)
    errors = [answer.error for answer in answers]
    assert errors[place] == ("conflict" if kind == "guard" else "fault")
    assert answers[place].detail
    assert [error for number, error in enumerate(errors) if number != place] == [None, None]
    assert either_desk.read("message", message="msg_good")["status"] == "handed"
    assert either_desk.rows("SELECT id FROM session_group") == []


def test_a_command_that_fails_half_way_leaves_nothing_behind(desk: Desk) -> None:
    desk.handed("a", "m")
    reply = {"id": "msg_m", "text": "an id that is taken", "truncated": False}
    answers = desk.run(("end_turn", ending("m", reply=reply)), ("end_turn", ending("m")))
    assert [answer.error for answer in answers] == ["fault", None]
    assert desk.read("message", message="msg_m")["reply"]["text"] == "m is done"
    assert desk.read("load_session", session="ses_a")["message_count"] == 2


def test_later_commands_of_a_batch_see_what_earlier_ones_did(desk: Desk) -> None:
    desk.run(*GOOD, ("end_turn", ending("good")))
    assert desk.read("message", message="msg_good")["status"] == "done"


def test_a_batch_without_commands_is_fine(either_desk: Desk) -> None:
    assert either_desk.run() == []


def test_the_same_batch_again_gets_its_answers_and_runs_nothing(either_desk: Desk) -> None:
    batch = either_desk.batch(*GOOD, BAD["guard"])
    first = either_desk.give(batch)
    again = either_desk.give(batch)
    assert again == first
    assert [answer.error for answer in again] == [None, None, "conflict"]
    assert either_desk.read("counts")["messages"] == 1


def test_the_same_numbers_of_another_incarnation_are_another_batch(either_desk: Desk) -> None:
    batch = either_desk.batch(*GOOD)
    either_desk.give(batch)
    answers = either_desk.give(batch._replace(incarnation="second"))
    assert [answer.error for answer in answers] == ["fault", "conflict"]


def test_a_batch_that_comes_late_is_not_run(desk: Desk) -> None:
    late, last = desk.batch(*GOOD), desk.batch()
    desk.give(last)
    answers = desk.give(late)
    assert [answer.error for answer in answers] == ["fault", "fault"]
    assert desk.read("counts")["sessions"] == 0


def test_a_writer_that_was_taken_over_stores_nothing(path: Path) -> None:
    old = open_for_writing(path)
    new = open_for_writing(path)
    batch = Batch("a", 1, [Command(1, *GOOD[0])])
    (answer,) = run_batch(old, batch)
    assert answer.error == "storage"
    assert answer.detail is not None
    assert "another relay" in answer.detail
    assert run_batch(new, batch)[0].error is None
    old.close()
    new.close()


def test_what_a_dead_writer_committed_can_be_looked_up(path: Path) -> None:
    writer = open_for_writing(path)
    batch = Batch("a", 1, [Command(1, *GOOD[0])])
    answers = run_batch(writer, batch)
    writer.close()
    reader = open_for_reading(path)
    assert committed_answers(reader, batch) == answers == [Answer(1, {"position": 1})]
    assert committed_answers(reader, batch._replace(number=2)) is None
    assert committed_answers(reader, batch._replace(incarnation="b")) is None
    reader.close()


def test_a_file_with_no_room_left_stores_nothing_until_there_is(path: Path) -> None:
    database = open_for_writing(path)
    (pages,) = database.connection.execute("PRAGMA page_count").fetchone()
    database.connection.execute(f"PRAGMA max_page_count = {pages}")
    batch = Batch("a", 1, [Command(n, "create_session", started(n)) for n in range(5)])
    answers = run_batch(database, batch)
    assert [answer.error for answer in answers] == ["storage"] * 5
    assert all(str(path) in (answer.detail or "") and "full" in (answer.detail or "") for answer in answers)
    assert not database.connection.in_transaction
    database.connection.execute(f"PRAGMA max_page_count = {pages + 1000}")
    assert [answer.error for answer in run_batch(database, batch)] == [None] * 5
    database.close()


def test_a_file_that_cannot_be_written_stores_nothing_until_it_can(path: Path) -> None:
    database = open_for_writing(path)
    database.connection.execute("PRAGMA query_only = 1")
    batch = Batch("a", 1, [Command(1, "create_session", started(1))])
    (answer,) = run_batch(database, batch)
    assert (answer.error, "written" in (answer.detail or "")) == ("storage", True)
    database.connection.execute("PRAGMA query_only = 0")
    assert run_batch(database, batch)[0].error is None
    database.close()


def test_a_file_that_is_damaged_while_it_is_open_says_so(path: Path) -> None:
    database = open_for_writing(path)
    run_batch(database, Batch("a", 1, [Command(n, "create_session", started(n)) for n in range(20)]))
    database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.connection.execute("PRAGMA cache_size = 0")
    with path.open("r+b") as stream:
        stream.seek(4096)
        stream.write(os.urandom(path.stat().st_size - 4096))
    (answer,) = run_batch(database, Batch("a", 2, [Command(99, "create_session", started(99))]))
    assert answer.error == "storage"
    assert "restore a backup" in (answer.detail or "")
    database.close()


def started(number: int) -> dict[str, object]:
    """Make the arguments of a ``create_session`` with a prompt of some size."""
    message = message_of(f"m{number}", text="x" * 5_000)
    return {"session": session_of(f"s{number}"), "message": message}
