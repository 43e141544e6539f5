"""What the owner does over HTTP besides calling the tool, in a real daemon."""

import json
import sqlite3
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.daemon import Daemon, serving
from tests.e2e.program import Showcaller


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    folder: Path = tmp_path_factory.mktemp("owned")
    with serving(Showcaller(folder / "home", folder)) as daemon:
        yield daemon


def ask(daemon: Daemon, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
    headers = {} if key is None else {"idempotency-key": key}
    with daemon.owner as owner:
        answer = owner.request(method, path, json=body, headers=headers)
    return answer.json() | {"http": answer.status_code}


def create(daemon: Daemon, text: str, **more: Any) -> Any:
    call = {"action": "create_session", "relay": "this", "text": text, "wait_seconds": 60, **more}
    return ask(daemon, "POST", "/api/call", call)


def test_kill_ends_a_background_task_and_delete_forgets_the_session(daemon: Daemon) -> None:
    session = create(daemon, "sleep 1000 & echo left it")["session"]
    refused = ask(daemon, "POST", "/api/acts/delete", {"session": session})
    assert (refused["http"], refused["code"]) == (409, "REMOTE_RELAY_BUSY")
    first, again = (ask(daemon, "POST", "/api/acts/kill", {"session": session}, "k1") for _ in range(2))
    assert first["ok"], first
    assert again == first
    waited = {"action": "wait", "relay": "this", "session": session, "wait_seconds": 60}
    read = ask(daemon, "POST", "/api/call", {"action": "read_session", "relay": "this", "session": session})
    prompt = read["messages"][0]["id"]
    ask(daemon, "POST", "/api/call", waited | {"message_id": prompt})
    read = ask(daemon, "POST", "/api/call", {"action": "read_session", "relay": "this", "session": session})
    assert [task["status"] for task in read["tasks"]] == ["stopped"]
    assert ask(daemon, "POST", "/api/acts/go_on", {"session": session[4:12]})["ok"]
    assert ask(daemon, "POST", "/api/acts/delete", {"session": session})["ok"]
    gone = ask(daemon, "POST", "/api/acts/kill", {"session": session})
    assert (gone["http"], gone["code"]) == (404, "REMOTE_RELAY_NOT_FOUND")


@pytest.mark.parametrize(
    ("act", "body"),
    [("fly", {"session": "ses_aaaaaaaaaaaa"}), ("kill", {}), ("kill", {"session": 7}), ("kill", {"x": 1})],
)
def test_an_act_that_is_none_is_refused_with_what_is_wrong(daemon: Daemon, act: str, body: Any) -> None:
    refused = ask(daemon, "POST", f"/api/acts/{act}", body)
    assert (refused["http"], refused["code"]) == (400, "REMOTE_RELAY_INVALID_INPUT")
    assert act in refused["error"] or "session" in refused["error"]


def test_settings_are_listed_read_and_set_by_their_names(daemon: Daemon) -> None:
    switch = "providers.command.agents_may_start"
    assert ask(daemon, "GET", "/api/settings")["settings"][switch] is False
    assert ask(daemon, "PUT", f"/api/settings/{switch}", {"value": True})["value"] is True
    found = ask(daemon, "GET", f"/api/settings/{switch}")
    assert (found["value"], found["default"]) == (True, False)
    command, *_ = ask(daemon, "GET", "/api/providers")["providers"]
    assert (command["provider"], command["agentsMayStart"]) == ("command", True)
    assert ask(daemon, "PUT", f"/api/settings/{switch}", {"value": None})["value"] is False
    assert ask(daemon, "PUT", "/api/settings/clone_hosts", {"value": ["GitHub.com"]})["value"] == [
        "github.com"
    ]
    assert ask(daemon, "GET", "/api/settings")["settings"]["clone_hosts"] == ["github.com"]
    assert ask(daemon, "PUT", "/api/settings/clone_hosts", {"value": None})["value"] == []
    for name, body in (("moon", {"value": 1}), ("log_days", {"value": "x"}), ("log_days", {})):
        assert ask(daemon, "PUT", f"/api/settings/{name}", body)["http"] == 400


def test_providers_are_listed_with_their_states_and_one_that_is_not_there_is_unknown(daemon: Daemon) -> None:
    listed = ask(daemon, "GET", "/api/providers")["providers"]
    states = {row["provider"]: (row["kind"], row["state"]) for row in listed}
    assert states["command"] == ("command", "ready")
    assert states["callable"] == ("callable", "ready")
    assert states["claude"] in {("acp", state) for state in ("missing", "available", "ready")}
    named = ask(daemon, "GET", "/api/providers?name=moon&name=command")["providers"]
    assert named[0] == {"provider": "moon", "state": "unknown"}
    assert named[1]["provider"] == "command"


HOSTILE = "</pre><script>alert(1)</script>\n```\n## Reply\n\x1b]0;x\x07"


def test_an_export_has_all_that_was_said_and_is_escaped_in_every_form(daemon: Daemon) -> None:
    session = create(daemon, "cat", title="</title><b>x")["session"]
    for number in range(20):
        text = f"printf '%s' {number}; cat <<'END'\n{HOSTILE}\nEND"
        send = {"action": "send", "relay": "this", "session": session, "text": text, "wait_seconds": 60}
        assert ask(daemon, "POST", "/api/call", send)["reply"]
    with daemon.owner as owner:
        path = f"/api/sessions/{session[4:12]}/export"
        lines = [json.loads(line) for line in owner.get(path, params={"format": "jsonl"}).text.splitlines()]
        page = owner.get(path, params={"format": "html"})
        text = owner.get(path).text
        refused = owner.get(path, params={"format": "pdf"})
        missing = owner.get("/api/sessions/ses_aaaaaaaaaaaa/export")
    assert lines[0]["session"]["id"] == session
    messages = [line["message"] for line in lines[1:]]
    assert len(messages) >= 41
    assert [message["text"][:2] for message in messages if message["role"] == "assistant"][-1] == "19"
    assert "<script>" not in page.text
    assert "<b>" not in page.text
    assert "\x1b" not in page.text + text
    assert "sandbox" in page.headers["content-security-policy"]
    fences = [line for line in text.splitlines() if line.startswith("````")]
    assert len(fences) == 2 * 40
    assert text.count("\n## Prompt") == 21
    assert (refused.status_code, missing.status_code) == (400, 404)


def test_a_backup_is_a_whole_store_and_never_in_the_place_of_another_file(
    daemon: Daemon, tmp_path: Path
) -> None:
    file = tmp_path / "copy.db"
    made = ask(daemon, "POST", "/api/backup", {"file": str(file)})
    assert made["file"] == str(file)
    with sqlite3.connect(file) as copy:
        assert copy.execute("PRAGMA quick_check").fetchone() == ("ok",)
    copy.close()
    again = ask(daemon, "POST", "/api/backup", {"file": str(file)})
    assert (again["http"], "exists already" in again["error"]) == (400, True)
    assert ask(daemon, "POST", "/api/backup", {"file": str(file), "replace": True})["ok"]
    for wrong in ("copy.db", str(daemon.home / "token"), str(daemon.home / "relay.db"), "/", 7):
        assert ask(daemon, "POST", "/api/backup", {"file": wrong, "replace": True})["http"] in (400, 507)


def test_every_path_stands_in_the_document_of_the_door_and_nothing_else(daemon: Daemon) -> None:
    with daemon.owner as owner:
        document = owner.get("/api/openapi.json").json()
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    with daemon.owner as owner:
        for path, methods in document["paths"].items():
            for method, says in methods.items():
                if path in {"/api/stop", "/api/backup"} or says.get("x-streams"):
                    continue
                answer = owner.request(method, path.replace("{", "").replace("}", ""), content=b"[")
                told = answer.json().get("error", "") if answer.status_code == 404 else ""
                assert "nothing at this path" not in told, (method, path)
