"""A token that is revoked lets nobody in any more, and ends what is under way with it."""

import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.e2e.daemon import Daemon, serving
from tests.e2e.program import LIMIT, Showcaller

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    folder: Path = tmp_path_factory.mktemp("revoked")
    with serving(Showcaller(folder / "home", folder)) as daemon:
        with daemon.owner as owner:
            assert owner.put("/api/settings/agent_sessions", json={"value": True}).is_success
        yield daemon


def client(daemon: Daemon, kind: str, name: str) -> httpx.Client:
    """Give a client with a new token of its own."""
    with daemon.owner as owner:
        token = owner.post("/api/tokens", json={"kind": kind, "name": name}).json()["token"]
    return known_by(daemon, f"Bearer {token}")


def known_by(daemon: Daemon, authorization: str) -> httpx.Client:
    """Give a client that says who it is by this header."""
    return httpx.Client(
        base_url=f"http://127.0.0.1:{daemon.port}",
        headers={"authorization": authorization},
        timeout=LIMIT,
        trust_env=False,
    )


def test_a_stream_ends_with_the_token_that_it_was_opened_with(daemon: Daemon) -> None:
    with client(daemon, "supervisor", "streams") as watcher, daemon.owner as owner:
        with watcher.stream("GET", "/api/events/stream") as answer:
            lines = answer.iter_lines()
            assert next(lines).startswith(":")
            assert owner.post("/api/tokens/revoke", json={"name": "streams"}).is_success
            call = {
                "action": "create_session",
                "relay": "this",
                "text": "echo afterwards",
                "wait_seconds": 50,
            }
            assert owner.post("/api/call", json=call).json()["status"] == "done"
            assert "afterwards" not in "\n".join(lines)
        assert watcher.get("/api/events").status_code == 401


@pytest.mark.parametrize("how", ["revoke", "replace"])
def test_who_waits_is_refused_when_the_token_goes(daemon: Daemon, how: str) -> None:
    def wait(waiting: httpx.Client) -> httpx.Response:
        return waiting.post("/api/call", json={"action": "wait", "relay": "this", "wait_seconds": 50})

    with (
        client(daemon, "external", f"waits {how}") as waiting,
        daemon.owner as owner,
        ThreadPoolExecutor() as threads,
    ):
        answer = threads.submit(wait, waiting)
        listed = {"action": "list_sessions", "relay": "this", "scope": "active"}
        for _ in range(1000):  # its turn shows as soon as it waits
            if owner.post("/api/call", json=listed).json()["sessions"]:
                break
        else:
            pytest.fail("it never waits")
        if how == "revoke":
            owner.post("/api/tokens/revoke", json={"name": f"waits {how}"})
        else:
            again = {"kind": "external", "name": f"waits {how}", "replace": True}
            owner.post("/api/tokens", json=again)
        refused = answer.result(LIMIT)
        assert (refused.status_code, refused.json()["code"]) == (401, "REMOTE_RELAY_UNAUTHENTICATED")


@pytest.mark.parametrize(("who", "most"), [("owner", 64), ("supervisor", 48)])
def test_no_more_streams_are_opened_at_once_than_may_be_open(daemon: Daemon, who: str, most: int) -> None:
    """Some of them are for the owner alone."""
    opened = threading.Barrier(71, timeout=LIMIT)
    tried = threading.Barrier(71, timeout=LIMIT)
    with daemon.owner as owner, client(daemon, "supervisor", f"streams {who}") as supervisor:
        them = owner if who == "owner" else supervisor
        token = them.headers["authorization"]

        def status(number: int) -> int:
            with known_by(daemon, token) as own, own.stream("GET", "/api/events/stream") as answer:
                opened.wait()  # until all have their answer: none is closed before
                tried.wait()
                return answer.status_code

        with ThreadPoolExecutor(70) as threads:
            answers = [threads.submit(status, number) for number in range(70)]
            opened.wait()
            with owner.stream("GET", "/api/events/stream") as answer:
                owners = answer.status_code
            tried.wait()
            statuses = [each.result(LIMIT) for each in answers]
    assert sorted(set(statuses)) == [200, 429]
    assert statuses.count(200) == most
    assert owners == (429 if who == "owner" else 200)


def test_a_head_request_of_a_stream_is_answered(daemon: Daemon) -> None:
    with daemon.owner as owner:
        assert owner.head("/api/events/stream").status_code in {404, 405}


@pytest.mark.parametrize("name", ["//", "/.", "HOME/token", "HOME/workers", "HOME/clients/x", "HOME/copy"])
def test_a_copy_goes_nowhere_where_the_relay_keeps_files_of_its_own(daemon: Daemon, name: str) -> None:
    file = name.replace("HOME", str(daemon.home))
    with daemon.owner as owner:
        refused = owner.post("/api/backup", json={"file": file, "replace": True})
        assert (refused.status_code, refused.json()["code"]) == (400, "REMOTE_RELAY_INVALID_INPUT")
