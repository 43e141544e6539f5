"""A session on a fresh clone behind a real daemon: made by its worker, pushed by its agent, and put away."""

import json
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.daemon import Daemon, living_workers, serving
from tests.e2e.program import LIMIT, Showcaller
from tests.transport.worker.repositories import HOST, Repositories, executable, git, one_within_reach
from tests.transport.worker.stage import processes_with, wait_gone

FAKE = Path(__file__).parents[1] / "agents" / "fake_agent.py"


@pytest.fixture
def repositories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repositories:
    """A repository that the daemon's workers reach."""
    return one_within_reach(tmp_path / "remote", monkeypatch)


@pytest.fixture
def relay(showcaller: Showcaller, tmp_path: Path) -> Showcaller:
    """A data folder whose owner knows an agent that works on clones."""
    (tmp_path / "memory").mkdir()
    showcaller.home.mkdir(mode=0o700)
    (showcaller.home / "providers.toml").write_text(
        f'[providers.cloner]\nlabel = "Cloner"\ncommand = {json.dumps([sys.executable, str(FAKE)])}\n'
        f'takes = "repo"\nloads = true\nresumes = true\n'
        f"environment = {{ FAKE_AGENT_STATE = {json.dumps(str(tmp_path / 'memory'))} }}\n"
    )
    return showcaller


def call(daemon: Daemon, action: str, **arguments: Any) -> dict[str, Any]:
    with daemon.owner as owner:
        answer = owner.post("/api/call", json={"action": action, "relay": "this", **arguments}).json()
    assert answer["ok"], answer
    return dict(answer)


def create(daemon: Daemon, text: str, repo: str, wait: float = LIMIT) -> dict[str, Any]:
    return call(daemon, "create_session", text=text, provider="cloner", repo=repo, wait_seconds=wait)


def test_an_agent_works_on_a_fresh_clone_and_what_it_has_not_pushed_stays(
    relay: Showcaller, repositories: Repositories
) -> None:
    url = repositories.url("one")
    with serving(relay, "--workers", "1") as daemon:
        refused = relay("new", "--provider", "cloner", "--repo", url, "hi")
        assert (refused.code, f"does not allow clones from {HOST}" in refused.err) == (1, True), refused
        assert relay("settings", "set", "clone_hosts", HOST).code == 0
        made = relay("new", "--provider", "cloner", "--repo", url, "--json", "terminal pwd; cat README")
        assert made.code == 0, made
        told = json.loads(made.out)
        clone = relay.home / "clones" / told["session"]
        assert f"{clone}\n" in told["reply"]["text"]
        assert "read me" in told["reply"]["text"]
        identity = "git -c user.name=A -c user.email=a@example.org"
        order = f"terminal touch new && git add new && {identity} commit -q -m new && git rev-parse HEAD"
        worked = call(daemon, "send", session=told["session"], text=order, wait_seconds=LIMIT)
        assert worked["status"] == "done", worked
        assert "Not pushed: 1 commit." in call(daemon, "archive", session=told["session"])["note"]
        pushing = create(daemon, f"{order} && git push -q origin HEAD:work 2>&1", url)
        assert pushing["status"] == "done", pushing
        pushed = git(repositories.folder / "one.git", "rev-parse", "work")
        assert pushed in pushing["reply"]["text"]
        deleted = relay("delete", pushing["session"], "--yes", "--json")
        assert deleted.code == 0, deleted
        assert "its clone is deleted" in json.loads(deleted.out)["sessions"][0]["note"]
        assert sorted(each.name for each in clone.parent.iterdir()) == [clone.name, f"{clone.name}.json"]


def test_a_worker_that_is_killed_while_it_clones_leaves_no_process_and_the_next_makes_it_whole(
    relay: Showcaller, repositories: Repositories, tmp_path: Path
) -> None:
    ssh, url, begun = repositories.folder / "ssh", repositories.url("one"), tmp_path / "begun"
    working = ssh.read_text().removeprefix("#!/bin/sh\n")
    os.mkfifo(begun)
    executable(ssh, f"echo begun > {shlex.quote(str(begun))}; exec sleep 600")
    with serving(relay, "--workers", "1") as daemon:
        assert relay("settings", "set", "clone_hosts", HOST).code == 0
        made = create(daemon, "hi", url, wait=0)
        assert begun.read_text() == "begun\n"
        (part,) = (relay.home / "clones").iterdir()
        processes = processes_with(f"HOME={repositories.home}")
        cloning = [pid for pid in processes if "git" in Path(f"/proc/{pid}/cmdline").read_text()]
        assert cloning
        (worker,) = living_workers(relay.home)
        assert worker.process is not None
        os.kill(worker.process.pid, signal.SIGKILL)
        assert all(wait_gone(pid) for pid in cloning)
        end = call(daemon, "wait", session=made["session"], message_id=made["message_id"], wait_seconds=LIMIT)
        assert (end["status"], end["stopReason"]) == ("failed", "interrupted")
        executable(ssh, working)
        answer = call(daemon, "send", session=made["session"], text="say here", wait_seconds=LIMIT)
        assert (answer["status"], answer["reply"]["text"][-4:]) == ("done", "here"), answer
        assert not part.exists()
