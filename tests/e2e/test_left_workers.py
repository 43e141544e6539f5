"""What is said and refused while workers are there whose relay was killed, or while one is starting."""

import json
from pathlib import Path

import pytest

from tests.e2e.daemon import living_workers, serving
from tests.e2e.program import Bell, Showcaller

pytestmark = pytest.mark.slow


def test_what_a_killed_relay_has_left_is_told_and_keeps_a_copy_from_being_put_back(
    showcaller: Showcaller, bell: Bell, tmp_path: Path
) -> None:
    copy = str(tmp_path / "copy.db")
    with serving(showcaller, "--workers", "1") as daemon:
        assert showcaller("backup", copy).code == 0
        command = f"{bell.ring.format('begun')}; {bell.wait}"
        made = json.loads(showcaller("new", "--no-wait", command, "--title", "nightly", "--json").out)
        bell.hear(1)
        (card,) = living_workers(daemon.home)
        daemon.process.kill()
        daemon.process.wait(timeout=60)
        there = f"1 worker that a relay has left is there (process {card.pid}), with 1 turn"
        refused = showcaller("restore", "--force", copy)
        assert (refused.code, there in refused.err, "stop --workers" in refused.err) == (1, True, True), (
            refused
        )
        status = showcaller("status")
        assert (status.code, there in status.err) == (3, True), status
        assert f"  {made['session']}  working  nightly" in status.err
        assert "showcaller serve" in status.err
        assert "showcaller stop --workers" in status.err
        told = json.loads(showcaller("status", "--json").out)
        assert told["leftWorkers"] == [{"name": card.name, "pid": card.pid, "turns": [made["message_id"]]}]
        doctor = showcaller("doctor")
        assert (doctor.code, "with 1 turn" in doctor.out) == (0, True), doctor
        assert [each.name for each in living_workers(daemon.home)] == [card.name], "none was harmed"
        assert showcaller("stop", "--workers").code == 0
        assert "leftWorkers" not in json.loads(showcaller("status", "--json").out)
        assert showcaller("restore", "--force", copy).code == 0
