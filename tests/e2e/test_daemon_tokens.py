"""Tokens of a running relay: made, used, revoked, and kept nowhere but with their clients."""

import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from showcaller.transport.doors.client_token import TokenRefused, external_token, renew_external_token
from showcaller.transport.doors.start_error import RelayStartError
from tests.e2e.daemon import Daemon, serving
from tests.e2e.program import Showcaller

pytestmark = pytest.mark.slow

PATIENCE = 300.0  # seconds; a loaded machine takes long to start a worker


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    folder: Path = tmp_path_factory.mktemp("served")
    with serving(Showcaller(folder / "home", folder)) as daemon:
        yield daemon


def test_the_owner_makes_lists_and_revokes_tokens(daemon: Daemon) -> None:
    with daemon.owner as owner:
        made = owner.post("/api/tokens", json={"kind": "external", "name": "My script"}).json()
        assert made["ok"]
        assert made["token"].startswith("sce_")
        (listed,) = (row for row in owner.get("/api/tokens").json()["tokens"] if row["name"] == "My script")
        assert (listed["kind"], listed["session"]) == ("external", made["session"])
        assert set(listed) == {"kind", "name", "session", "state", "createdAt"}
        assert listed["state"] == "in_force"
        wanted = {"kind": "external", "name": "My script"}
        assert refusal(owner.post("/api/tokens", json=wanted)) == (400, "INVALID_INPUT")
        again = owner.post("/api/tokens", json=wanted | {"replace": True}).json()
        assert again["session"] == made["session"]
        assert again["token"] != made["token"]
        revoked = owner.post("/api/tokens/revoke", json={"name": "My script"})
        assert revoked.json() == {
            "ok": True,
            "kind": "external",
            "name": "My script",
            "session": made["session"],
        }
        assert owner.post("/api/tokens/revoke", json={"name": "My script"}).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"kind": "owner", "name": "x"},
        {"kind": "agent", "name": "x"},
        {"kind": "external", "name": "../x"},
        {"kind": "external", "name": ""},
        {"kind": "external", "name": "x" * 65},
        {"kind": "external", "name": "a\u202eb"},
        {"kind": "external", "name": 7},
        {"kind": "external", "name": "x", "hash": "00"},
        {"kind": "external", "name": "x", "hash": "G" * 64},
        {"kind": "external", "name": "x", "session": "ses_000000000000"},
    ],
)
def test_what_cannot_be_a_token_is_refused(daemon: Daemon, body: dict[str, object]) -> None:
    with daemon.owner as owner:
        assert owner.post("/api/tokens", json=body).status_code == 400


CUT_OFF = """
import os, sys
from pathlib import Path
from showcaller import entry
from showcaller.transport.doors import client_token, token_making
from showcaller.transport.doors.cli.commands import tokens

home, point = Path(sys.argv[1]), sys.argv[2]
sys.argv[1:] = sys.argv[3:]


def dying(function, when):
    def called(*arguments, **named):
        if when == "before":
            os._exit(99)
        function(*arguments, **named)
        os._exit(99)
    return called


module, name, when = point.split()
owner = {"client": client_token, "making": token_making.TokenInMaking, "tokens": tokens}[module]
setattr(owner, name, dying(getattr(owner, name), when))
if sys.argv[1] == "tokens":
    entry.main()
else:
    client_token.external_token(home, sys.argv[1])
"""


def cut_off(daemon: Daemon, point: str, *words: str) -> None:
    """Have a token made by a process that ends at a point of it."""
    environment = {**os.environ, "SHOWCALLER_HOME": str(daemon.home)}
    program = [sys.executable, "-c", CUT_OFF, str(daemon.home), point, *words]
    ended = subprocess.run(program, env=environment, capture_output=True, timeout=60, check=False)
    assert ended.returncode == 99, ended


@pytest.mark.parametrize(
    "point",
    ["client _asked before", "client _asked after", "client keep_token after", "making done before"],
)
def test_a_token_is_not_lost_where_its_making_is_cut_off(daemon: Daemon, point: str) -> None:
    """A client goes on with the one that was left, whether it is in force already or not."""
    name = f"cut off at {point}"
    cut_off(daemon, point, name)
    token = external_token(daemon.home, name)
    assert asks(daemon, token).status_code == 200
    with daemon.owner as owner:
        assert len([row for row in owner.get("/api/tokens").json()["tokens"] if row["name"] == name]) == 1
        owner.post("/api/tokens/revoke", json={"name": name})
    with pytest.raises(TokenRefused, match="was revoked"):
        renew_external_token(daemon.home, name, token)
    assert not list((daemon.home / "clients").glob(".*.making"))


