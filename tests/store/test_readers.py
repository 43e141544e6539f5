"""Queries beside a writer: each sees one whole state, and each is answered."""

from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from threading import Event, get_ident
from typing import Any

import pytest

from showcaller.store import queries
from showcaller.store.errors import StoreClosed, StoreDamaged, StoreMissing
from showcaller.store.readers import InlineReader, ReaderThreads
from tests.store.desk import PATIENCE, Desk, message_of, session_of

Reader = InlineReader | ReaderThreads
FORMS: list[Callable[[Path], Reader]] = [InlineReader, ReaderThreads]


def asked(reader: Reader, name: str, **arguments: Any) -> tuple[Any, Exception | None]:
    """Ask a reader and wait for what it gives."""
    given: SimpleQueue[tuple[Any, Exception | None]] = SimpleQueue()
    reader.read(name, arguments, lambda value, error: given.put((value, error)))
    return given.get(timeout=PATIENCE)


@pytest.mark.parametrize("form", FORMS)
def test_a_query_gives_its_value_and_sees_what_was_committed_before(
    desk: Desk, form: Callable[[Path], Reader]
) -> None:
    reader = form(desk.path)
    assert asked(reader, "counts")[0]["sessions"] == 0
    desk.session("a")
    value, error = asked(reader, "load_session", session="ses_a")
    assert (value["id"], error) == ("ses_a", None)
    reader.close()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("drop", {}, LookupError),
        ("counts", {"all": 1}, TypeError),
        ("list_sessions", {"scope": "x"}, ValueError),
    ],
)
def test_a_wrong_question_gets_its_error_and_harms_no_other(
    desk: Desk, form: Callable[[Path], Reader], name: str, arguments: dict[str, Any], kind: type[Exception]
) -> None:
    reader = form(desk.path)
    value, error = asked(reader, name, **arguments)
    assert value is None
    assert isinstance(error, kind)
    assert asked(reader, "counts")[1] is None
    reader.close()


@pytest.mark.parametrize("form", FORMS)
def test_a_damaged_file_is_an_error_that_names_it(desk: Desk, form: Callable[[Path], Reader]) -> None:
    desk.session("a", "m")
    desk.close()
    reader = form(desk.path)
    size = desk.path.stat().st_size
    with desk.path.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xa5" * (size - 4096))
    value, error = asked(reader, "counts")
    assert value is None
    assert isinstance(error, StoreDamaged)
    assert error.path == desk.path
    reader.close()


@pytest.mark.parametrize("form", FORMS)
def test_a_closed_reader_says_so(desk: Desk, form: Callable[[Path], Reader]) -> None:
    reader = form(desk.path)
    reader.close()
    reader.close()
    assert isinstance(asked(reader, "counts")[1], StoreClosed)


@pytest.mark.parametrize("form", FORMS)
def test_a_reader_of_a_missing_file_is_refused(path: Path, form: Callable[[Path], Reader]) -> None:
    with pytest.raises(StoreMissing):
        form(path)


def test_a_reader_without_threads_is_refused(desk: Desk) -> None:
    with pytest.raises(ValueError, match="at least one"):
        ReaderThreads(desk.path, threads=0)


def test_closing_answers_what_was_asked_before(desk: Desk) -> None:
    reader = ReaderThreads(desk.path)
    given: SimpleQueue[Any] = SimpleQueue()
    for _ in range(50):
        reader.read("counts", {}, lambda value, error: given.put((value, error)))
    reader.close()
    assert given.qsize() == 50


def no_error(error: Exception | None) -> None:
    """Fail, because there is none."""
    raise AssertionError(f"this is no error: {error}")


def test_who_fails_to_take_a_result_ends_no_thread(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    reader = ReaderThreads(desk.path, threads=1)
    reader.read("counts", {}, lambda _value, error: no_error(error))
    assert asked(reader, "counts")[1] is None
    assert "failed to take its result" in caplog.text
    reader.close()


def test_a_slow_query_does_not_hold_up_the_other_threads(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = Event(), Event()

    def slow(_db: object) -> int:
        begun.set()
        assert go_on.wait(PATIENCE)
        return get_ident()

    monkeypatch.setattr("showcaller.store.readers.QUERIES", {**queries.QUERIES, "slow": slow})
    reader = ReaderThreads(desk.path, threads=2)
    given: SimpleQueue[Any] = SimpleQueue()
    reader.read("slow", {}, lambda value, _error: given.put(value))
    assert begun.wait(PATIENCE)
    assert asked(reader, "counts")[1] is None
    go_on.set()
    assert given.get(timeout=PATIENCE) != get_ident()
    reader.close()


def test_readers_beside_a_writer_never_see_half_a_batch(either_desk: Desk) -> None:
    """Every batch makes a session with ten prompts, and every look counts ten for each."""
    desk = either_desk
    reader = ReaderThreads(desk.path, threads=2)
    looks: SimpleQueue[Any] = SimpleQueue()
    for number in range(40):
        prompts = [message_of(f"m{number}_{n}", session=f"ses_{number}") for n in range(10)]
        batch = desk.batch(
            ("create_session", {"session": session_of(str(number)), "message": None}),
            *[("accept_message", {"message": prompt}) for prompt in prompts],
        )
        desk.writer.submit(batch, lambda _answers: None)
        for _ in range(3):
            reader.read("counts", {}, lambda value, error: looks.put((value, error)))
    reader.close()
    desk.writer.close()
    seen = [looks.get() for _ in range(looks.qsize())]
    assert len(seen) == 120
    assert all(error is None for _value, error in seen)
    assert all(value["messages"] == 10 * value["sessions"] == value["outbox"] for value, _error in seen)
    assert desk.read("counts")["messages"] == 400
