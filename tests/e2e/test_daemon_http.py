"""The HTTP door lets in its owner alone, and who is hostile harms nobody but itself."""

import contextlib
import json
import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.e2e.daemon import Daemon, serving
from tests.e2e.program import LIMIT, Showcaller

LIST = {"action": "list_sessions", "relay": "this"}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    folder: Path = tmp_path_factory.mktemp("served")
    with serving(Showcaller(folder / "home", folder)) as daemon:
        yield daemon


def raw(daemon: Daemon, *lines: str, body: bytes = b"") -> tuple[int, dict[str, object]]:
    """Send a request as it is, and give the status and the JSON that come back."""
    with socket.create_connection(("127.0.0.1", daemon.port), LIMIT) as stream:
        stream.sendall("\r\n".join([*lines, "connection: close", "", ""]).encode("latin-1") + body)
        answer = b""
        while more := stream.recv(65_536):
            answer += more
    head, _, content = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(content)


def code(answer: dict[str, object]) -> str:
    assert answer["ok"] is False
    return str(answer["code"]).removeprefix("REMOTE_RELAY_")


def test_the_owner_calls_with_an_id_that_makes_a_repeat_harmless(daemon: Daemon) -> None:
    call = {"action": "create_session", "relay": "this", "text": "echo hello", "wait_seconds": 60}
    with daemon.owner as owner:
        first, again = (
            owner.post("/api/call", json=call, headers={"idempotency-key": "one"}).json() for _ in range(2)
        )
        assert first["reply"]["text"] == "hello\n"
        assert (again["session"], again["message_id"]) == (first["session"], first["message_id"])
        missing = owner.post("/api/call", json={**LIST, "action": "read_session", "session": "ses_aaaaaa"})
        assert (missing.status_code, code(missing.json())) == (404, "NOT_FOUND")
        twice = owner.post(
            "/api/call", json=call, headers=[("idempotency-key", "two"), ("idempotency-key", "three")]
        )
        assert (twice.status_code, code(twice.json())) == (400, "INVALID_INPUT")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1:{port}.evil.example",
        "[::1]:{port}",
    ],
)
def test_another_host_is_refused_though_the_token_is_right(daemon: Daemon, host: str) -> None:
    status, answer = raw(
        daemon,
        "GET /api/status HTTP/1.1",
        f"host: {host.format(port=daemon.port)}",
        f"authorization: Bearer {daemon.token}",
    )
    assert (status, code(answer)) == (403, "FORBIDDEN")


@pytest.mark.parametrize("host", ["LOCALHOST:{port}", "LocalHost:{port}", "127.0.0.1:{port}"])
def test_its_own_host_is_let_in_however_it_is_written(daemon: Daemon, host: str) -> None:
    status, answer = raw(
        daemon,
        "GET /api/status HTTP/1.1",
        f"host: {host.format(port=daemon.port)}",
        f"authorization: Bearer {daemon.token}",
    )
    assert (status, answer["ok"]) == (200, True)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1", "http://localhost:1"])
def test_another_sites_page_is_refused_though_the_token_is_right(daemon: Daemon, origin: str) -> None:
    with daemon.owner as owner:
        refused = owner.post("/api/call", json=LIST, headers={"origin": origin})
        assert (refused.status_code, code(refused.json())) == (403, "FORBIDDEN")
        own = owner.post("/api/call", json=LIST, headers={"origin": f"http://localhost:{daemon.port}"})
        assert own.status_code == 200
        assert "access-control-allow-origin" not in own.headers


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer x", "Basic {token}", "Bearer {token}x", "{token}", "Bearer \xff"]
)
@pytest.mark.parametrize("path", ["/api/status", "/metrics", "/nowhere", "/"])
def test_nothing_is_told_without_the_token_whatever_the_path(daemon: Daemon, given: str, path: str) -> None:
    status, answer = raw(
        daemon,
        f"GET {path} HTTP/1.1",
        f"host: 127.0.0.1:{daemon.port}",
        f"authorization: {given.format(token=daemon.token)}",
    )
    assert (status, code(answer)) == (401, "UNAUTHENTICATED")
    assert daemon.token not in json.dumps(answer)


