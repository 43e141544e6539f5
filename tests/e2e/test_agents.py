"""Agents that speak the Agent Client Protocol behind a real daemon, which is killed with all that it has."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.daemon import Daemon, living_workers, serving
from tests.e2e.program import LIMIT, Showcaller
from tests.transport.worker.stage import processes_with, wait_gone

FAKE = Path(__file__).parents[1] / "agents" / "fake_agent.py"


@pytest.fixture
def relay(showcaller: Showcaller) -> Iterator[Showcaller]:
    """A data folder whose owner knows a fake agent."""
    memory = showcaller.folder / "memory"
    memory.mkdir()
    command = json.dumps([sys.executable, str(FAKE)])
    showcaller.home.mkdir(mode=0o700, exist_ok=True)
    (showcaller.home / "providers.toml").write_text(
        f'[providers.acp-fake]\nlabel = "Fake agent"\ncommand = {command}\nloads = true\nresumes = true\n'
        f"environment = {{ FAKE_AGENT_STATE = {json.dumps(str(memory))} }}\n"
    )
    yield showcaller
    assert all(wait_gone(pid) for pid in processes_with(f"FAKE_AGENT_STATE={memory}"))


def call(daemon: Daemon, action: str, **arguments: Any) -> dict[str, Any]:
    with daemon.owner as owner:
        answer = owner.post("/api/call", json={"action": action, "relay": "this", **arguments}).json()
    assert answer["ok"], answer
    return dict(answer)


def create(daemon: Daemon, text: str, **more: Any) -> dict[str, Any]:
    return call(daemon, "create_session", text=text, provider="acp-fake", wait_seconds=LIMIT, **more)


def send(daemon: Daemon, session: str, text: str) -> dict[str, Any]:
    return call(daemon, "send", session=session, text=text, wait_seconds=LIMIT)


def recalled(answer: dict[str, Any]) -> tuple[int, str, list[str]]:
    """Give the agent's process, its name for the conversation, and what it was told before."""
    process, native, before = answer["reply"]["text"].split(" ", 2)
    return int(process), native, json.loads(before)


def test_a_fan_out_prompts_an_agent_for_each_item_and_leaves_no_process(relay: Showcaller) -> None:
    words = ("fanout", "--provider", "acp-fake", "--prompt", "say {}!", "one", "two words", "--json")
    for serves in (False, True):
        with serving(relay) if serves else nullcontext():
            ended = relay(*words)
            assert ended.code == 0, ended.err
            lines = [json.loads(line) for line in ended.out.splitlines()]
            told = {line["item"]: line["reply"] for line in lines if "item" in line}
            assert told == {"one": "one!", "two words": "two words!"}
            memory = relay.folder / "memory"
            assert all(wait_gone(pid) for pid in processes_with(f"FAKE_AGENT_STATE={memory}"))


def test_a_conversation_outlives_its_agent_its_relay_and_its_worker(relay: Showcaller) -> None:
    with serving(relay, "--workers", "1") as daemon:
        begun = create(daemon, "recall")
        assert begun["status"] == "done", begun["errorText"]
        session = begun["session"]
        first, native, before = recalled(begun)
        assert before == []
        read = call(daemon, "read_session", session=session)["session"]
        assert read["agentSessionId"] == native
        os.kill(first, signal.SIGKILL)
        wait_gone(first)
        second, name, before = recalled(send(daemon, session, "recall"))
        assert (name, before, second != first) == (native, ["recall"], True)
        daemon.process.kill()
        daemon.process.wait()
        with serving(relay, "--workers", "1") as next_daemon:
            assert next_daemon.port == daemon.port
            same, name, before = recalled(send(next_daemon, session, "recall"))
            assert (name, before, same) == (native, ["recall"] * 2, second)
            (worker,) = living_workers(relay.home)
            assert worker.process is not None
            os.kill(worker.process.pid, signal.SIGKILL)
            assert wait_gone(second)
            third, name, before = recalled(send(next_daemon, session, "recall"))
            assert (name, before, third != second) == (native, ["recall"] * 3, True)
            with next_daemon.owner as owner:
                assert owner.post("/api/stop", json={"workers": True}).status_code == 200
            assert wait_gone(third)


