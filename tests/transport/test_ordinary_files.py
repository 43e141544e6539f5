"""Files that may have been replaced are opened without waiting, and only ordinary ones."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from showcaller.transport.ordinary_files import NoOrdinaryFileError, open_ordinary, read_ordinary


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


OTHERS: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a socket": a_socket,
    "a symbolic link": lambda path: path.symlink_to("elsewhere"),
}


def test_an_ordinary_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abcdef")
    assert (read_ordinary(path), read_ordinary(path, 3)) == (b"abcdef", b"abc")


def test_a_file_that_is_made_is_the_owners_alone(tmp_path: Path) -> None:
    os.close(open_ordinary(tmp_path / "file", os.O_WRONLY | os.O_CREAT))
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_CREAT], ids=["r", "w", "rw"])
@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_ordinary_file_is_refused_at_once_by_its_name(
    tmp_path: Path, kind: str, flags: int
) -> None:
    (tmp_path / "elsewhere").write_text("")
    path = tmp_path / "file"
    OTHERS[kind](path)
    with pytest.raises(NoOrdinaryFileError) as refused:
        open_ordinary(path, flags)
    assert str(refused.value) == f"{path}: it is {kind} and no ordinary file; move it away"


def test_a_device_is_refused() -> None:
    with pytest.raises(NoOrdinaryFileError, match="a device"):
        read_ordinary(Path("/dev/zero"), 1)


def test_a_file_that_is_not_there_is_told_as_that(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_ordinary(tmp_path / "file")