def test_a_websocket_is_refused_with_what_to_use_instead(daemon: Daemon) -> None:
    with daemon.owner as owner:
        offered = {"connection": "upgrade", "upgrade": "websocket"}
        refused = owner.get("/api/events/stream", headers=offered)
    assert (refused.status_code, code(refused.json())) == (400, "INVALID_INPUT")
    assert "speaks no WebSocket" in refused.json()["error"]


def test_two_tokens_or_two_hosts_are_refused(daemon: Daemon) -> None:
    host, token = f"host: 127.0.0.1:{daemon.port}", f"authorization: Bearer {daemon.token}"
    assert raw(daemon, "GET /api/status HTTP/1.1", host, token, token)[0] == 401
    assert raw(daemon, "GET /api/status HTTP/1.1", host, host, token)[0] in {400, 403}
    assert raw(daemon, "GET /api/status HTTP/1.1", token)[0] == 400
    assert raw(daemon, "GET /api/status HTTP/1.0", token)[0] == 403


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"list_sessions"',
        b'{"action": "list_sessions", "action": "stop"}',
        b'{"action": NaN}',
        b'{"action": 1e999}',
        b'{"action": 99999999999999999999999}',
        b'{"action": "\\ud800"}',
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"a":' * 100 + b"1" + b"}" * 100,
    ],
)
def test_a_body_that_is_no_call_is_refused_in_json(daemon: Daemon, body: bytes) -> None:
    with daemon.owner as owner:
        for path in ("/api/call", "/api/fanouts", "/api/fanouts/resume"):
            refused = owner.post(path, content=body)
            assert (refused.status_code, code(refused.json())) == (400, "INVALID_INPUT"), refused.text


def test_a_huge_body_is_refused_before_it_is_read_and_also_without_a_length(daemon: Daemon) -> None:
    head = [
        "POST /api/call HTTP/1.1",
        f"host: 127.0.0.1:{daemon.port}",
        f"authorization: Bearer {daemon.token}",
    ]
    status, answer = raw(daemon, *head, f"content-length: {10**15}", body=b"x")
    assert (status, code(answer)) == (400, "INVALID_INPUT")
    chunk = b"100001\r\n" + b"x" * 0x100001 + b"\r\n"
    status, answer = raw(daemon, *head, "transfer-encoding: chunked", body=chunk)
    assert (status, code(answer)) == (400, "INVALID_INPUT")


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/call/",
        "//api/call",
        "/api/../api/status",
        "/api/%2e%2e/token",
        "/../../token",
        "/api/status%00",
        "/api/fanouts/..%2f..%2ftoken/results",
        "http://127.0.0.1/api/status",
        "/api/fanouts/grp_aaaaaaaaaaaa/results",
    ],
)
def test_no_path_leads_anywhere_else(daemon: Daemon, path: str) -> None:
    status, answer = raw(
        daemon,
        f"GET {path} HTTP/1.1",
        f"host: 127.0.0.1:{daemon.port}",
        f"authorization: Bearer {daemon.token}",
    )
    assert (status, code(answer)) == (404, "NOT_FOUND")


def test_what_is_no_http_is_answered_in_json_too(daemon: Daemon) -> None:
    status, answer = raw(daemon, "\x16\x03\x01 nonsense")
    assert (status, code(answer)) == (400, "INVALID_INPUT")
    status, answer = raw(daemon, "GET / HTTP/1.1", *(f"x-{number}: {'y' * 1000}" for number in range(30)))
    assert status in {400, 403}