def test_an_agent_uses_the_relay_in_every_turn_of_its_process_and_not_after_it(
    relay: Showcaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOWCALLER_UNSAFE_NO_CARDS", "1")
    made = {"action": "create_session", "relay": "this", "text": "say from below", "wait_seconds": 50}
    order = f"tool-call {json.dumps(made)}"
    with serving(relay) as daemon:
        with daemon.owner as owner:
            assert owner.put("/api/settings/agent_sessions", json={"value": True}).status_code == 200
        begun = create(daemon, "env SHOWCALLER_TOKEN")
        session = begun["session"]
        assert begun["reply"]["text"] == "SHOWCALLER_TOKEN=[a token of the relay]\n"
        for _ in range(2):
            answer = send(daemon, session, order)
            told = json.loads(answer["reply"]["text"])
            assert (told["status"], told["reply"]["text"]) == ("done", "from below")
            assert told["provider"] == "acp-fake"
        process = recalled(send(daemon, session, "recall"))[0]
        token = _variable_of(process, "SHOWCALLER_TOKEN")
        assert _asks(daemon, token) == 200
        os.kill(process, signal.SIGKILL)
        wait_gone(process)
        send(daemon, session, "say another process")
        assert _asks(daemon, token) == 401


def test_what_an_agent_does_is_seen_while_it_does_it_and_its_permission_is_the_owners(
    relay: Showcaller,
) -> None:
    with serving(relay) as daemon:
        begun = call(
            daemon,
            "create_session",
            text="think make\npermission Push it",
            provider="acp-fake",
            wait_seconds=LIMIT,
        )
        assert begun["status"] == "waiting_for_answer", begun
        (question,) = begun["pendingQuestions"]
        assert (question["kind"], question["question"]) == ("permission", "Push it")
        assert begun["progress"]["activity"][-1] == "usage: 10 of 1000 tokens"
        assert "tool: make" in begun["progress"]["activity"]
        answered = relay("answer", question["id"], "Allow")
        assert answered.code == 0, answered
        end = call(
            daemon, "wait", session=begun["session"], message_id=begun["message_id"], wait_seconds=LIMIT
        )
        assert (end["status"], end["reply"]["text"]) == ("done", "permission: yes\n")
        read = call(daemon, "read_session", session=begun["session"], include_activity=True)
        assert "tool: make" in read["messages"][-1]["activity"]


def test_a_conversation_that_only_the_agent_has_is_continued(relay: Showcaller) -> None:
    native = relay.folder / "memory" / "fake-elsewhere.jsonl"
    native.write_text(json.dumps({"cwd": "/"}) + "\n" + json.dumps({"prompt": "say before"}) + "\n")
    options = ("--provider", "acp-fake", "--resume")
    with serving(relay) as daemon:
        begun = relay("new", *options, "fake-elsewhere", "--json", "recall")
        assert begun.code == 0, begun
        result = json.loads(begun.out)
        assert recalled(result)[1:] == ("fake-elsewhere", ["say before"])
        read = call(daemon, "read_session", session=result["session"])["session"]
        assert read["agentSessionId"] == "fake-elsewhere"
        gone = relay("new", *options, "fake-gone", "recall")
        assert gone.code == 1
        assert "cannot continue its conversation fake-gone" in gone.err + gone.out
        command = relay("new", "--resume", "fake-elsewhere", "true")
        assert command.code != 0
        assert "command cannot continue a conversation" in command.err


def test_a_restart_goes_on_in_another_process_and_says_which_way(relay: Showcaller) -> None:
    with serving(relay) as daemon:
        begun = create(daemon, "recall", title="tour")
        first, native, _ = recalled(begun)
        restarted = relay("restart", "tour")
        assert restarted.code == 0, restarted
        assert "it goes on in a new process. Its agent resumed the conversation." in restarted.err
        assert wait_gone(first)
        with daemon.owner as owner:
            (process,) = processes_with("SHOWCALLER_SESSION=" + begun["session"])
            second, name, before = recalled(send(daemon, begun["session"], "recall"))
            assert (name, before, second) == (native, ["recall"], process)
            told = owner.post("/api/acts/restart", json={"session": begun["session"]}).json()
            assert (told["ok"], told["resumedVia"]) == (True, "resume")
            command = call(daemon, "create_session", text="true", provider="command")["session"]
            refused = owner.post("/api/acts/restart", json={"session": command}).json()
            assert "has no conversation to go on with" in refused["error"]
            working = call(daemon, "send", session=begun["session"], text="hang", wait_seconds=0)
            assert working["ok"]
            busy = owner.post("/api/acts/restart", json={"session": begun["session"]}).json()
            assert busy["code"] == "REMOTE_RELAY_BUSY"


def test_what_cannot_be_had_is_told_before_anything_is_created(relay: Showcaller) -> None:
    with serving(relay) as daemon, daemon.owner as owner:
        call_it = {"action": "create_session", "relay": "this", "text": "hi", "provider": "acp-fake"}
        refused = owner.post("/api/call", json={**call_it, "repo": "owner/name"}).json()
        assert refused["code"] == "REMOTE_RELAY_INVALID_INPUT"
        named = create(daemon, "settings", model="large", mode="plan", effort="high")
        assert json.loads(named["reply"]["text"]) == {"mode": "plan", "model": "large", "effort": "high"}
        assert "the model was not checked" in named["modelNote"]
        session = named["session"]
        call(daemon, "send", session=session, text="say hi", effort="low", wait_seconds=LIMIT)
        process = recalled(send(daemon, session, "recall"))[0]
        wrong = {"action": "send", "relay": "this", "session": session, "text": "hi", "model": "lage"}
        unknown = owner.post("/api/call", json=wrong).json()
        assert (unknown["code"], unknown["suggestions"]) == ("REMOTE_RELAY_UNKNOWN_MODEL", ["large"])
        os.kill(process, signal.SIGKILL)
        wait_gone(process)
        again = send(daemon, session, "settings")
        assert json.loads(again["reply"]["text"]) == {"mode": "plan", "model": "large", "effort": "low"}
        failed = create(daemon, "hi", model="huge")
        assert (failed["status"], failed["errorClass"]) == ("failed", "other")
        assert "the agent offers no model 'huge'; it has: small, large" in failed["errorText"]
        empty = create(daemon, "empty")
        assert (empty["status"], empty["stopReason"]) == ("failed", "empty")


def _variable_of(process: int, name: str) -> str:
    variables = Path(f"/proc/{process}/environ").read_text().split("\0")
    return next(line.partition("=")[2] for line in variables if line.startswith(f"{name}="))


def _asks(daemon: Daemon, token: str) -> int:
    headers = {"authorization": f"Bearer {token}"}
    with httpx.Client(headers=headers, trust_env=False, timeout=60) as client:
        answer = client.post(f"http://127.0.0.1:{daemon.port}/api/call", json={"action": "list_relays"})
        return answer.status_code
