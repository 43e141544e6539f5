"""A data folder that is deleted under a relay ends it and its workers, and is not made again."""

import shutil
import time
from pathlib import Path

from tests.e2e.daemon import living_workers, serving
from tests.e2e.program import LIMIT, Showcaller
from tests.transport.worker.stage import wait_gone


def test_a_relay_whose_data_folder_was_deleted_ends_with_its_workers_and_says_why(
    showcaller: Showcaller,
) -> None:
    with serving(showcaller) as daemon, daemon.owner as owner:
        sleeping = {"action": "create_session", "relay": "this", "text": "sleep 600", "wait_seconds": 0}
        assert owner.post("/api/call", json=sleeping).json()["ok"]
        (card,) = living_workers(daemon.home)
        assert card.guardian is not None
        delete(daemon.home)
        refused = owner.post("/api/call", json=sleeping).json()
        assert refused["code"] == "REMOTE_RELAY_STORAGE"
        assert "was deleted or moved away" in refused["error"]
        assert daemon.process.wait(LIMIT) == 0
        assert daemon.process.stderr is not None
        assert "was deleted or moved away, so nothing can be stored" in daemon.process.stderr.read()
        assert wait_gone(card.guardian, LIMIT)
        assert not daemon.home.exists()


def delete(folder: Path) -> None:
    """Delete a folder in which somebody still writes: what came into it meanwhile goes in the next round."""
    until = time.monotonic() + LIMIT
    while folder.exists():
        assert time.monotonic() < until, f"{folder} does not go away"
        shutil.rmtree(folder, ignore_errors=True)
