"""What the guide to delegating shows works, with the protocol's official client in the place of an agent."""

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.docs.blocks import GUIDES, ROOT
from tests.e2e.daemon import Daemon, serving
from tests.e2e.mcp_client import called
from tests.e2e.program import Showcaller
from tests.e2e.test_approvals import owner_is_asked

TEXT = (GUIDES / "delegate-from-claude-code.md").read_text(encoding="utf-8")
PROGRAMS = Path(sys.executable).parent


def blocks(info: str) -> list[str]:
    return re.findall(rf"^```{info}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def run(block: str, environment: dict[str, str]) -> str:
    ended = subprocess.run(
        ["bash", "-e", "-c", block], env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert ended.returncode == 0, (block, ended.stdout, ended.stderr)
    return ended.stdout


def allow(daemon: Daemon, asked: str, environment: dict[str, str], wanted: str) -> None:
    """Wait until the owner is asked, look as the guide says, and allow it by the line that is shown."""
    owner_is_asked(daemon)
    shown = run(asked, environment)
    assert wanted in shown, shown
    (line,) = re.findall(r"To answer: (.*)", shown)
    run(line, environment)


@pytest.mark.slow
async def test_an_agent_delegates_as_the_guide_says(tmp_path: Path) -> None:
    opened, tried, asked, seen = blocks("sh")
    (serve,), (client,), (configuration,) = blocks("sh serve"), blocks("sh client"), blocks("json")
    assert shlex.split(serve) == ["showcaller", "serve"]
    bridge: dict[str, Any] = json.loads(configuration)["mcpServers"]["showcaller"]
    assert shlex.split(client)[-4:] == [bridge["command"], *bridge["args"]], "both ways start the same"

    environment = os.environ | {
        "SHOWCALLER_HOME": str(tmp_path / "home"),
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "COLUMNS": "200",
    }
    run(opened, environment)
    with serving(Showcaller(tmp_path / "home", tmp_path)) as daemon, ThreadPoolExecutor(1) as others:
        trying = others.submit(run, tried, environment)
        allow(daemon, asked, environment, 'Prompt: "echo it works"')
        answer = json.loads(trying.result(timeout=100))
        assert (answer["status"], answer["reply"]["text"]) == ("done", "it works\n")
        started = StdioServerParameters(
            command=str(PROGRAMS / bridge["command"]), args=bridge["args"], env=environment, cwd=tmp_path
        )
        async with stdio_client(started) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            making = asyncio.create_task(
                called(
                    session,
                    action="create_session",
                    provider="command",
                    text="echo delegated",
                    wait_seconds=50,
                )
            )
            wanted = 'Prompt: "echo delegated"'
            await asyncio.to_thread(allow, daemon, asked, environment, wanted)
            made = await making
        assert made["reply"]["text"] == "delegated\n"
        listed = run(seen, environment)
        assert "echo delegated" in listed
        assert re.search(r"\bclaude\b", listed), "the client's own conversation is listed too"


def test_the_readme_shows_the_same_in_short() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```sh\n(\. \.venv/bin/activate\n.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    opened, tried, asked, _ = blocks("sh")
    (serve,) = blocks("sh serve")
    activated = ". .venv/bin/activate\n"
    assert [f"{activated}{opened}{serve}", f"{activated}{tried}", f"{activated}{asked}"] == [
        block for block in shown if block != activated
    ]
