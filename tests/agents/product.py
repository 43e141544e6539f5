"""A running relay whose owner uses real agents, each with a home of its own behind the fake model."""

import json
import os
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from tests.agents.real import RealAgent
from tests.e2e.daemon import Daemon, serving
from tests.e2e.program import Showcaller
from tests.transport.worker.stage import processes_with, wait_gone

MARKER = "REAL_AGENTS_OF"
WAIT = 150
"""Seconds that a turn of a real agent may take where others use the processor too."""
FOREIGN = re.compile(r"ANTHROPIC|CLAUDE|OPENAI|CODEX|OPENCODE|SHOWCALLER_|MCP_|IS_SANDBOX")


def said(answer: Mapping[str, Any]) -> str:
    """Give the reply of a turn that ended well."""
    assert answer["status"] == "done", json.dumps(answer)
    return str(answer["reply"]["text"])


class OwnEnvironment(Showcaller):
    """The program with variables of its own, and none that would lead its agents elsewhere."""

    def __init__(self, home: Path, folder: Path, more: Mapping[str, str]) -> None:
        super().__init__(home, folder)
        self._more = more

    @property
    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in super()._environment.items() if not FOREIGN.match(name)}
        return {**kept, "SHOWCALLER_HOME": str(self.home), **self._more}


class Product:
    """A relay, set up for agents; ``daemon`` is the one that runs now."""

    def __init__(self, showcaller: Showcaller, marker: str, agents: Sequence[RealAgent]) -> None:
        self.showcaller = showcaller
        self._agents = {agent.name: agent for agent in agents}
        self.daemon: Daemon | None = None
        self._marker = marker

    @contextmanager
    def serving(self, *options: str) -> Generator[Daemon]:
        """Serve until the end of the ``with``."""
        with serving(self.showcaller, "--workers", "1", *options) as daemon:
            self.daemon = daemon
            yield daemon

    def call(self, action: str, **arguments: Any) -> dict[str, Any]:
        """Carry out a call of the owner, and give its result, which is no refusal."""
        assert self.daemon is not None
        asked = {"action": action, "relay": "this", **arguments}
        with self.daemon.owner as owner:
            answer = owner.post("/api/call", json=asked, timeout=WAIT + 30).json()
        assert answer["ok"], json.dumps(answer)
        return dict(answer)

    def create(self, provider: str, text: str, wait: int = WAIT, **more: Any) -> dict[str, Any]:
        """Start a session with its first prompt, and wait."""
        return self.call("create_session", provider=provider, text=text, wait_seconds=wait, **more)

    def send(self, session: str, text: str, wait: int = WAIT) -> dict[str, Any]:
        """Prompt a session and wait."""
        return self.call("send", session=session, text=text, wait_seconds=wait)

    def ended(self, begun: Mapping[str, Any]) -> dict[str, Any]:
        """Wait for the end of what a create or send has begun."""
        message = begun["message_id"]
        return self.call("wait", session=begun["session"], message_id=message, wait_seconds=WAIT)

    def set(self, name: str, value: Any) -> None:
        """Set a setting."""
        assert self.daemon is not None
        with self.daemon.owner as owner:
            answer = owner.put(f"/api/settings/{name}", json={"value": value})
        assert answer.json()["ok"], answer.text

    @property
    def processes(self) -> list[int]:
        """What there is of relay, worker and agents, with all that they have started."""
        return processes_with(self._marker)

    def agent(self, name: str) -> RealAgent:
        """Give how an agent was set up."""
        return self._agents[name]

    def agents(self, program: str) -> list[int]:
        """Give the processes whose command line names an agent's program."""
        return [pid for pid in self.processes if program in _command(pid)]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:  # it has just ended
        return ""


@contextmanager
def product(agents: Sequence[RealAgent], folder: Path, **more: str) -> Generator[Product]:
    """Set up a data folder whose owner uses these agents; nothing of them is left at the end.

    ``more`` are variables of the relay and its agents.
    """
    value = token_hex(8)
    work = folder / "work"
    work.mkdir()
    path = os.pathsep.join(agent.environment["PATH"] for agent in agents)
    showcaller = OwnEnvironment(folder / "data", work, {MARKER: value, "PATH": path, **more})
    made = Product(showcaller, f"{MARKER}={value}", agents)
    showcaller.home.mkdir(mode=0o700)
    tables: list[str] = []
    for agent in agents:
        tables.append(f"[providers.{agent.name}.environment]\n")
        tables += [f"{variable} = {json.dumps(told)}\n" for variable, told in agent.own.items()]
    (showcaller.home / "providers.toml").write_text("".join(tables))
    yield made
    assert all(wait_gone(pid) for pid in made.processes), "something of an agent is left"
