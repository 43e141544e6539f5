"""Whose folder it is: what its lock says, also when another program wrote in it."""

import os
from pathlib import Path

import pytest

from showcaller.data_folder import DataFolder
from showcaller.transport.doors.start_error import RelayStartError


def test_a_relay_runs_whose_process_is_there(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(f"{os.getpid()}\n")
    assert DataFolder(tmp_path).relay_runs()


@pytest.mark.parametrize(
    "content", [b"", b"nobody", b"99999999999", b"4294967297", b"-2147483649", b"1e3", b"\xff\xfe"]
)
def test_what_can_be_no_process_runs_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lock").write_bytes(content)
    assert not DataFolder(tmp_path).relay_runs()


@pytest.mark.parametrize("content", [b"0", b"-1", b"-5", b"00"])
def test_no_number_that_means_several_processes_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(os, "kill", lambda process, _signal: asked.append(process))
    (tmp_path / "lock").write_bytes(content)
    assert not DataFolder(tmp_path).relay_runs()
    assert asked == []


def test_a_pipe_in_the_place_of_the_lock_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lock")
    assert not DataFolder(tmp_path).relay_runs()
    with pytest.raises(RelayStartError, match="no ordinary file"), DataFolder(tmp_path).lock():
        pass