@pytest.mark.parametrize(
    "point", ["tokens ask_running before", "tokens ask_running after", "tokens write before"]
)
@pytest.mark.parametrize("kind", ["external", "supervisor"])
def test_the_same_command_writes_a_token_whose_making_was_cut_off(
    daemon: Daemon, point: str, kind: str
) -> None:
    words = ("tokens", "new", "--kind", kind, "--name", f"cut off at {point}")
    cut_off(daemon, point, *words)
    showcaller = Showcaller(daemon.home, daemon.home.parent)
    made = showcaller(*words)
    assert made.code == 0, made
    assert asks(daemon, made.out.strip()).status_code == 200
    assert not list((daemon.home / "clients").glob(".*.making"))
    again = showcaller(*words)
    assert (again.code, again.out) == (1, "")
    assert f"showcaller tokens new --kind {kind} --name 'cut off at {point}' --replace" in again.err
    replaced = showcaller(*words, "--replace")
    assert asks(daemon, made.out.strip()).status_code == 401
    assert asks(daemon, replaced.out.strip()).status_code == 200


def test_a_token_that_cannot_be_written_out_is_written_by_the_same_command(daemon: Daemon) -> None:
    showcaller = Showcaller(daemon.home, daemon.home.parent)
    words = ("tokens", "new", "--name", "nobody reads")
    with showcaller.start(*words) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.wait(60)
    assert asks(daemon, showcaller(*words).out.strip()).status_code == 200


def test_with_the_hash_of_a_token_its_owner_can_ask_again(daemon: Daemon) -> None:
    token = "sce_" + "a" * 43
    wanted = {"kind": "external", "name": "hashed by me", "hash": hashlib.sha256(token.encode()).hexdigest()}
    with daemon.owner as owner:
        first, second = (owner.post("/api/tokens", json=wanted).json() for _ in range(2))
        assert first == second
        assert set(first) == {"ok", "kind", "name", "session"}
        assert asks(daemon, token).status_code == 200
        owner.post("/api/tokens/revoke", json={"name": "hashed by me"})
        assert refusal(owner.post("/api/tokens", json=wanted)) == (400, "INVALID_INPUT")
    assert asks(daemon, token).status_code == 401


@pytest.mark.parametrize("name", ["", ".", "..", "../token", "a/b", ".lock", "a\nb"])
def test_a_name_that_leads_elsewhere_is_no_clients_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(RelayStartError, match="cannot be called"):
        external_token(tmp_path, name)


def test_without_a_relay_a_client_is_told_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(RelayStartError, match="showcaller serve"):
        external_token(tmp_path, "bridge")
    assert not (tmp_path / "clients").exists()


def test_of_a_token_only_the_hash_is_stored(daemon: Daemon) -> None:
    with daemon.owner as owner:
        tokens = [
            owner.post("/api/tokens", json={"kind": kind, "name": "hashed"}).json()["token"]
            for kind in ("external", "supervisor")
        ]
        owner.post("/api/tokens/revoke", json={"kind": "supervisor", "name": "hashed"})
    files = [path for path in daemon.home.rglob("*") if path.is_file() and path.parent.name != "clients"]
    stored = b"".join(path.read_bytes() for path in files)
    for token in tokens:
        assert token.encode() not in stored
        assert token.partition("_")[2].encode() not in stored
        assert hashlib.sha256(token.encode()).hexdigest().encode() in stored


LIST = {"action": "list_relays"}
ROUTES = [
    ("GET", "/api/status"),
    ("POST", "/api/stop"),
    ("GET", "/metrics"),
    ("GET", "/api/tokens"),
    ("POST", "/api/tokens"),
    ("POST", "/api/tokens/revoke"),
    ("GET", "/api/fanouts"),
    ("POST", "/api/fanouts"),
    ("POST", "/api/fanouts/resume"),
    ("GET", "/api/fanouts/grp_000000000000/results"),
    ("POST", "/api/fanouts/grp_000000000000/stop"),
    ("POST", "/api/acts/kill"),
    ("POST", "/api/acts/delete"),
    ("GET", "/api/settings"),
    ("PUT", "/api/settings/agent_sessions"),
    ("POST", "/api/backup"),
    ("GET", "/api/sessions/ses_000000000000/export"),
    ("GET", "/nowhere"),
]


