"""Where sessions may work: in any folder, until the owner names some."""

from pathlib import Path

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.prompts import working_folder


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """An allowed folder, one beside it, and links between the two."""
    (tmp_path / "allowed" / "inner").mkdir(parents=True)
    (tmp_path / "beside").mkdir()
    (tmp_path / "default").mkdir()
    (tmp_path / "allowed" / "out").symlink_to(tmp_path / "beside")
    (tmp_path / "in").symlink_to(tmp_path / "allowed" / "inner")
    (tmp_path / "name").symlink_to(tmp_path / "allowed")
    return tmp_path


def refused(folders: Path, cwd: str) -> Refusal:
    allowed = (str(folders / "name"),)
    with pytest.raises(Refusal) as refusal:
        working_folder(cwd, str(folders / "default"), allowed)
    assert refusal.value.code is Code.INVALID_INPUT
    assert refusal.value.to_result()["folders"] == [str(folders / "default"), *allowed]
    return refusal.value


def test_a_session_works_in_what_is_allowed_in_what_links_into_it_and_in_the_default(folders: Path) -> None:
    allowed = (str(folders / "name"),)
    inner = str(folders / "allowed" / "inner")
    for named in ("allowed/inner", "in", "name/inner"):
        assert working_folder(str(folders / named), str(folders / "default"), allowed) == inner
    default = str(folders / "default")
    assert working_folder(default, default, allowed) == default
    assert working_folder(None, default, allowed) == default


@pytest.mark.parametrize(
    "cwd", ["beside", "allowed/out", "allowed/../beside", "allowed/inner/../../beside", ""]
)
def test_a_folder_that_is_not_allowed_or_a_way_out_by_a_link_is_refused(folders: Path, cwd: str) -> None:
    assert (
        "outside of those that the owner of this relay allows" in refused(folders, f"{folders}/{cwd}").error
    )


@pytest.mark.parametrize(("cwd", "why"), [("allowed", "must be absolute"), ("/gone/away", "cannot be used")])
def test_a_relative_or_missing_folder_is_refused_with_those_there_are(
    folders: Path, cwd: str, why: str
) -> None:
    assert why in refused(folders, cwd).error


def test_a_folder_whose_name_only_begins_like_an_allowed_one_is_refused(folders: Path) -> None:
    (folders / "allowed-not").mkdir()
    with pytest.raises(Refusal):
        working_folder(f"{folders}/allowed-not", str(folders / "default"), (f"{folders}/allowed",))


def test_without_any_named_a_session_works_anywhere(folders: Path) -> None:
    assert working_folder(f"{folders}/beside", str(folders / "default")) == f"{folders}/beside"
