"""Both forms of the writer keep the same promises."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

import pytest

from showcaller.store import errors
from showcaller.store.batch import Answer, Batch, Command
from showcaller.store.database import open_for_writing
from tests.store.desk import PATIENCE, Desk, message_of, session_of, type_of_writer

FORMS = list(type_of_writer)


def test_an_answer_means_stored(either_desk: Desk) -> None:
    either_desk.value("create_session", session=session_of("a"), message=message_of("m"))
    assert either_desk.read("counts")["queued"] == 1


def test_answers_come_in_the_order_of_the_batches(either_desk: Desk) -> None:
    answered: SimpleQueue[Sequence[Answer]] = SimpleQueue()
    made = [
        either_desk.batch(("create_session", {"session": session_of(str(number)), "message": None}))
        for number in range(50)
    ]
    for batch in made:
        either_desk.writer.submit(batch, answered.put)
    got = [answered.get(timeout=PATIENCE)[0] for _ in made]
    assert [answer.number for answer in got] == [batch.commands[0].number for batch in made]
    assert {answer.error for answer in got} == {None}


def test_any_thread_may_submit(either_desk: Desk) -> None:
    answered: SimpleQueue[Answer] = SimpleQueue()
    batches = [
        Batch(f"thread {number}", 1, [Command(number, "create_session", started(str(number)))])
        for number in range(40)
    ]

    def submit(mine: list[Batch]) -> None:
        for batch in mine:
            either_desk.writer.submit(batch, lambda answers: answered.put(answers[0]))

    threads = [Thread(target=submit, args=(batches[first::4],)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answers = [answered.get(timeout=PATIENCE) for _ in batches]
    assert {answer.error for answer in answers} == {None}
    assert {answer.number for answer in answers} == set(range(40))
    assert either_desk.read("counts")["sessions"] == 40


def started(name: str) -> dict[str, Any]:
    """Make the arguments of a ``create_session``."""
    return {"session": session_of(name), "message": None}


def test_closing_finishes_what_was_submitted(either_desk: Desk) -> None:
    answered: list[Answer] = []
    for number in range(20):
        batch = either_desk.batch(("create_session", {"session": session_of(str(number)), "message": None}))
        either_desk.writer.submit(batch, answered.extend)
    either_desk.close()
    assert [answer.error for answer in answered] == [None] * 20
    assert either_desk.read("counts")["sessions"] == 20


def test_closing_properly_leaves_no_log_behind(either_desk: Desk) -> None:
    either_desk.session("a")
    either_desk.close()
    assert [file.name for file in either_desk.path.parent.iterdir()] == ["store.db"]


def test_a_closed_writer_stores_nothing_and_says_so(either_desk: Desk) -> None:
    either_desk.close()
    either_desk.close()
    answer = either_desk.one("create_session", session=session_of("a"), message=None)
    assert (answer.error, "closed" in (answer.detail or "")) == ("storage", True)


def test_everything_is_there_after_opening_again(either_desk: Desk, path: Path) -> None:
    either_desk.session("a", "m")
    either_desk.close()
    desk = Desk(path, type(either_desk.writer)(path), incarnation="second")
    desk.value("hand_over", message="msg_m", worker="wrk_1", at=2_000)
    assert desk.read("message", message="msg_m")["status"] == "handed"
    desk.close()


def test_a_locked_store_stores_nothing_until_it_is_free(either_desk: Desk) -> None:
    other = sqlite3.connect(either_desk.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answers = either_desk.run(
        *[("create_session", {"session": session_of(name), "message": None}) for name in "ab"]
    )
    assert [answer.error for answer in answers] == ["storage", "storage"]
    assert str(either_desk.path) in (answers[0].detail or "")
    assert "another process" in (answers[0].detail or "")
    other.execute("ROLLBACK")
    other.close()
    either_desk.session("a")
    assert either_desk.read("counts")["sessions"] == 1


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_stores_nothing_and_goes_on_by_itself_when_there_is_room(
    small_disk: Path, form: str
) -> None:
    spare = small_disk / "spare"
    spare.write_bytes(b"x" * 900_000)
    path = small_disk / "data" / "store.db"
    desk = Desk(path, type_of_writer[form](path))
    desk.session("a")

    def accept(number: int) -> Answer:
        text = "x" * 200_000
        return desk.one("accept_message", message=message_of(f"m{number}", session="ses_a", text=text))

    outcomes: list[Answer] = []
    while not outcomes or outcomes[-1].error is None:
        outcomes.append(accept(len(outcomes)))
    stored = len(outcomes) - 1
    assert outcomes[-1].error == "storage"
    assert "space" in (outcomes[-1].detail or "")
    assert accept(stored).error == "storage"
    assert desk.read("counts")["messages"] == stored
    spare.unlink()
    assert accept(stored).error is None
    assert desk.read("counts")["messages"] == stored + 1
    desk.close()


def spoil_newer(path: Path) -> None:
    """Write what a later version would."""
    open_for_writing(path).close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("INSERT INTO schema_migration (name, applied) VALUES ('0099_future', '2030-01-01')")
    connection.close()


def spoil_damaged(path: Path) -> None:
    """Put something else in its place."""
    path.parent.mkdir()
    path.write_bytes(b"something else" * 100)


def spoil_foreign(path: Path) -> None:
    """Put another program's database in its place."""
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE recipe (name TEXT)")
    connection.close()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (spoil_newer, errors.StoreNewer),
        (spoil_damaged, errors.StoreDamaged),
        (spoil_foreign, errors.StoreForeign),
        (lambda path: path.mkdir(parents=True), errors.StoreUnavailable),
    ],
)
def test_a_store_that_cannot_be_opened_is_refused_at_the_start(
    path: Path, form: str, spoil: Any, kind: type[errors.StoreError]
) -> None:
    spoil(path)
    with pytest.raises(kind) as refused:
        type_of_writer[form](path)
    assert refused.value.path == path
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("form", FORMS)
def test_a_locked_store_is_refused_at_the_start(path: Path, form: str) -> None:
    open_for_writing(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(errors.StoreLocked):
        type_of_writer[form](path, busy_seconds=0.05)
    other.close()
