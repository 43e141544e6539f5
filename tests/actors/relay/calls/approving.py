"""An owner on a stage who is asked about agents' calls, and says what becomes of them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from showcaller.actors.contract.handshakes import Handshake
from showcaller.actors.contract.inbox import Answer
from showcaller.actors.contract.outside import read_request
from showcaller.actors.contract.provider_entries import ProviderCatalogue, ProviderEntry
from showcaller.actors.relay.calls import AnswerRequest
from showcaller.actors.runtime import Future
from tests.actors.relay.asking import waiting
from tests.actors.relay.calls.agents import OPEN, PROVIDERS, Agent, agent
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

ASSISTANT: Final = ProviderEntry("assistant", "Assistant", agents_may_start=True, kind="acp")
"""What agents may start and is no command."""
WITH_ASSISTANT: Final = ProviderCatalogue(*PROVIDERS, ASSISTANT)
ASKING: Final = OPEN.model_copy(update={"unsafe_no_cards": False})
"""Agents may use sessions, and the owner is asked."""


def open_asking(
    open_stage: OpenStage, told: Mapping[str, Handshake] = MappingProxyType({}), **settings: Any
) -> Stage:
    """Open a stage on which agents may work, and the owner is asked; ``told`` is what agents offer."""
    return open_stage(
        settings=ASKING.model_copy(update=settings), providers=WITH_ASSISTANT, handshakes=lambda: told
    )


def assistant(stage: Stage, mode: str = "agent", **more: Any) -> Agent:
    """Have the owner start a session of an agent that is no command, in a mode, and give its agent."""
    return agent(stage, **{"provider": "assistant", "mode": mode, **more})


def approvals(stage: Stage) -> list[dict[str, Any]]:
    """The approval cards that wait, newest first."""
    return [card for card in waiting(stage) if card["kind"] == "approval"]


def only_card(stage: Stage) -> dict[str, Any]:
    """The one approval card that waits."""
    (card,) = approvals(stage)
    return card


def begin_call(caller: Agent, action: str, client_id: str | None = None, /, **more: Any) -> "Future[Any]":
    """Begin a call, and let happen what can without the owner."""
    waits = {"wait_seconds": 0} if action in {"send", "create_session"} else {}
    begun = caller.begin(action, client_id, **{**waits, **more})
    caller.stage.settle()
    return begun


def answer(stage: Stage, card: str, choice: str = "Allow", id: str | None = None) -> dict[str, Any]:  # noqa: A002
    """Answer a card as the owner."""
    asked = read_request(Answer, {"question_id": card, "choices": [choice]})
    begun = stage.door._request(AnswerRequest(asked, id))
    stage.settle()
    result: dict[str, Any] = begun.get()
    return result


def allow(stage: Stage) -> None:
    """Allow what the one card asks."""
    assert answer(stage, only_card(stage)["id"])["ok"]


def allowed(caller: Agent, action: str, /, **more: Any) -> dict[str, Any]:
    """Make a call about which the owner is asked once, and allows it; gives its result."""
    begun = begin_call(caller, action, **more)
    allow(caller.stage)
    assert approvals(caller.stage) == [], "it was asked about twice"
    result: dict[str, Any] = begun.get()
    return result


def standing(stage: Stage, caller: Agent) -> list[str]:
    """What stands allowed in a conversation."""
    found: list[str] = stage.read("standing_approvals", conversation=caller.session)
    return found


def unasked(stage: Stage, caller: Agent) -> int:
    """How many prompts an agent has sent unasked."""
    count: int = stage.read("load_session", session=caller.session)["prompts_unasked"]
    return count


def others(stage: Stage, **more: Any) -> tuple[str, str]:
    """A session that the owner started, and its turn."""
    return stage.create("theirs", provider="assistant", **more)


def sessions(stage: Stage) -> int:
    """How many sessions are stored."""
    count: int = stage.read("counts")["sessions"]
    return count
