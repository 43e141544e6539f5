"""How each real agent is set up to talk to the fake model: its own home, configuration and variables."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from showcaller.actors.contract.provider_catalogue import shipped_agents
from tests.agents.installed import packages, program_folder
from tests.agents.model_script import CallTool
from tests.agents.model_server import MODEL

CODEX_MODEL = "gpt-5.2"  # one that it knows: of others it warns in an ordinary message
KEY = "not-a-real-key"


class RealAgent(NamedTuple):
    """An agent that is installed and set up.

    ``environment`` is all that it gets; ``own`` is what of it is this agent's alone.
    ``shell`` makes its model call the agent's own shell tool so that it asks permission in ``asking`` mode.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    own: Mapping[str, str]
    shell: Callable[[str], CallTool]


def real_agent(name: str, home: Path, url: str) -> RealAgent:
    """Install an agent if need be, and set it up with a home of its own; skips where that cannot be."""
    package = packages()[name]
    home.mkdir(parents=True)
    own = {"HOME": str(home), "NO_PROXY": "127.0.0.1,localhost", **_SET_UP[name](home, url)}
    path = os.pathsep.join([str(program_folder(package)), os.environ["PATH"]])
    command = shipped_agents()[name].command
    return RealAgent(name, command, {"PATH": path, **own}, own, _SHELLS[name])


def _claude(home: Path, url: str) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def _codex(home: Path, url: str) -> dict[str, str]:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(
        f"""model = "{CODEX_MODEL}"
model_provider = "fake"

[model_providers.fake]
name = "Fake"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "FAKE_MODEL_KEY"
request_max_retries = 0
stream_max_retries = 0
"""
    )
    return {"FAKE_MODEL_KEY": KEY, "CODEX_HOME": str(home / ".codex")}


def _opencode(home: Path, url: str) -> dict[str, str]:
    """Set up OpenCode; an empty list of models and no title spare it seconds of a processor."""
    provider: dict[str, Any] = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
        "models": {MODEL: {"name": "Fake model"}},
    }
    configuration = {
        "provider": {"fake": provider},
        "enabled_providers": ["fake"],
        "model": f"fake/{MODEL}",
        "small_model": f"fake/{MODEL}",
        "agent": {"title": {"disable": True}},
        "autoupdate": False,
        "share": "disabled",
        "permission": {"bash": "ask"},
    }
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text(json.dumps(configuration))
    models = home / "models.json"
    models.write_text("{}")
    switches = ("DISABLE_MODELS_FETCH", "DISABLE_AUTOUPDATE", "DISABLE_LSP_DOWNLOAD", "PURE")
    return {"OPENCODE_MODELS_PATH": str(models), **{f"OPENCODE_{name}": "1" for name in switches}}


def _claude_shell(line: str) -> CallTool:
    return CallTool("Bash", {"command": line, "description": "what the test wants"})


def _codex_shell(line: str) -> CallTool:
    arguments = {
        "cmd": line,
        "sandbox_permissions": "require_escalated",
        "justification": "the test wants it",
    }
    return CallTool("exec_command", arguments)


def _opencode_shell(line: str) -> CallTool:
    return CallTool("bash", {"command": line, "description": "what the test wants"})


_SET_UP: Mapping[str, Callable[[Path, str], dict[str, str]]] = {
    "claude": _claude,
    "codex": _codex,
    "opencode": _opencode,
}
_SHELLS: Mapping[str, Callable[[str], CallTool]] = {
    "claude": _claude_shell,
    "codex": _codex_shell,
    "opencode": _opencode_shell,
}
