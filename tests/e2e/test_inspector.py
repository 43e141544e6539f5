"""The inspector of the protocol lists the tool and calls it, as the guide to delegating says."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from showcaller.actors.contract.actions import ACTIONS
from tests.docs.blocks import GUIDES
from tests.e2e.daemon import serving
from tests.e2e.inspector import inspector
from tests.e2e.program import Showcaller

# It may have to be installed first, by a client that waits for the network.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

(BLOCK,) = re.findall(
    r"^```sh inspector\n(.*?)^```$",
    (GUIDES / "delegate-from-claude-code.md").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)


def test_the_inspector_lists_one_tool_with_all_actions_and_calls_it_over_http_and_stdio(
    tmp_path: Path,
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    npx = programs / "npx"
    npx.write_text(f'#!/bin/sh\nshift 2\nexec {shlex.join(inspector())} "$@"\n')
    npx.chmod(0o755)
    showcaller = Showcaller(tmp_path / "home", tmp_path)
    with serving(showcaller):
        assert showcaller("settings", "set", "agent_sessions", "on").code == 0
        environment = os.environ | {
            "SHOWCALLER_HOME": str(showcaller.home),
            "HOME": str(tmp_path),
            "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        bridge = "-e PYTHONPATH=" + os.environ.get("PYTHONPATH", "") if os.environ.get("PYTHONPATH") else ""
        block = BLOCK.replace("showcaller mcp", f"showcaller mcp --home {shlex.quote(str(showcaller.home))}")
        ended = subprocess.run(
            ["bash", "-e", "-c", block.replace("--cli --method", f"--cli {bridge} --method")],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert ended.returncode == 0, (ended.stdout, ended.stderr)
    decoder, answers, text = json.JSONDecoder(), [], ended.stdout.lstrip()
    while text:
        answer, end = decoder.raw_decode(text)
        answers.append(answer)
        text = text[end:].lstrip()
    over_http, called, over_stdio, called_there = answers
    for listed in (over_http, over_stdio):
        (tool,) = listed["tools"]
        assert tool["name"] == "relay_tool"
        assert tool["inputSchema"]["properties"]["action"]["enum"] == list(ACTIONS)
    assert len(ACTIONS) == 23
    for result, action in ((called, "list_sessions"), (called_there, "list_relays")):
        assert result["structuredContent"]["ok"] is True
        assert result["structuredContent"]["summary"].startswith(action)
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
