"""A worker's host whose agents are fake ones, with the relay's end in the test's hands."""

import os
import sys
from pathlib import Path
from typing import Any

from showcaller.actors.contract.agent_messages import (
    AgentSpec,
    AgentState,
    AnswerCard,
    CardAsked,
    CardWithdrawn,
)
from showcaller.actors.contract.worker import KillAgent, TurnEnded
from showcaller.transport.worker.acp.provider import AcpProvider
from tests.transport.worker.stage import Stage

FAKE = Path(__file__).parents[3] / "agents" / "fake_agent.py"


class AgentDesk:
    """Runs turns of fake agents, each session with a folder of its own."""

    def __init__(self, folder: Path, marker: str, grace: float = 5.0, **options: Any) -> None:
        self.folder = folder
        self.memory = folder / "memory"
        self.memory.mkdir(exist_ok=True)
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        name, _, value = marker.partition("=")
        around = {**os.environ, name: value, "FAKE_AGENT_STATE": str(self.memory)}
        self.provider = AcpProvider(around, **options)
        self.stage = Stage({}, grace, agents=self.provider)
        self.session = "ses_stage"
        self.answered: set[str] = set()

    def spec(self, *options: str, **more: Any) -> AgentSpec:
        """Give how a fake agent is run, with options of its command line."""
        command = (sys.executable, "-S", "-E", str(FAKE), *options)
        told: dict[str, Any] = {
            "name": "fake",
            "label": "Fake agent",
            "command": command,
            "kill_grace": 0.5,
            **more,
        }
        return AgentSpec(**told)

    def start(self, text: str, *options: str, turn_more: Any = None, **more: Any) -> str:
        """Hand over a turn and give its id."""
        told = {"cwd": str(self.work), "background": True, **(turn_more or {})}
        return self.stage.start(text, provider="fake", agent=self.spec(*options, **more), **told)

    async def run(self, text: str, *options: str, turn_more: Any = None, **more: Any) -> TurnEnded:
        """Hand over a turn and give its end."""
        return await self.stage.end_of(self.start(text, *options, turn_more=turn_more, **more))

    async def card(self, turn: str, number: int = 1) -> CardAsked:
        """Wait for a card of a turn, the first or a later one."""

        await self.stage.first(lambda _: len(self.cards(turn)) >= number)
        return self.cards(turn)[number - 1]

    def cards(self, turn: str) -> list[CardAsked]:
        return [m for m in self.stage.messages if isinstance(m, CardAsked) and m.turn == turn]

    async def withdrawn(self, card: CardAsked) -> CardWithdrawn:
        return await self.stage.first(lambda m: isinstance(m, CardWithdrawn) and m.card == card.card)  # type: ignore[no-any-return]

    def answer(self, card: CardAsked, outcome: Any = "answered", **more: Any) -> None:
        """Say what became of a card."""
        told: dict[str, Any] = {
            "session": card.session,
            "turn": card.turn,
            "card": card.card,
            "outcome": outcome,
            **more,
        }
        self.answered.add(card.card)
        self.stage.relay.send([AnswerCard(**told)])

    def kill(self) -> None:
        """End the session's agent."""
        self.stage.relay.send([KillAgent(session=self.session)])

    def states(self) -> list[AgentState]:
        return [m for m in self.stage.messages if isinstance(m, AgentState)]

    async def state(self, state: str, number: int = 1) -> AgentState:
        """Wait until the agent is told to stand so, the first time or a later one."""

        def is_it(_: Any) -> bool:
            return len([each for each in self.states() if each.state == state]) >= number

        await self.stage.first(is_it)
        return [each for each in self.states() if each.state == state][number - 1]

    def all_cards(self) -> list[CardAsked]:
        return [m for m in self.stage.messages if isinstance(m, CardAsked)]

    def closed_cards(self) -> set[str]:
        """The cards that were answered or taken back."""
        return {m.card for m in self.stage.messages if isinstance(m, CardWithdrawn)} | self.answered
