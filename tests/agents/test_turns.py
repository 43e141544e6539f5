"""Turns of real agents through the relay: replies, our tool, cancelling, and how they end when they fail."""

import json
from collections.abc import Generator, Mapping
from typing import Any

import pytest

from tests.agents.model_script import Answer, Asked, CallTool, Cut, Fail, Hold, Say
from tests.agents.model_server import ModelServer
from tests.agents.product import WAIT, Product, product, said
from tests.agents.real import real_agent

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2 * WAIT)]
AGENTS = ("claude", "codex", "opencode")
HELLO = "Hello from the model."


@pytest.fixture(scope="module")
def model() -> Generator[ModelServer]:
    """A model for all tests here: what it is asked about differs."""
    with ModelServer() as server:
        server.script.when("plain", Say(HELLO))
        yield server


@pytest.fixture(scope="module")
def relay(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[Product]:
    """A relay that serves with all agents, which may use each other and commands, and nobody is asked."""
    folder = tmp_path_factory.mktemp("product")
    agents = [real_agent(name, folder / f"home-{name}", model.url) for name in AGENTS]
    with product(agents, folder, SHOWCALLER_UNSAFE_NO_CARDS="1") as made, made.serving():
        made.set("agent_sessions", value=True)
        made.set("providers.command.agents_may_start", value=True)
        yield made


@pytest.mark.parametrize("name", AGENTS)
def test_a_conversation_goes_on_is_stopped_and_goes_on(relay: Product, name: str, model: ModelServer) -> None:
    model.script.when(f"holding-{name}", Hold("Begun"))
    session = (begun := relay.create(name, f"a plain question of {name}"))["session"]
    assert said(begun) == HELLO
    first = set(relay.agents(name))
    held = relay.send(session, f"holding-{name}", wait=0)
    model.wait_for(lambda asked: f"holding-{name}" in asked.prompt, WAIT)
    relay.call("stop", session=session)
    assert relay.ended(held)["status"] == "stopped"
    assert said(relay.send(session, f"another plain question of {name}")) == HELLO
    (last, *_) = reversed(model.about(f"another plain question of {name}"))
    texts = [message.text for message in last.messages]
    assert any(f"a plain question of {name}" in text for text in texts)
    assert HELLO in texts
    assert first & set(relay.agents(name)), "the agent's process stays"


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_starts_a_session_with_our_tool_waits_for_it_and_reports(
    relay: Product, name: str, model: ModelServer
) -> None:
    call = {
        "action": "create_session",
        "relay": "this",
        "provider": "command",
        "text": f"echo done by a command for {name}",
        "wait_seconds": 60,
    }
    model.script.when(f"delegate-{name}", CallTool("relay_tool", call), report)
    begun = relay.create(name, f"delegate-{name}")
    assert f"done by a command for {name}" in said(begun)
    listed = relay.call("list_sessions", scope="all")["sessions"]
    (made,) = [one for one in listed if one["provider"] == "command" and name in one["title"]]
    assert made["createdBy"] == begun["session"], made


@pytest.mark.parametrize("name", AGENTS)
def test_a_permission_is_answered_from_the_inbox(relay: Product, name: str, model: ModelServer) -> None:
    made = relay.showcaller.folder / f"made-by-{name}"
    agent = relay.agent(name)
    model.script.when(f"shell-{name}", agent.shell(f"echo made > {made}"), Say("It was tried."))
    begun = relay.create(name, f"shell-{name}")
    assert begun["status"] == "waiting_for_answer", begun
    refused = answered(relay, begun, name, "reject_once")
    # Codex has no other no than to cancel the turn, and OpenCode ends it there without a word.
    assert (refused["status"], refused["stopReason"]) == {
        "claude": ("done", "end"),
        "codex": ("failed", "interrupted"),
        "opencode": ("done", "end"),
    }[name], refused
    assert not made.exists()
    again = relay.send(begun["session"], f"shell-{name} once more")
    assert said(answered(relay, again, name, "allow_once")) == "It was tried."
    assert made.read_text() == "made\n"


def answered(relay: Product, begun: Mapping[str, Any], name: str, kind: str) -> dict[str, Any]:
    """Answer the one card of a session from the inbox, and give the end of its turn."""
    items = json.loads(relay.showcaller("inbox", "--json").out)["items"]
    (card,) = [item for item in items if item["session"] == begun["session"]]
    assert card["kind"] == "permission", card
    (choice,) = [option["label"] for option in card["options"] if option.get("kind") == kind]
    answer = relay.showcaller("answer", card["id"], choice)
    assert answer.code == 0, answer
    return relay.ended(begun)


@pytest.mark.parametrize(
    ("name", "answer", "stop_reason"),
    [
        ("claude", Cut("Half an answer"), "end"),
        ("codex", Cut("Half an answer"), "end"),
        ("claude", Say("I will not.", stop="refusal"), "refused"),
        ("opencode", Say("I will not.", stop="refusal"), "refused"),
        ("claude", Say(""), "empty"),
        ("codex", Say(""), "empty"),
        ("opencode", Say(""), "empty"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_what_is_no_good_end_is_no_success(
    relay: Product, name: str, answer: Answer, stop_reason: str, model: ModelServer
) -> None:
    word = f"{name}-{type(answer).__name__}-{stop_reason}"
    model.script.when(word, answer)
    ended = relay.create(name, word)
    assert (ended["status"], ended["stopReason"]) == ("failed", stop_reason), ended


def report(asked: Asked) -> Say:
    """Report what the tool gave."""
    return Say(f"The tool gave: {asked.results[-1] if asked.results else 'nothing'}")


@pytest.mark.parametrize(
    ("name", "status", "error_class"),
    [
        ("claude", 401, "auth"),
        ("claude", 429, "rate_limit"),
        ("claude", 529, "overloaded"),
        ("codex", 401, "auth"),
        ("codex", 429, "rate_limit"),
        ("codex", 529, "overloaded"),
        ("opencode", 401, "auth"),
    ],
)
def test_what_the_model_refuses_fails_the_turn_with_its_class_and_is_no_reply(
    relay: Product, name: str, status: int, error_class: str, model: ModelServer
) -> None:
    word = f"refused-{name}-{status}"
    texts = {401: "Invalid authentication credentials", 429: "Rate limit reached", 529: "Overloaded"}
    model.script.when(word, Fail(status, texts[status]))
    begun = relay.create(name, word)
    assert (begun["status"], begun["errorClass"]) == ("failed", error_class), begun
    assert not (begun.get("reply") or {}).get("text"), "the text of an error is no reply"
