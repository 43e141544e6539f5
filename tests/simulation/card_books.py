"""The books of the cards on which agents wait in a simulated world."""

from dataclasses import dataclass, field
from random import Random

from showcaller.actors.contract.agent_messages import AnswerCard, CardAsked

Key = tuple[str, str]
"""A card's session and its worker's name for it."""


@dataclass
class CardBooks:
    """What agents have asked, what they have heard, and what those who answered were told."""

    random: Random | None = None
    asked: dict[Key, CardAsked] = field(default_factory=dict[Key, CardAsked])
    heard: dict[Key, AnswerCard] = field(default_factory=dict[Key, AnswerCard])
    given: dict[str, str] = field(default_factory=dict[str, str])  # cards by the relay's id, with their ends

    def happens(self, chance: float) -> bool:
        """Draw whether something happens, in a world in which agents ask."""
        return self.random is not None and self.random.random() < chance