def asks(daemon: Daemon, token: str, method: str = "POST", path: str = "/api/call") -> httpx.Response:
    """Send a request with a token."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    url = f"http://127.0.0.1:{daemon.port}{path}"
    return httpx.request(
        method, url, json=LIST if method != "GET" else None, headers=headers, trust_env=False
    )


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"].removeprefix("REMOTE_RELAY_")


def test_an_external_client_calls_as_its_own_conversation_until_it_is_revoked(daemon: Daemon) -> None:
    with daemon.owner as owner:
        made = owner.post("/api/tokens", json={"kind": "external", "name": "caller"}).json()
        answer = asks(daemon, made["token"])
        assert answer.status_code == 200, answer.json()
        used = {row["name"]: row.get("usedAt") for row in owner.get("/api/tokens").json()["tokens"]}
        assert used["caller"] is not None
        owner.post("/api/tokens/revoke", json={"name": "caller"})
        assert refusal(asks(daemon, made["token"])) == (401, "UNAUTHENTICATED")
        assert "revoked" in asks(daemon, made["token"]).json()["error"]


def test_a_token_that_was_replaced_lets_nobody_in(daemon: Daemon) -> None:
    with daemon.owner as owner:
        first, second = (
            owner.post("/api/tokens", json={"kind": "external", "name": "twice", "replace": True}).json()[
                "token"
            ]
            for _ in range(2)
        )
    assert refusal(asks(daemon, first)) == (401, "UNAUTHENTICATED")
    assert asks(daemon, second).status_code == 200


def test_a_wrong_token_is_refused_whatever_it_looks_like(daemon: Daemon) -> None:
    session, turn = "ses_000000000000", "msg_000000000000"
    for wrong in ("sce_" + "x" * 43, "scs_x", "sct_x", f"sct_{session}.{turn}." + "A" * 43, "x" * 43):
        assert refusal(asks(daemon, wrong)) == (401, "UNAUTHENTICATED")


@pytest.fixture(scope="module")
def agent(daemon: Daemon, tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, str, str, Path]]:
    """Have a turn whose agent waits, with its token and its session."""
    folder = tmp_path_factory.mktemp("agent")
    told, gate = folder / "token", folder / "gate"
    os.mkfifo(gate)
    line = f"printenv SHOWCALLER_TOKEN; printenv SHOWCALLER_TOKEN > {told}.part && mv {told}.part {told}"
    with daemon.owner as owner:
        text = f"{line}; echo ready; cat {gate}"
        call = {"action": "create_session", "relay": "this", "text": text, "wait_seconds": 0}
        made = owner.post("/api/call", json=call).json()
        assert made["ok"], made
        turn = {"session": made["session"], "message_id": made["message_id"]}
        wait = {"action": "wait", "relay": "this", **turn, "wait_seconds": 1}
        end = time.monotonic() + PATIENCE
        while not told.exists():
            waited = owner.post("/api/call", json=wait).json()
            assert waited.get("status") in ("queued", "running"), waited
            assert time.monotonic() < end, waited
        yield told.read_text().strip(), made["session"], made["message_id"], gate


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_an_agents_token_is_refused_on_every_route_of_the_owner(
    daemon: Daemon, agent: tuple[str, str, str, Path], method: str, path: str
) -> None:
    assert refusal(asks(daemon, agent[0], method, path)) == (403, "FORBIDDEN")


def test_an_agents_token_is_refused_on_every_path_of_the_document_but_calls(
    daemon: Daemon, agent: tuple[str, str, str, Path]
) -> None:
    with daemon.owner as owner:
        paths = owner.get("/api/openapi.json").json()["paths"]
    asked = [
        (method.upper(), re.sub(r"{[a-z_]+}", "x", path))
        for path, methods in paths.items()
        for method in methods
        if path != "/api/call"
    ]
    assert len(asked) > len(ROUTES)
    for method, path in asked:
        assert refusal(asks(daemon, agent[0], method, path)) == (403, "FORBIDDEN"), (method, path)


DOORS = ["/api/call", "/mcp", "/api/status"]


@pytest.mark.parametrize("path", DOORS)
def test_every_door_refuses_a_foreign_host_and_a_foreign_origin(daemon: Daemon, path: str) -> None:
    for foreign in ({"host": "evil.example"}, {"origin": "https://evil.example"}):
        headers = {"authorization": f"Bearer {daemon.token}", **foreign}
        url = f"http://127.0.0.1:{daemon.port}{path}"
        answer = httpx.post(url, json=LIST, headers=headers, trust_env=False)
        assert refusal(answer) == (403, "FORBIDDEN"), foreign


@pytest.mark.parametrize("path", DOORS)
def test_every_door_refuses_no_token_a_wrong_one_and_a_revoked_one(daemon: Daemon, path: str) -> None:
    with daemon.owner as owner:
        revoked = owner.post("/api/tokens", json={"kind": "external", "name": "door"}).json()["token"]
        owner.post("/api/tokens/revoke", json={"name": "door"})
    for token in ("", "wrong", revoked):
        assert refusal(asks(daemon, token, path=path)) == (401, "UNAUTHENTICATED")


def test_an_agents_token_lets_it_call_while_its_turn_goes_on_and_is_in_no_file(
    daemon: Daemon, agent: tuple[str, str, str, Path]
) -> None:
    token, session, message, gate = agent
    assert token.startswith(f"sct_{session}.msg_")
    assert asks(daemon, token).status_code == 200
    assert refusal(asks(daemon, token[:-1] + ("B" if token[-1] != "B" else "C"))) == (401, "UNAUTHENTICATED")
    gate.write_text("go on\n")
    with daemon.owner as owner:
        wait = {"action": "wait", "relay": "this", "session": session, "message_id": message}
        answer = owner.post("/api/call", json=wait).json()
        assert answer.get("status") == "done", answer
        reply = answer["reply"]["text"]
    assert reply == "[a token of the relay]\nready\ngo on\n"
    assert refusal(asks(daemon, token)) == (401, "UNAUTHENTICATED")
    assert "has ended" in asks(daemon, token).json()["error"]
    for path in DOORS:
        assert refusal(asks(daemon, token, path=path)) == (401, "UNAUTHENTICATED")
    files = [path for path in daemon.home.rglob("*") if path.is_file()]
    assert token.encode() not in b"".join(path.read_bytes() for path in files)
