"""What `status` says of workers that another version has started."""

import json

from tests.e2e.daemon import living_workers, serving
from tests.e2e.program import Showcaller


def test_status_lists_the_workers_and_warns_of_one_that_runs_another_version(showcaller: Showcaller) -> None:
    with serving(showcaller, "--workers", "1") as daemon:
        assert showcaller("fanout", "echo {}", "an item", "--json").code == 0  # so the worker has begun
        (card,) = living_workers(daemon.home)
        told = json.loads(showcaller("status", "--json").out)
        assert told["workers"] == [{"name": card.name, "pid": card.pid, "version": told["version"]}]
        assert "warning" not in told
        path = daemon.home / "workers" / card.name / "worker.json"
        path.write_text(card.model_copy(update={"version": "0.0.9"}).model_dump_json())
        status = showcaller("status")
        assert status.code == 0
        assert "workers: 1\n" in status.out
        assert f"Worker {card.name} (process {card.pid}) is version 0.0.9, and" in status.err
        assert "0.0.9" in json.loads(showcaller("status", "--json").out)["warning"]
