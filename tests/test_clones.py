"""What becomes of a clone whose session is put away: what may not be pushed is never deleted."""

import threading
from pathlib import Path

import pytest

from showcaller.clones import Clones
from showcaller.transport.worker import clone_folder
from showcaller.transport.worker.clone_folder import CloneState
from tests.transport.worker.repositories import executable


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A clone, whose hooks and configuration would run something if anything ran git there."""
    folder = tmp_path / "clones" / "ses_a"
    (folder / ".git").mkdir(parents=True)
    (folder / "work").write_text("x")
    script = executable(tmp_path / "script", f"touch {tmp_path}/ran")
    (folder / ".git" / "config").write_text(f"[core]\n\tfsmonitor = {script}\n")
    return folder


def left(home: Path, *, deletes: bool) -> str | None:
    """Put the session away and give what is told."""
    told: list[str | None] = []
    done = threading.Event()

    def tell(text: str | None) -> None:
        told.append(text)
        done.set()

    Clones(home).left("ses_a", tell, deletes=deletes)
    assert done.wait(20)
    return told[0]


def test_a_clone_is_where_its_session_says(tmp_path: Path) -> None:
    assert Clones(tmp_path).folder("ses_a") == f"{tmp_path}/clones/ses_a"


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (CloneState(pushed=False, told="2 commits"), "Not pushed: 2 commits."),
        (clone_folder.AT_WORK, "Beware: its last turn was cut"),
        (None, "Beware: what it has left is not known"),
    ],
)
@pytest.mark.parametrize("deletes", [False, True])
def test_what_may_not_be_pushed_stays_and_its_place_is_told(
    tmp_path: Path, folder: Path, state: CloneState | None, told: str, *, deletes: bool
) -> None:
    if state is not None:
        clone_folder.keep_state(folder, state)
    said = left(tmp_path, deletes=deletes) or ""
    assert said.startswith(told)
    assert str(folder) in said
    assert (folder / "work").exists()
    assert not (tmp_path / "ran").exists()


def test_what_is_pushed_stays_when_archived_and_goes_when_deleted(tmp_path: Path, folder: Path) -> None:
    clone_folder.keep_state(folder, CloneState(pushed=True))
    assert left(tmp_path, deletes=False) == f"All of its work is pushed. The clone stays in {folder}."
    assert (folder / "work").exists()
    assert left(tmp_path, deletes=True) == "All of its work was pushed, and its clone is deleted."
    assert list(folder.parent.iterdir()) == []
    assert left(tmp_path, deletes=True) is None


@pytest.mark.parametrize("changed", ["work", ".git/config", "new/file"])
def test_what_was_changed_after_the_last_look_stays(tmp_path: Path, folder: Path, changed: str) -> None:
    clone_folder.keep_state(folder, CloneState(pushed=True))
    (folder / changed).parent.mkdir(exist_ok=True)
    (folder / changed).write_text("changed")
    assert "was changed after its last turn" in (left(tmp_path, deletes=True) or "")
    assert (folder / changed).exists()


def test_a_half_made_clone_goes_with_its_session(tmp_path: Path) -> None:
    part = clone_folder.unfinished(tmp_path / "clones" / "ses_a")
    part.mkdir(parents=True)
    assert left(tmp_path, deletes=False) is None
    assert not part.exists()


def test_a_link_in_the_place_of_a_clone_is_left_alone(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("x")
    (tmp_path / "clones").mkdir()
    (tmp_path / "clones" / "ses_a").symlink_to(elsewhere)
    clone_folder.keep_state(tmp_path / "clones" / "ses_a", CloneState(pushed=True))
    assert "could not be put away" in (left(tmp_path, deletes=True) or "")
    assert (elsewhere / "file").exists()
