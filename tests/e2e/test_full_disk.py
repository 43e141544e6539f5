"""A relay whose disk is full, a real one: it goes on answering, and comes back by itself."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from showcaller import Relay
from tests.e2e.small_disk import fill, mounted

LONG = f"echo {'x' * 9000}"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of four mebibytes."""
    with mounted(tmp_path / "disk") as place:
        yield place


def call(relay: Relay, action: str, **arguments: Any) -> dict[str, Any]:
    return relay.call({"action": action, **arguments})


@pytest.mark.parametrize("writer_process", [True, False], ids=["writer process", "inline writer"])
def test_a_relay_on_a_full_disk_answers_reads_refuses_writes_and_comes_back(
    small_disk: Path, tmp_path: Path, *, writer_process: bool
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with Relay.open(small_disk / "home", writer_process=writer_process) as relay:
        done = call(relay, "create_session", text="echo before", wait_seconds=20)
        running = call(relay, "create_session", text=f"read line < {gate}; echo $line", wait_seconds=0)
        with gate.open("w") as opened:  # it runs: somebody reads
            filler = fill(small_disk)
            stored = 2
            while (refused := call(relay, "send", session=done["session"], text=LONG, wait_seconds=0))["ok"]:
                stored += 2  # it fitted into what was left of the last page
            assert refused["code"] == "REMOTE_RELAY_STORAGE"
            assert "nothing was stored" in refused["error"].lower()
            opened.write("ended meanwhile\n")
        for _ in range(20):
            listed = call(relay, "list_sessions")
            assert {row["id"] for row in listed["sessions"]} == {done["session"], running["session"]}
            read = call(relay, "read_session", session=done["session"])
            assert read["messages"][1]["text"] == "before\n"
        unseen = call(
            relay, "wait", session=running["session"], message_id=running["message_id"], wait_seconds=1
        )
        assert unseen["status"] == "running", "an end that is not stored is told to nobody"
        filler.unlink()
        end = call(
            relay, "wait", session=running["session"], message_id=running["message_id"], wait_seconds=60
        )
        assert (end["status"], end["reply"]["text"]) == ("done", "ended meanwhile\n")
        again = call(relay, "send", session=done["session"], text="echo after", wait_seconds=60)
        assert (again["status"], again["reply"]["text"]) == ("done", "after\n")
    with Relay.open(small_disk / "home") as relay:
        kept = call(relay, "read_session", session=done["session"], last=50)
        assert len(kept["messages"]) == stored + 2, "what was refused is not stored, and nothing else is lost"
        assert kept["messages"][-1]["text"] == "after\n"
