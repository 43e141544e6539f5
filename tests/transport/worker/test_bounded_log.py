"""A log within two files, whoever writes and whatever the disk says."""

import io
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from showcaller.transport.worker.bounded_log import BoundedLog, before, log_stream

Open = Callable[..., BoundedLog]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def open_log(path: Path) -> Iterator[Open]:
    """Open logs that are closed at the end."""
    opened: list[BoundedLog] = []

    def open_one(limit: int = 100, at: Path = path, stand_ins: tuple[int, ...] = ()) -> BoundedLog:
        opened.append(BoundedLog(at, limit, stand_ins))
        return opened[-1]

    yield open_one
    for log in opened:
        log.close()


def lines(first: int, last: int) -> bytes:
    """Lines of ten bytes."""
    return b"".join(b"line %04d\n" % number for number in range(first, last + 1))


def test_a_log_that_is_full_goes_on_in_a_new_file_and_nothing_between_the_two_is_lost(
    open_log: Open, path: Path
) -> None:
    log = open_log()
    for number in range(1, 36):
        assert log.write(lines(number, number)) == 10
    assert (before(path).read_bytes(), path.read_bytes()) == (lines(21, 30), lines(31, 35))
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_an_earlier_process_has_written_is_kept_and_counts(open_log: Open, path: Path) -> None:
    path.write_bytes(lines(1, 9))
    log = open_log()
    log.write(lines(10, 10))
    assert path.read_bytes() == lines(1, 10)
    log.write(lines(11, 11))
    assert (before(path).read_bytes(), path.read_bytes()) == (lines(1, 10), lines(11, 11))


def test_of_a_piece_that_is_larger_than_a_file_the_end_is_kept(open_log: Open, path: Path) -> None:
    log = open_log()
    assert log.write(lines(1, 25)) == 250
    log.write(lines(26, 26))
    assert (before(path).read_bytes(), path.read_bytes()) == (lines(16, 25), lines(26, 26))


def test_what_is_written_past_it_to_a_stand_in_counts_and_follows_into_the_new_file(
    open_log: Open, path: Path
) -> None:
    stand_in = os.open(os.devnull, os.O_WRONLY)
    log = open_log(stand_ins=(stand_in,))
    os.write(stand_in, lines(1, 10))
    log.write(lines(11, 11))
    os.write(stand_in, lines(12, 12))
    os.close(stand_in)
    assert (before(path).read_bytes(), path.read_bytes()) == (lines(1, 10), lines(11, 12))


def test_where_the_full_one_cannot_be_moved_the_bound_holds_all_the_same(open_log: Open, path: Path) -> None:
    before(path).mkdir()
    log = open_log()
    for number in range(1, 36):
        log.write(lines(number, number))
    assert path.read_bytes() == lines(31, 35)


def test_what_the_disk_does_not_take_fails_nobody(open_log: Open) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    print("text", file=log_stream(open_log(at=full)), flush=True)


def test_text_of_any_kind_is_written_at_once(open_log: Open, path: Path) -> None:
    stream = log_stream(open_log())
    assert not stream.isatty()
    stream.write("ü \ud800\n")
    assert path.read_text() == "ü \\ud800\n"


def test_a_file_that_cannot_be_had_is_an_error(tmp_path: Path, open_log: Open) -> None:
    with pytest.raises(FileNotFoundError):
        open_log(at=tmp_path / "missing" / "log")


def test_lines_of_many_threads_stay_whole_and_within_the_bound(open_log: Open, path: Path) -> None:
    stream = log_stream(open_log(limit=1000))

    def write() -> None:
        for number in range(500):
            stream.write(f"line {number:04}\n")

    writers = [threading.Thread(target=write) for _ in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    kept = io.BytesIO(before(path).read_bytes() + path.read_bytes()).readlines()
    assert 100 < len(kept) <= 200
    assert all(line.startswith(b"line ") and len(line) == 10 for line in kept)


def test_a_pipe_that_nobody_reads_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    with pytest.raises(OSError, match="No such device or address"):
        BoundedLog(tmp_path / "log")
