"""The books of the cards on which agents and their calls wait in a simulated world."""

from dataclasses import dataclass, field
from random import Random
from typing import Final

from showcaller.actors.contract.agent_messages import AnswerCard, CardAsked

WORLDS: Final = 0.4  # of all, in which agents ask
APPROVALS_IN: Final = 0.5  # of these, in which the owner is asked before what agents write is carried out
Key = tuple[str, str]
"""A card's session and its worker's name for it."""


@dataclass
class CardBooks:
    """What agents have asked, what they have heard, and what those who answered were told."""

    random: Random | None = None
    asked: dict[Key, CardAsked] = field(default_factory=dict[Key, CardAsked])
    heard: dict[Key, AnswerCard] = field(default_factory=dict[Key, AnswerCard])
    given: dict[str, str] = field(default_factory=dict[str, str])  # cards by the relay's id, with their ends
    asks_owner: bool = False  # about what agents write
    allowed: set[str] = field(default_factory=set[str])  # prompts and titles whose card was allowed
    titles: set[str] = field(default_factory=set[str])  # that agents want sessions to have
    allowed_on: set[str] = field(default_factory=set[str])  # those cards

    def draw(self, seed: int) -> None:
        """Draw whether agents ask in a world, and whether its owner is asked about what they write."""
        chance = Random(f"cards {seed}")
        if chance.random() < WORLDS:
            self.random = chance
            self.asks_owner = Random(f"approvals {seed}").random() < APPROVALS_IN

    def happens(self, chance: float) -> bool:
        """Draw whether something happens, in a world in which agents ask."""
        return self.random is not None and self.random.random() < chance
