"""The log of a relay that runs on its own, in a file that cannot fill a disk."""

import json
from pathlib import Path

import pytest

from showcaller.transport.worker.bounded_log import LIMIT, before
from tests.e2e.daemon import serving
from tests.e2e.program import Showcaller


def test_the_log_goes_into_the_named_file_within_a_size_and_nothing_to_standard_error(
    showcaller: Showcaller, tmp_path: Path
) -> None:
    path = tmp_path / "relay.log"
    path.write_bytes(b"\n" * LIMIT)
    with serving(showcaller, "--log", "json", "--log-file", str(path)) as daemon:
        assert showcaller("stop", "--workers").code == 0
        _, err = daemon.process.communicate(timeout=60)
    assert (daemon.process.returncode, err) == (0, "")
    events = [json.loads(line)["event"] for line in path.read_text().splitlines()]
    assert events[-1] == "stopped"
    assert "ready" in events
    assert before(path).stat().st_size == LIMIT


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("home/relay.db", "is in the data folder"),
        ("home/logs/../token", "is in the data folder"),
        ("missing/log", "cannot be written: No such file or directory"),
    ],
)
def test_a_log_file_that_cannot_be_one_is_refused_before_anything_runs(
    showcaller: Showcaller, tmp_path: Path, name: str, reason: str
) -> None:
    refused = showcaller("serve", "--log-file", str(tmp_path / name))
    assert refused.code != 0
    assert reason in refused.err
    assert refused.out == ""
    assert not (showcaller.home / "relay.db").exists()
