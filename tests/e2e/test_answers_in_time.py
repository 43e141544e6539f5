"""A relay that runs on its own answers in time whatever its workers, their commands and its disk do."""

import os
import signal
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from showcaller.transport.links.conversation import HEARTBEAT, SILENCE
from tests.e2e.daemon import living_workers, serving
from tests.e2e.program import Bell, Showcaller
from tests.e2e.small_disk import fill, mounted

SECOND = 1.0
AWAY = HEARTBEAT * (SILENCE + 1)
"""Seconds after which a relay knows that a worker gives no sign."""
LONG = f"echo {'x' * 9000}"
SIZE = 16 * 1024 * 1024


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", SIZE) as place:
        yield place / "home"


def call(http: httpx.Client, action: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = http.post(
        "/api/call", json={"action": action, "relay": "this", **arguments}
    ).json()
    return answer


def begin(http: httpx.Client, text: str) -> tuple[str, str]:
    made = call(http, "create_session", text=text, wait_seconds=0)
    assert made["ok"], made
    return made["session"], made["message_id"]


def until_refused(http: httpx.Client) -> Iterator[tuple[str, str]]:
    """Begin sessions as long as the store has room; gives those."""
    while (made := call(http, "create_session", text=LONG, wait_seconds=0))["ok"]:
        yield made["session"], made["message_id"]
    assert made["code"] == "REMOTE_RELAY_STORAGE"


def slowest_list(http: httpx.Client, sessions: Collection[str], seconds: float) -> float:
    """List the sessions for so long, completely each time; gives the seconds that the slowest took."""
    slowest, until = 0.0, time.monotonic() + seconds
    while (before := time.monotonic()) < until:
        listed = call(http, "list_sessions", scope="all", limit=100)
        slowest = max(slowest, time.monotonic() - before)
        assert {row["id"] for row in listed["sessions"]} == set(sessions)
    return slowest


def test_sessions_are_listed_within_a_second_beside_a_hanging_worker_a_flood_and_a_full_disk(
    home: Path, folder: Path, bell: Bell
) -> None:
    showcaller = Showcaller(home, folder)
    with serving(showcaller, "--workers", "2") as daemon, daemon.owner as http:
        turns: dict[str, str] = {}
        pids: set[int] = set()
        while len(pids) < 2:  # until each worker has one that floods
            session, message = begin(http, f"{bell.ring.format('$PPID')}; yes {'flood ' * 10}")
            turns[session] = message
            pids.update(map(int, bell.hear(1)))
        assert pids == {card.pid for card in living_workers(home)}
        hanging = min(pids)
        os.kill(hanging, signal.SIGSTOP)
        try:
            turns |= dict(begin(http, "echo waits") for _ in range(40))
            filler = fill(home.parent)
            turns |= until_refused(http)
            assert slowest_list(http, turns.keys(), AWAY) < SECOND
            filler.unlink()
        finally:
            os.kill(hanging, signal.SIGCONT)
        for session, message in turns.items():
            assert call(http, "stop", session=session)["ok"]
            end = call(http, "wait", session=session, message_id=message, wait_seconds=50)
            assert end["status"] in {"stopped", "done"}, end
