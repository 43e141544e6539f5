"""Where a copy may go: never over the store that it is of, however its name is spelled, nor over another."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from showcaller.store.backup import back_up, restore
from showcaller.store.database import OpenDatabase, open_for_reading, open_for_writing
from showcaller.store.errors import StoreExists, StoreUnavailable
from showcaller.store.integrity import full_check
from showcaller.store.places import place
from showcaller.store.writer import InlineWriter
from tests.store.desk import Desk


def refused(desk: Desk, target: Path) -> None:
    """See that no copy is made at a place, whether or not it may replace what is there."""
    before = {file.name: file.stat().st_ino for file in desk.path.parent.iterdir()}
    for replace in (True, False):
        with pytest.raises(StoreExists):
            back_up(desk.path, target, replace=replace)
    assert {file.name: file.stat().st_ino for file in desk.path.parent.iterdir()} == before
    desk.session("after")
    assert full_check(desk.path) == []


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("linked", [False, True])
def test_no_copy_takes_the_place_of_one_of_the_files_of_its_store(
    desk: Desk, tmp_path: Path, ending: str, linked: bool
) -> None:
    desk.session("kept")
    folder = desk.path.parent
    if linked:
        folder = tmp_path / "other-way"
        folder.symlink_to(desk.path.parent)
    refused(desk, folder / f"{desk.path.name}{ending}")


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
def test_a_link_to_the_store_is_the_store(desk: Desk, tmp_path: Path, kind: str) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(desk.path) if kind == "symbolic" else os.link(desk.path, link)
    refused(desk, link)


def test_a_store_that_is_reached_by_a_link_is_spared_at_its_real_place(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "store.db").symlink_to(desk.path)
    with pytest.raises(StoreExists):
        back_up(tmp_path / "store.db", desk.path, replace=True)


def test_no_copy_takes_the_place_of_another_store_that_is_in_use(desk: Desk, tmp_path: Path) -> None:
    other = Desk(tmp_path / "other" / "store.db", InlineWriter(tmp_path / "other" / "store.db"))
    other.session("theirs")
    with pytest.raises(StoreExists, match="in use"):
        back_up(desk.path, other.path, replace=True)
    other.session("more")
    assert full_check(other.path) == []
    other.close()


@pytest.mark.parametrize("ending", ["-wal", "-journal"])
def test_no_copy_is_put_beside_the_log_of_a_store_that_has_gone(
    desk: Desk, tmp_path: Path, ending: str
) -> None:
    (tmp_path / f"copy.db{ending}").write_bytes(b"left")
    with pytest.raises(StoreExists, match=f"copy.db{ending} is beside it"):
        back_up(desk.path, tmp_path / "copy.db")


def test_what_the_relay_keeps_beside_its_store_is_not_replaced_but_a_copy_there_is(desk: Desk) -> None:
    lock = desk.path.parent / "lock"
    lock.write_text("1\n")
    refused(desk, lock)
    copy = back_up(desk.path, desk.path.parent / "copies" / "monday.db")
    assert back_up(desk.path, copy, replace=True) == copy
    assert full_check(copy) == []


def test_a_store_is_not_restored_from_itself_by_another_name(desk: Desk, tmp_path: Path) -> None:
    desk.session("kept")
    (tmp_path / "way").symlink_to(desk.path.parent)
    desk.close()
    with pytest.raises(StoreExists):
        restore(
            tmp_path / "way" / desk.path.name, desk.path, at=7_000, alone=lambda: closing(sqlite3.connect(""))
        )


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_text_that_can_be_no_name_of_a_file_is_refused_in_words(desk: Desk, name: str) -> None:
    with pytest.raises(StoreUnavailable, match="no file's name") as found:
        place(name)
    assert str(found.value).isascii()
    with pytest.raises(StoreUnavailable):
        back_up(desk.path, name)
    with pytest.raises(StoreUnavailable):
        restore(name, desk.path, at=7_000, alone=lambda: closing(sqlite3.connect("")))


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("where", ["elsewhere", "beside the store"])
@pytest.mark.parametrize("linked", [False, True])
def test_a_copy_never_takes_the_place_of_a_pipe(
    desk: Desk, tmp_path: Path, replace: bool, where: str, linked: bool
) -> None:
    folder = tmp_path if where == "elsewhere" else desk.path.parent
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    if linked:
        (folder / "link").symlink_to(pipe)
    with pytest.raises(StoreUnavailable, match="no ordinary file"):
        back_up(desk.path, folder / "link" if linked else pipe, replace=replace)
    assert pipe.is_fifo()


@pytest.mark.parametrize("opener", [open_for_reading, open_for_writing])
def test_a_pipe_in_the_place_of_a_store_is_refused_at_once(
    tmp_path: Path, opener: Callable[[Path], OpenDatabase]
) -> None:
    pipe = tmp_path / "store.db"
    os.mkfifo(pipe)
    with pytest.raises(StoreUnavailable, match="no ordinary file"):
        opener(pipe)
    with pytest.raises(StoreUnavailable, match="no ordinary file"):
        restore(pipe, tmp_path / "other.db", at=7_000, alone=nullcontext)
