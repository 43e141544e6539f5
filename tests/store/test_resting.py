"""A store on a disk that may only be read: all of it can be looked at and copied, but nothing changed."""

import subprocess
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from showcaller.store.backup import back_up, restore
from showcaller.store.database import open_for_reading
from showcaller.store.errors import StoreError
from showcaller.store.integrity import full_check, quick_check
from showcaller.store.writer import InlineWriter
from tests.store.desk import Desk

Frozen = Callable[[], None]


@pytest.fixture
def frozen(small_disk: Path) -> Frozen:
    """Give what makes the small disk one that may only be read."""

    def freeze() -> None:
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)

    return freeze


def made(path: Path) -> Desk:
    desk = Desk(path, InlineWriter(path))
    desk.session("kept", "m")
    return desk


def titles(path: Path) -> list[str]:
    with closing(open_for_reading(path)) as opened:
        return [title for (title,) in opened.connection.execute("SELECT title FROM session")]


def test_one_that_was_closed_is_read_checked_copied_and_restored_from(
    small_disk: Path, frozen: Frozen, tmp_path: Path
) -> None:
    path = small_disk / "store.db"
    made(path).close()
    frozen()
    assert [file.name for file in small_disk.iterdir()] == ["store.db"]
    assert titles(path) == ["Session kept"]
    assert (quick_check(path), full_check(path)) == ([], [])
    assert titles(back_up(path, tmp_path / "copy.db")) == ["Session kept"]
    restore(path, tmp_path / "new" / "store.db", at=7_000, alone=nullcontext)
    assert titles(tmp_path / "new" / "store.db") == ["Session kept"]


def test_one_that_was_only_read_last_is_read_again(small_disk: Path, frozen: Frozen) -> None:
    path = small_disk / "store.db"
    made(path).close()
    assert titles(path) == ["Session kept"]
    frozen()
    assert titles(path) == ["Session kept"]


def test_one_that_was_cut_off_is_read_with_its_log_or_refused_with_the_way_out(
    small_disk: Path, frozen: Frozen, tmp_path: Path
) -> None:
    desk = made(tmp_path / "store.db")
    path = small_disk / "store.db"
    for ending in ("", "-wal"):
        left = tmp_path / f"store.db{ending}"
        path.with_name(left.name).write_bytes(left.read_bytes())
    desk.close()
    frozen()
    with pytest.raises(StoreError, match="disk that can be written"):
        titles(path)
    with pytest.raises(StoreError, match="disk that can be written"):
        restore(path, tmp_path / "new" / "store.db", at=7_000, alone=nullcontext)
