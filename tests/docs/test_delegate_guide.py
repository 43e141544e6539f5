"""What the guide to delegating shows works, with the protocol's official client in the place of an agent."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.docs.blocks import GUIDES
from tests.e2e.daemon import serving
from tests.e2e.mcp_client import called
from tests.e2e.program import Showcaller

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


@pytest.mark.slow
async def test_an_agent_delegates_as_the_guide_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, tried, asked, seen = blocks("sh")
    (serve,), (client,), (configuration,) = blocks("sh serve"), blocks("sh client"), blocks("json")
    named, program, command = shlex.split(serve)
    assert (program, command) == ("showcaller", "serve")
    monkeypatch.setenv(*named.split("="))
    bridge: dict[str, Any] = json.loads(configuration)["mcpServers"]["showcaller"]
    assert shlex.split(client)[-4:] == [bridge["command"], *bridge["args"]], "both ways start the same"

    environment = os.environ | {
        "SHOWCALLER_HOME": str(tmp_path / "home"),
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "COLUMNS": "200",
    }
    run(opened, environment)
    with serving(Showcaller(tmp_path / "home", tmp_path)):
        answer = json.loads(run(tried, environment))
        assert (answer["status"], answer["reply"]["text"]) == ("done", "it works\n")
        assert run(asked, environment) == "", "nobody asks"
        started = StdioServerParameters(
            command=str(PROGRAMS / bridge["command"]), args=bridge["args"], env=environment, cwd=tmp_path
        )
        async with stdio_client(started) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            made = await called(
                session, action="create_session", provider="command", text="echo delegated", wait_seconds=50
            )
        assert made["reply"]["text"] == "delegated\n"
        listed = run(seen, environment)
        assert "echo delegated" in listed
        assert re.search(r"\bclaude\b", listed), "the client's own conversation is listed too"