def test_a_fan_out_that_cannot_be_is_refused_with_what_to_mend(daemon: Daemon) -> None:
    spec = {"kind": "command", "template": "echo {}", "provider": "command", "jobs": 1, "cwd": "/"}
    with daemon.owner as owner:
        for change, word in (
            ({"group": "other"}, "group"),
            ({"items": "a"}, "items"),
            ({"items": ["a\0"]}, "NUL"),
            ({"spec": spec | {"jobs": 0}}, "jobs"),
            ({"spec": spec | {"template": "echo '{}'"}}, "quote"),
            ({"spec": None}, "spec"),
        ):
            body = {"group": "grp_0d1v9x3k7q2m", "spec": spec, "items": ["a"]} | change
            refused = owner.post("/api/fanouts", json=body)
            assert (refused.status_code, code(refused.json())) == (400, "INVALID_INPUT")
            assert word in refused.json()["error"]
        nothing = owner.get("/api/fanouts").json()["fanouts"]
        assert "grp_0d1v9x3k7q2m" not in json.dumps(nothing)


def test_a_fan_out_is_followed_from_a_place_and_begun_once_however_often_it_is_sent(daemon: Daemon) -> None:
    spec = {"kind": "command", "template": "echo {}", "provider": "command", "jobs": 2, "cwd": "/"}
    body = {"group": "grp_aaaaaaaaaaab", "spec": spec, "items": [f"item {number}" for number in range(5)]}
    with daemon.owner as owner:
        begun = owner.post("/api/fanouts", json=body).json()
        assert (begun["ok"], begun["total"]) == (True, 5)
        path = f"/api/fanouts/{begun['group']}/results"
        lines = [json.loads(line) for line in owner.get(path).text.splitlines()]
        results = [line for line in lines if "result" in line]
        assert [line["after"] for line in results] == [1, 2, 3, 4, 5]
        assert sorted(line["number"] for line in results) == [1, 2, 3, 4, 5]
        assert lines[-1] == {"end": {"error": None}}
        later = [json.loads(line) for line in owner.get(path, params={"after": 3}).text.splitlines()]
        assert [line for line in later if "result" in line] == results[3:]
        again = owner.post("/api/fanouts", json=body).json()
        assert again["total"] == 5
        for wrong in ("-1", "6", "x", "1" * 13):
            assert owner.get(path, params={"after": wrong}).status_code == 400
        assert owner.get(path, params={"run": begun["run"]}).status_code == 404
        sessions = owner.post("/api/call", json={**LIST, "query": "item", "scope": "all"}).json()["sessions"]
        assert len(sessions) == 5


def test_metrics_tell_of_calls_turns_batches_and_actors(daemon: Daemon) -> None:
    with daemon.owner as owner:
        owner.post("/api/call", json=LIST)
        owner.post("/api/call", json={"action": "no such action"})
        text = owner.get("/metrics").text
    for line in (
        'showcaller_calls_total{action="list_sessions",code="ok"}',
        'showcaller_calls_total{action="unknown",code="REMOTE_RELAY_INVALID_INPUT"}',
        'showcaller_call_seconds_count{action="list_sessions"}',
        "showcaller_sessions_awake ",
        "showcaller_turns_running 0.0",
        "showcaller_turns_queued 0.0",
        "showcaller_writer_batches_total ",
        'showcaller_actor_messages_total{actor="Supervisor"}',
        "showcaller_dead_letters_total ",
    ):
        assert line in text


def open_files(pid: int) -> list[str]:
    """Give what the descriptors of a process are; one may be closed while we look."""
    found = []
    for entry in list(Path(f"/proc/{pid}/fd").iterdir()):
        with contextlib.suppress(FileNotFoundError):
            found.append(str(entry.readlink()))
    return found


def test_after_all_that_the_relay_still_answers_and_keeps_no_connection(daemon: Daemon) -> None:
    with daemon.owner as owner:
        assert owner.get("/api/status").json()["ok"]
    sockets = [target for target in open_files(daemon.process.pid) if target.startswith("socket:")]
    assert len(sockets) < 20, sockets
