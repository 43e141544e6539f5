"""Which worker processes of a data folder are there, whatever version has started them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from showcaller.embedding import Relay
from showcaller.transport.doors.start_error import RelayStartError
from showcaller.transport.wire.protocol import SPOKEN
from showcaller.transport.worker.process_identity import identify
from showcaller.workers import left_workers, running_workers, workers_are_there

NAMES = [f"wrk_{number:012}" for number in range(4)]


def write(home: Path, name: str, **more: Any) -> None:
    folder = home / "workers" / name
    folder.mkdir(parents=True)
    (folder / "worker.json").write_text(json.dumps({"name": name, "token": "x" * 16, **more}))


def test_those_that_are_there_are_listed_and_one_of_an_unknown_version_is_called_so(tmp_path: Path) -> None:
    assert running_workers(tmp_path) == []
    mine = identify(os.getpid())
    here = {"pid": mine.pid, "started": mine.started}
    write(tmp_path, NAMES[0], version="1.2", protocol=SPOKEN[-1], **here)
    write(tmp_path, NAMES[1], protocol=99, **here)
    write(tmp_path, NAMES[2], more=1, guardian=mine.pid, guardian_started=mine.started)
    write(tmp_path, NAMES[3], protocol=99, pid=mine.pid, started=(mine.started or 1) - 1)
    assert running_workers(tmp_path) == [
        {"name": NAMES[0], "pid": mine.pid, "version": "1.2"},
        {"name": NAMES[1], "pid": None, "version": "unknown"},
        {"name": NAMES[2], "pid": None, "version": "unknown"},
    ]
    assert workers_are_there(tmp_path)


def test_a_copy_is_not_put_back_under_a_worker_that_is_there(tmp_path: Path) -> None:
    copy, home = tmp_path / "copy.db", tmp_path / "home"
    with Relay.open(home) as relay:
        relay.back_up(copy)
    mine = identify(os.getpid())
    write(home, NAMES[0], version="1.2", protocol=SPOKEN[-1], pid=mine.pid, started=mine.started)
    assert left_workers(home) == [(NAMES[0], mine.pid, ())]
    with pytest.raises(RelayStartError, match=r"with nothing to do\. Nothing was changed"):
        Relay.restore(copy, home)
    write(home, NAMES[1], protocol=99, pid=mine.pid, started=mine.started)
    with pytest.raises(RelayStartError, match=r"2 workers .* with what cannot be told"):
        Relay.restore(copy, home)
    (home / "workers" / NAMES[0] / "worker.json").unlink()
    (home / "workers" / NAMES[1] / "worker.json").unlink()
    assert Relay.restore(copy, home) is not None
