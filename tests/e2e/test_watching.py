"""A running relay is watched over HTTP: nothing is lost or doubled, whatever dies between."""

import json
import subprocess
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.e2e.daemon import serving
from tests.e2e.program import Showcaller


def call(client: httpx.Client, **arguments: Any) -> dict[str, Any]:
    """Carry out one call of the tool."""
    answer: dict[str, Any] = client.post("/api/call", json={"relay": "this", **arguments}).json()
    assert answer["ok"], answer
    return answer


@contextmanager
def stream(client: httpx.Client, **headers: str) -> Generator[Iterator[dict[str, Any]]]:
    """Read a stream of events: each has ``id``, ``event`` and ``data``."""
    with client.stream("GET", "/api/events/stream", params={"since": "0"}, headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield _events(answer.iter_lines())


def _events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    event: dict[str, Any] = {}
    for line in lines:
        if not line and event:
            yield event
            event = {}
        elif line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            event[name] = json.loads(value) if name == "data" else value


def take(events: Iterator[dict[str, Any]], count: int) -> list[int]:
    """Take so many events; gives their cursors."""
    return [int(next(events)["id"]) for _ in range(count)]


def run_one(client: httpx.Client, text: str = "true") -> str:
    """Have a session made and its turn ended; gives its id."""
    made = call(client, action="create_session", text=text, wait_seconds=60)
    assert made["status"] == "done", made
    session: str = made["session"]
    return session


def test_monitor_events_and_output_over_http(showcaller: Showcaller) -> None:
    with serving(showcaller) as daemon, daemon.owner as owner:
        session = run_one(owner, "echo one; echo two")
        page = owner.get("/api/events", params={"since": 0, "limit": 1}).json()
        assert ([event["event"] for event in page["events"]], page["more"]) == (["turn_started"], True)
        fired = owner.post("/api/monitor", json={"sessions": [session], "since": page["next"]}).json()
        assert [event["event"] for event in fired["fired"]] == ["turn_end"]
        still = owner.post("/api/monitor", json={"since": fired["next"], "timeout": 0.2}).json()
        assert (still["fired"], still["timedOut"]) == ([], True)
        lines = owner.get(f"/api/sessions/{session}/output").json()
        assert [line["text"] for line in lines["lines"]] == ["one", "two"]
        bad = owner.get("/api/events", params={"limit": "many"})
        assert (bad.status_code, bad.json()["code"]) == (400, "REMOTE_RELAY_INVALID_INPUT")
        assert owner.get("/api/events/stream", headers={"last-event-id": "x"}).status_code == 400


def test_the_last_events_are_listed_without_a_relay_too(showcaller: Showcaller) -> None:
    assert showcaller("new", "true").code == 0
    listed = showcaller("events", "--limit", "1")
    assert listed.code == 0, listed.err
    assert listed.out.count("\n") == 1
    assert "turn_end" in listed.out


def test_a_stream_goes_on_after_a_restart_and_loses_and_doubles_nothing(showcaller: Showcaller) -> None:
    with serving(showcaller) as daemon, daemon.owner as owner:
        run_one(owner)
        with stream(owner) as events:
            seen = take(events, 2)
            run_one(owner)
            seen += take(events, 1)
        daemon.process.kill()
        daemon.process.wait(timeout=30)
    with serving(showcaller) as daemon, daemon.owner as owner:
        run_one(owner)
        with stream(owner, **{"last-event-id": str(seen[-1])}) as events:
            seen += take(events, 3)
    assert seen == [1, 2, 3, 4, 5, 6]


@pytest.mark.slow
def test_a_slow_reader_of_a_stream_harms_only_itself(showcaller: Showcaller) -> None:
    with serving(showcaller) as daemon, daemon.owner as owner:
        with (
            owner.stream("GET", "/api/events/stream", params={"since": "0"}) as idle,
            stream(owner) as events,
        ):
            assert idle.status_code == 200  # and nobody reads it
            cursors = list[int]()
            for _ in range(20):
                run_one(owner)
                cursors += take(events, 2)
            assert cursors == list(range(1, 41))
        assert owner.get("/api/status").json()["ok"]


def test_fifty_who_wait_are_all_told(showcaller: Showcaller) -> None:
    with serving(showcaller) as daemon, daemon.owner as owner:
        since = owner.get("/api/events").json()["next"]
        answers = list[dict[str, Any]]()

        def wait() -> None:
            with daemon.owner as client:
                asked = {"since": since, "until": ["turn-end"], "timeout": 60}
                answers.append(client.post("/api/monitor", json=asked).json())

        threads = [threading.Thread(target=wait) for _ in range(50)]
        for thread in threads:
            thread.start()
        session = run_one(owner)
        for thread in threads:
            thread.join(timeout=60)
        assert [[event["session"] for event in answer["fired"]] for answer in answers] == [[session]] * 50


@pytest.mark.slow
def test_a_command_that_waits_outlives_a_relay_that_is_killed(showcaller: Showcaller) -> None:
    text = "until [ -e go ]; do sleep 0.1; done"
    with serving(showcaller) as daemon, daemon.owner as owner:
        session = call(owner, action="create_session", text=text, wait_seconds=0)["session"]
        with waiting(showcaller, session, "--timeout", "90s", "--json") as command:
            daemon.process.kill()
            daemon.process.wait(timeout=30)
            with serving(showcaller):
                (showcaller.folder / "go").touch()
                out, err = command.communicate(timeout=90)
            assert command.returncode == 0, err
    told = json.loads(out)
    assert [(event["event"], event["session"]) for event in told["fired"]] == [("turn_end", session)]


def test_a_command_that_waits_tells_that_no_relay_came_back(showcaller: Showcaller) -> None:
    with serving(showcaller) as daemon, daemon.owner as owner:
        session = call(owner, action="create_session", text="sleep 60", wait_seconds=0)["session"]
        with waiting(showcaller, session, "--reconnect", "500ms") as command:
            daemon.process.kill()
            daemon.process.wait(timeout=30)
            _, err = command.communicate(timeout=60)
    assert command.returncode == 4, err
    assert "--since 1" in err


@contextmanager
def waiting(showcaller: Showcaller, *arguments: str) -> Generator["subprocess.Popen[str]"]:
    """Start the command and go on once it waits."""
    with showcaller.start("wait", *arguments) as command:
        assert command.stderr is not None
        assert command.stderr.readline().startswith("Waiting for ses_")
        yield command
