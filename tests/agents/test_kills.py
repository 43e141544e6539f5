"""Conversations of real agents outlive their relay, their worker and their agent, and nothing runs twice."""

import os
import signal
from pathlib import Path

import pytest

from tests.agents.model_script import Hold, Say
from tests.agents.model_server import ModelServer
from tests.agents.product import WAIT, Product, product, said
from tests.agents.real import real_agent
from tests.e2e.daemon import living_workers
from tests.transport.worker.stage import wait_gone

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3 * WAIT)]
HELLO = "Hello from the model."


@pytest.mark.parametrize("name", ["claude", "codex", "opencode"])
def test_a_conversation_outlives_relay_worker_and_agent_and_nothing_runs_twice(
    name: str, model: ModelServer, tmp_path: Path
) -> None:
    model.script.when("plain", Say(HELLO))
    held = {word: Hold("Begun", " and ended.") for word in ("survive", "worker-cut", "agent-cut")}
    for word, hold in held.items():
        model.script.when(word, hold)
    agent = real_agent(name, tmp_path / "home", model.url)
    with product([agent], tmp_path) as relay, relay.serving() as daemon:
        begun = relay.create(name, "a plain question, the first")
        assert said(begun) == HELLO
        session = begun["session"]

        under_way = relay.send(session, "survive this", wait=0)
        model.wait_for(lambda asked: "survive" in asked.prompt, WAIT)
        agents = set(leaders(relay, name))
        daemon.process.kill()
        daemon.process.wait()
        held["survive"].gate.set()
        with relay.serving("--port", str(daemon.port)):
            assert said(relay.ended(under_way)) == "Begun and ended."
            assert set(leaders(relay, name)) == agents, "the agent has not noticed"

            cut(relay, model, name, session, "worker-cut", worker_of(relay))
            assert goes_on(relay, model, session, "after the worker")

            (leader,) = leaders(relay, name)
            cut(relay, model, name, session, "agent-cut", leader)
            assert goes_on(relay, model, session, "after the agent")

            for word in held:
                assert len(model.about(word)) == 1, f"{word} was run twice"
            assert relay.showcaller("stop", "--workers").code == 0
            assert all(wait_gone(pid) for pid in relay.agents(name))


def cut(relay: Product, model: ModelServer, name: str, session: str, word: str, victim: int) -> None:
    """Kill a process in the middle of a turn, and see the turn fail and all of the agent go."""
    under_way = relay.send(session, f"{word} this", wait=0)
    model.wait_for(lambda asked: word in asked.prompt, WAIT)
    there = relay.agents(name)
    assert there
    os.kill(victim, signal.SIGKILL)
    ended = relay.ended(under_way)
    assert ended["status"] == "failed", ended
    assert ended["stopReason"] in {"interrupted", "died"}, ended
    assert all(wait_gone(pid) for pid in there), "what the agent has started is left"


def goes_on(relay: Product, model: ModelServer, session: str, word: str) -> bool:
    """Prompt the session again; tells whether the agent still knows how the conversation began."""
    assert said(relay.send(session, f"a plain question {word}")) == HELLO
    (last, *_) = reversed(model.about(word))
    return any("a plain question, the first" in message.text for message in last.messages)


def leaders(relay: Product, name: str) -> list[int]:
    """Give the processes of agents that were started as such; the others are their children."""
    return [pid for pid in relay.agents(name) if os.getsid(pid) == pid]


def worker_of(relay: Product) -> int:
    """Give the process of the one worker."""
    (worker,) = living_workers(relay.showcaller.home)
    assert worker.process is not None
    return worker.process.pid
