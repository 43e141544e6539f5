"""Who holds a data folder: read from its lock, and told alike by every command."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from showcaller.data_folder import DataFolder
from showcaller.transport.doors.client_token import relay_port
from showcaller.transport.doors.holder import (
    FILE,
    Phase,
    holder,
    holder_in,
    in_use,
    lock_text,
    phase,
    phase_text,
    told_in,
)
from showcaller.transport.doors.http.whereabouts import FILE as ADDRESS
from showcaller.transport.doors.http.whereabouts import Whereabouts, running_relay
from showcaller.transport.worker.process_identity import ProcessIdentity, identify


def test_a_lock_names_its_process_by_id_and_start_time() -> None:
    content = lock_text("more")
    assert holder_in(content) == identify(os.getpid())
    assert told_in(content) == b"more"


@pytest.mark.parametrize(("content", "meant"), [(b"12\n", (12, None)), (b"12", (12, None)), (b"1 2", (1, 2))])
def test_a_lock_without_a_start_time_names_a_process_too(content: bytes, meant: tuple[int, int]) -> None:
    assert holder_in(content) == ProcessIdentity(*meant)


def test_a_process_that_took_over_the_id_holds_nothing(tmp_path: Path) -> None:
    mine = identify(os.getpid())
    assert mine.started is not None
    (tmp_path / FILE).write_text(f"{mine.pid} {mine.started - 1}\n")
    assert holder(tmp_path) is None
    (tmp_path / FILE).write_text(f"{mine.pid} {mine.started}\n")
    assert holder(tmp_path) == mine


def a_dead_relays(path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    Whereabouts(pid=process.pid, process_started=1, port=1, version="1").write(path.parent)


INSTEAD: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "nonsense": lambda path: path.write_text("{"),
    "a dead relay's": a_dead_relays,
}


@pytest.mark.parametrize("instead", INSTEAD)
def test_a_relay_is_found_by_its_lock_when_its_file_is_lost(tmp_path: Path, instead: str) -> None:
    here = Whereabouts.of_this_process(8321, "1.2.3")
    INSTEAD[instead](tmp_path / ADDRESS)
    with DataFolder(tmp_path).lock() as held:
        assert running_relay(tmp_path) is None, "it does not listen yet"
        held.tell(here.model_dump_json())
        assert running_relay(tmp_path) == here
        held.tell("")
        assert running_relay(tmp_path) is None
        assert holder(tmp_path) == identify(os.getpid())


@pytest.mark.parametrize(
    ("now", "told"), [("starting", "until it listens"), ("ending", "until it has ended")]
)
def test_a_relay_that_does_not_listen_says_whether_it_is_starting_or_ending(
    tmp_path: Path, now: Phase, told: str
) -> None:
    with DataFolder(tmp_path).lock() as held:
        mine = identify(os.getpid())
        assert (phase(tmp_path), "a relay by itself" in in_use(tmp_path, mine)) == (None, True)
        held.tell(phase_text(now))
        assert (phase(tmp_path), running_relay(tmp_path), relay_port(tmp_path)) == (now, None, None)
        said = in_use(tmp_path, mine)
        assert f"(process {mine.pid}) is {now}" in said
        assert told in said
        assert "kill" not in said


@pytest.mark.parametrize("told", ["nonsense", '["relay"]', '{"relay": "dancing"}', '{"relay": ["starting"]}'])
def test_what_makes_no_sense_in_a_lock_says_nothing(tmp_path: Path, told: str) -> None:
    with DataFolder(tmp_path).lock() as held:
        held.tell(told)
        assert phase(tmp_path) is None
