"""The worker's spool: receipts before the agent, frames until the relay has stored them, whatever dies."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showcaller.actors.contract.fates import Left, fate_of
from showcaller.transport.worker.journal import left_in
from showcaller.transport.worker.spool import TURN_BYTES, Spool, left_behind
from showcaller.transport.worker.worker_folder import WorkerCard, WorkerFolder
from tests.transport.worker.faulty_disk import FaultyDisk

TURNS = [f"msg_{n:012}" for n in range(6)]


@pytest.fixture
def worker(tmp_path: Path) -> WorkerFolder:
    made = WorkerFolder(tmp_path / "wrk_000000000001")
    made.make()
    return made


@pytest.fixture
def folder(worker: WorkerFolder) -> Path:
    return worker.spool


def frames(spool: Spool, turn: str) -> list[bytes]:
    return [record.frame for record in spool.replay(turn)]


def test_what_is_kept_of_a_turn_comes_back_in_order(folder: Path) -> None:
    spool = Spool(folder)
    spool.take(TURNS[:2])
    for number in range(5):
        assert spool.keep(TURNS[number % 2], b"frame %d" % number)
    assert spool.keep(TURNS[0], b"the end", is_end=True)
    assert frames(spool, TURNS[0]) == [b"frame 0", b"frame 2", b"frame 4", b"the end"]
    assert frames(spool, TURNS[1]) == [b"frame 1", b"frame 3"]
    assert [spool.find(turn).has_ended for turn in TURNS[:2]] == [True, False]  # type: ignore[union-attr]
    spool.close()


def test_a_receipt_is_written_before_take_returns_and_needs_no_sync(
    worker: WorkerFolder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(folder)

    def sync(descriptor: int) -> None:
        pytest.fail("a sync for a turn")

    monkeypatch.setattr(os, "fdatasync", sync)
    spool.take(TURNS)
    assert list(left_behind(folder).turns) == TURNS
    for turn in TURNS:
        spool.forget(turn)
    monkeypatch.undo()
    spool.close()
    assert left_in(worker) == Left({})


def test_a_journal_of_an_earlier_run_of_the_machine_may_lack_receipts(
    worker: WorkerFolder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(folder)
    spool.take(TURNS[:1])
    left = left_in(worker)
    assert left == Left({TURNS[0]: None})
    assert fate_of(TURNS[1], left) == "untaken"
    monkeypatch.setattr("showcaller.transport.worker.spool.machine_run", lambda: "the next one")
    left = left_in(worker)
    assert left == Left({TURNS[0]: None}, is_whole=False)
    assert fate_of(TURNS[1], left) == "unknown"
    os.close(spool._file)


def test_where_runs_of_the_machine_have_no_name_a_receipt_is_on_the_disk_before_take_returns(
    worker: WorkerFolder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("showcaller.transport.worker.spool.machine_run", lambda: None)
    synced: list[bytes] = []
    spool = Spool(folder)
    assert left_in(worker) == Left({})

    def sync(descriptor: int) -> None:
        synced.append(next(folder.glob("*.spool")).read_bytes())

    monkeypatch.setattr(os, "fdatasync", sync)
    spool.take(TURNS)
    assert len(synced) == 1, "one for all of them"
    assert all(turn.encode() in synced[0] for turn in TURNS)
    spool.close()


def test_a_turn_keeps_so_much_and_then_a_marked_gap_and_its_end(folder: Path) -> None:
    assert TURN_BYTES == 64 * 1024 * 1024
    spool = Spool(folder, turn_bytes=100)
    spool.take(TURNS[:1])
    assert spool.keep(TURNS[0], b"x" * 90)
    assert not spool.keep(TURNS[0], b"y" * 20)
    assert not spool.keep(TURNS[0], b"z" * 20)
    assert spool.keep(TURNS[0], b"e" * 5000, is_end=True)
    assert [record.kind for record in spool.replay(TURNS[0])] == ["frame", "gap", "end"]
    spool.close()


def test_what_the_relay_has_stored_takes_no_room(folder: Path) -> None:
    spool = Spool(folder, segment_bytes=1000)
    for round_ in range(50):
        turn = f"msg_{round_:012}"
        spool.take([turn])
        spool.keep(turn, b"x" * 300)
        spool.keep(turn, b"end", is_end=True)
        spool.forget(turn)
        assert len(list(folder.glob("*.spool"))) <= 2
    spool.close()
    assert sum(path.stat().st_size for path in folder.glob("*.spool")) <= 2000


def test_one_turn_that_goes_on_keeps_only_its_own_segments(folder: Path) -> None:
    spool = Spool(folder, segment_bytes=1000)
    spool.take(["long"])
    spool.keep("long", b"first")
    for round_ in range(20):
        spool.take([f"t{round_}"])
        spool.keep(f"t{round_}", b"x" * 600)
        spool.forget(f"t{round_}")
    spool.keep("long", b"last")
    assert frames(spool, "long") == [b"first", b"last"]
    assert len(list(folder.glob("*.spool"))) <= 3
    spool.forget("long")
    spool.close()


@settings(max_examples=60, deadline=None)
@given(st.integers(min_value=0, max_value=2**32))
def test_a_journal_cut_anywhere_gives_what_was_whole_before_the_cut(seed: int) -> None:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "spool"
        spool = Spool(folder, segment_bytes=400)
        books: list[tuple[int, dict[str, list[bytes]]]] = []
        state: dict[str, list[bytes]] = {}
        for step in range(40):
            choice = chance.randrange(4)
            turn = chance.choice(list(state)) if state and choice else f"t{step}"
            if turn not in state:
                spool.take([turn])
                state[turn] = []
            elif choice == 1:
                spool.forget(turn)
                del state[turn]
            else:
                spool.keep(turn, frame := b"%d" % step * chance.randrange(1, 60))
                state[turn].append(frame)
            books.append((spool._segment * 10**9 + spool._position, {t: list(f) for t, f in state.items()}))
        last = max(folder.glob("*.spool"))
        size = last.stat().st_size
        cut = chance.randrange(size + 1)
        os.truncate(last, cut)
        at = spool._segment * 10**9 + cut
        found = {t: [r.frame for r in records[1:]] for t, records in left_behind(folder).turns.items()}
        before = max((book for book in books if book[0] <= at), default=books[0], key=lambda book: book[0])
        after = min((book for book in books if book[0] >= at), default=books[-1], key=lambda book: book[0])
        for turn in {*before[1], *found} if before[0] <= at else ():
            kept = (before[1].get(turn), after[1].get(turn))
            # Segments of one that was forgotten after the cut may be gone.
            assert found.get(turn) in kept or turn not in state, turn
        os.close(spool._file)


def test_a_process_that_is_killed_leaves_what_it_has_taken(folder: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from showcaller.transport.worker.spool import Spool\n"
        f"spool = Spool(Path({str(folder)!r}))\n"
        "spool.take(['ended', 'running', 'stored']); spool.keep('ended', b'out'); "
        "spool.keep('ended', b'end', is_end=True)\n"
        "spool.keep('running', b'half'); spool.forget('stored')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    died = subprocess.run([sys.executable, "-c", program], check=False, timeout=30)
    assert died.returncode == -9
    left = left_behind(folder).turns
    assert {turn: [record.kind for record in records] for turn, records in left.items()} == {
        "ended": ["receipt", "frame", "end"],
        "running": ["receipt", "frame"],
    }


def test_a_disk_that_takes_only_a_part_leaves_no_torn_record(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(folder)
    spool.take(TURNS[:1])
    whole = os.write

    def part(descriptor: int, data: bytes) -> int:
        return whole(descriptor, data[:3])

    monkeypatch.setattr(os, "write", part)
    with pytest.raises(OSError, match="could be written to the spool"):
        spool.keep(TURNS[0], b"lost")
    monkeypatch.undo()
    spool.keep(TURNS[0], b"kept")
    assert frames(spool, TURNS[0]) == [b"kept"]
    assert [record.frame for record in left_behind(folder).turns[TURNS[0]]] == [b"", b"kept"]
    spool.close()


def test_a_folder_that_is_there_is_not_taken_over(folder: Path) -> None:
    folder.mkdir()
    with pytest.raises(FileExistsError):
        Spool(folder)


def test_only_its_owner_may_read_it(folder: Path) -> None:
    spool = Spool(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert next(folder.glob("*.spool")).stat().st_mode & 0o777 == 0o600
    spool.close()


def test_a_record_that_a_full_disk_has_torn_hides_nothing_that_is_taken_after_it(
    worker: WorkerFolder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(folder)
    spool.take(TURNS[:1])
    whole = os.write

    def part(descriptor: int, data: bytes) -> int:
        return whole(descriptor, data[:-3])

    def stays_torn(descriptor: int, size: int) -> None:
        raise OSError(5, "no such luck")

    with monkeypatch.context() as full:
        full.setattr(os, "write", part)
        full.setattr(os, "ftruncate", stays_torn)
        with pytest.raises(OSError, match="could be written to the spool"):
            spool.take(TURNS[1:2])
    spool.take(TURNS[2:3])
    spool.keep(TURNS[0], b"kept")
    assert left_in(worker) == Left({TURNS[0]: None, TURNS[2]: None})
    assert frames(spool, TURNS[0]) == [b"kept"]
    spool.close()


@pytest.mark.parametrize("broken", ["open", "fdatasync", "fsync"])
def test_a_disk_without_room_for_a_new_segment_leaves_the_old_one_in_use(
    worker: WorkerFolder, folder: Path, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(folder, segment_bytes=200)
    spool.take(TURNS[:1])

    def full(*_: object) -> int:
        raise OSError(28, "no space left")

    with monkeypatch.context() as disk:
        disk.setattr(os, broken, full)
        for _ in range(3):
            with pytest.raises(OSError, match="no space left"):
                spool.keep(TURNS[0], b"x" * 190)
        spool.take(TURNS[1:2])
    with Path(os.devnull).open() as other:  # it would have the number of a segment that was closed too early
        assert other.fileno() != spool._file
        spool.take(TURNS[2:3])
        spool.keep(TURNS[0], b"y" * 190)
        spool.take(TURNS[3:4])
    assert left_in(worker) == Left(dict.fromkeys(TURNS[:4]))
    assert frames(spool, TURNS[0]) == [b"y" * 190]
    spool.close()


@settings(max_examples=150, deadline=None)
@given(st.integers(min_value=0, max_value=2**32))
def test_whatever_the_disk_refuses_what_was_taken_and_kept_is_there_and_what_is_stored_goes(
    seed: int,
) -> None:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        folder = Path(place) / "spool"
        spool = Spool(folder, segment_bytes=300)
        disk = FaultyDisk(patch, chance)
        kept: dict[str, list[bytes]] = {}
        for step in range(80):
            disk.fails = chance.random() < 0.5
            turn = chance.choice(list(kept)) if kept and chance.randrange(3) else f"t{step}"
            try:
                if turn not in kept:
                    spool.take([turn])
                    kept[turn] = []
                elif chance.randrange(3):
                    frame = b"%d" % step * chance.randrange(1, 60)
                    spool.keep(turn, frame)
                    kept[turn].append(frame)
                else:
                    spool.forget(turn)
                    del kept[turn]
            except OSError:
                if spool.find(turn) is None:  # forgotten, and only the clearing away has failed
                    kept.pop(turn, None)
            disk.fails = False
            left = left_behind(folder)
            assert left.is_whole
            for known, its_frames in kept.items():
                assert [record.frame for record in left.turns[known][1:]] == its_frames, known
        for turn in list(kept):
            spool.forget(turn)
        spool.take(["last"])
        spool.forget("last")
        assert len(list(folder.glob("*.spool"))) <= 2
        assert disk.opened == {spool._file}
        spool.close()


@pytest.mark.parametrize("lost", ["all of it", "its segments", "its run"])
def test_a_journal_that_somebody_has_deleted_could_have_had_any_receipt(
    worker: WorkerFolder, folder: Path, lost: str
) -> None:
    assert left_in(worker) == Left({}), "it has not begun"
    spool = Spool(folder)
    worker.write(WorkerCard(name=worker.path.name, token="t" * 16, pid=os.getpid()))
    spool.take(TURNS[:1])
    spool.close()
    if lost == "all of it":
        shutil.rmtree(folder)
    else:
        for path in folder.glob("*.spool" if lost == "its segments" else "machine-run"):
            path.unlink()
    assert fate_of(TURNS[0], left_in(worker)) == fate_of(TURNS[1], left_in(worker)) == "unknown"


def test_a_worker_that_has_called_has_taken_something_whatever_its_folder_says(worker: WorkerFolder) -> None:
    assert fate_of(TURNS[0], left_in(worker)) == "untaken"
    assert fate_of(TURNS[0], left_in(worker, has_called=True)) == "unknown"


def test_a_worker_that_was_made_and_has_not_said_who_it_is_has_taken_nothing(worker: WorkerFolder) -> None:
    worker.write(WorkerCard(name=worker.path.name, token="t" * 16))
    worker.spool.mkdir()  # as far as it came
    assert fate_of(TURNS[0], left_in(worker)) == "untaken"


def test_damage_in_a_journal_could_hide_any_receipt(worker: WorkerFolder, folder: Path) -> None:
    spool = Spool(folder)
    spool.take(TURNS[:3])
    spool.close()
    (segment,) = folder.glob("*.spool")
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    left = left_in(worker)
    assert left == Left({TURNS[0]: None}, is_whole=False)
    assert fate_of(TURNS[2], left) == "unknown"
