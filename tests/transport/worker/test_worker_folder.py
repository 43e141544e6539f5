"""The folders of workers: which count, and what is deleted with them."""

from pathlib import Path

import pytest

from showcaller.transport.worker.worker_folder import WorkerFolder, worker_folders

NAME = "wrk_000000000001"


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Give a file of somebody else's, two folders deep."""
    file = tmp_path / "foreign" / "below" / "file"
    file.parent.mkdir(parents=True)
    file.write_text("not ours")
    return file


def test_only_folders_with_a_workers_name_count_and_no_links(tmp_path: Path, foreign: Path) -> None:
    parent = tmp_path / "workers"
    WorkerFolder(parent / NAME).make()
    (parent / "wrk_00000000000a").symlink_to(foreign.parent)
    (parent / "wrk_00000000000b").write_text("a file")
    (parent / "wrk_short").mkdir()
    (parent / "notes").mkdir()
    assert [folder.path.name for folder in worker_folders(parent)] == [NAME]


def test_nothing_behind_a_link_is_deleted_with_a_folder(tmp_path: Path, foreign: Path) -> None:
    folder = WorkerFolder(tmp_path / "workers" / NAME)
    folder.make()
    (folder.path / "spool").symlink_to(foreign.parents[1])
    folder.clear_away()
    assert not folder.path.exists()
    assert foreign.read_text() == "not ours"


def test_a_link_in_the_place_of_a_folder_is_not_cleared_away(tmp_path: Path, foreign: Path) -> None:
    link = tmp_path / NAME
    link.symlink_to(foreign.parents[1])
    with pytest.raises(OSError, match="symbolic link"):
        WorkerFolder(link).clear_away()
    assert foreign.read_text() == "not ours"
