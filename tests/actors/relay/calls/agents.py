"""Agents on a stage: providers that they may start, and callers that run in sessions."""

from typing import Any, Final

from showcaller.actors.contract.provider_entries import BUILT_IN, ProviderCatalogue, ProviderEntry
from showcaller.actors.contract.settings import Settings
from showcaller.actors.relay.calls import Caller
from showcaller.actors.runtime import Future
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

OPEN: Final = Settings(agent_sessions=True, unsafe_no_cards=True)
"""Agents may use sessions, and nobody is asked."""

HELPER: Final = ProviderEntry("helper", "Helper", agents_may_start=True)
SCRIBE: Final = ProviderEntry("scribe", "Scribe", agents_may_start=True)
JOINER: Final = ProviderEntry("joiner", "Joiner", steers=True)
PROVIDERS: Final = ProviderCatalogue(*BUILT_IN, HELPER, SCRIBE, JOINER)
"""The built-in ones, two that agents may start, and one whose turns can be joined."""


def open_to_agents(open_stage: OpenStage, seed: int | None = None, **settings: Any) -> Stage:
    """Open a stage on which agents may work."""
    more = OPEN.model_copy(update=settings)
    return open_stage(seed, settings=more, providers=PROVIDERS)


class Agent:
    """The agent of a session, as a caller."""

    def __init__(self, stage: Stage, session: str) -> None:
        self.stage = stage
        self.session = session
        self.caller = Caller("agent", session)

    def begin(self, action: str, client_id: str | None = None, /, **arguments: Any) -> "Future[Any]":
        """Begin a call, and give the future of its result."""
        return self.stage.begin(action, client_id, self.caller, **arguments)

    def call(self, action: str, client_id: str | None = None, /, **arguments: Any) -> dict[str, Any]:
        """Carry out a call, and give its result."""
        return self.stage.call(action, client_id, self.caller, **arguments)

    def start(self, text: str = "help", **more: Any) -> str:
        """Start a session, and give its id."""
        made = self.call("create_session", text=text, wait_seconds=0, **more)
        assert made["ok"], made
        session: str = made["session"]
        return session

    def start_agent(self, text: str = "help", **more: Any) -> "Agent":
        """Start a session, and give its agent."""
        return Agent(self.stage, self.start(text, **more))


def agent(stage: Stage, text: str = "work", **more: Any) -> Agent:
    """Have the owner start a session whose turn runs, and give its agent."""
    session, _ = stage.create(text, **{"provider": "helper", **more})
    return Agent(stage, session)


def end_turn(stage: Stage, session: str, **more: Any) -> None:
    """End the turn that runs in a session."""
    (turn,) = [run.turn for run in stage.workers.open.values() if run.session == session]
    stage.workers.end(turn, **more)
    stage.settle()
