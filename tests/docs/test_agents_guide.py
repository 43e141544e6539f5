"""What the guide to agents shows works, with a fake agent in the place of the real ones."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from showcaller.actors.contract.provider_catalogue import read_agents, read_providers, shipped_agents
from tests.docs.blocks import GUIDES
from tests.e2e.daemon import serving
from tests.e2e.program import Showcaller
from tests.transport.worker.repositories import HOST, Repositories

TEXT = (GUIDES / "run-agents.md").read_text(encoding="utf-8")
FAKE = Path(__file__).parents[1] / "agents" / "fake_agent.py"
PROGRAMS = Path(sys.executable).parent


def blocks(info: str) -> list[str]:
    return re.findall(rf"^```{info}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def program(file: Path, memory: Path) -> None:
    """Make a program of a real agent's name that is a fake one."""
    variable = f"FAKE_AGENT_STATE={shlex.quote(str(memory))}"
    file.write_text(f"#!/bin/sh\n{variable} exec {shlex.quote(sys.executable)} {shlex.quote(str(FAKE))}\n")
    file.chmod(0o700)


@pytest.mark.slow
def test_an_agent_is_run_as_the_guide_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed, begun, asked, resumed, counted, cloned = blocks("sh")
    _, lines, cloner = blocks("toml")
    (serve,) = blocks("sh serve")
    assert shlex.split(serve) == ["showcaller", "serve"]
    memory, installed = tmp_path / "memory", tmp_path / "installed"
    memory.mkdir()
    installed.mkdir()
    program(installed / "claude-agent-acp", memory)
    monkeypatch.setenv("PATH", f"{installed}:{PROGRAMS}:{os.environ['PATH']}")
    monkeypatch.setenv("SHOWCALLER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    repositories = Repositories(tmp_path / "remote")
    repositories.make("name")
    monkeypatch.setenv("GIT_SSH_COMMAND", repositories.environment["GIT_SSH_COMMAND"])
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "providers.toml").write_text(f"{lines}\n{cloner}")

    def run(block: str) -> str:
        ended = subprocess.run(
            ["bash", "-e", "-c", block],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert ended.returncode == 0, (block, ended.stdout, ended.stderr)
        return ended.stdout

    assert re.search(r"claude .*ready", run(listed))
    native = re.findall(r"--resume (\S+)", resumed)[0]
    told = [{"cwd": str(tmp_path)}, {"prompt": "say hi"}]
    (memory / f"{native}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in told))
    with serving(Showcaller(tmp_path / "home", tmp_path)):
        replies = run(begun)
        assert "you said: Say in one sentence what is in this folder." in replies
        assert "you said: And what would you do first?" in replies
        inbox = run(asked)
        assert "Run the tests" in inbox
        card = re.findall(r"q_\w+", inbox)[0]
        run(f"showcaller answer {card} Allow")
        assert card not in run("showcaller inbox")
        assert "you said: Where were we?" in run(resumed)
        assert "\n0\n" in f"\n{run(counted)}"
        here = cloned.replace("github.com", HOST).replace("owner/name", repositories.url("name"))
        assert "you said: Mend the tests, and push it as fix-tests." in run(here)


def test_the_owners_file_of_the_guide_is_taken() -> None:
    shown, lines, cloner = blocks("toml")
    assert read_providers(lines, "providers.toml").commands["lines"].command == ("wc", "-l")
    assert read_agents(cloner, "providers.toml", shipped_agents())["cloner"].takes == "repo"
    agents = read_agents(shown, "providers.toml", shipped_agents())
    assert agents["mine"].command == tuple(tomllib.loads(shown)["providers"]["mine"]["command"])
    assert agents["claude"].environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:4000"
    assert agents["claude"].loads
