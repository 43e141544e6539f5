"""Settings that callers of a simulated world change; about those that agents change the owner is asked.

What is drawn here comes from a chance of its own, so that worlds without updates are what they were.
"""

from random import Random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tests.simulation.world import World

WORLDS: Final = 0.4  # of all, in which settings are changed
ACTS: Final = 0.25
BY_AGENTS: Final = 0.7


class Updates:
    """Who changes titles in one world, each to one that there was not before."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._random = Random(f"updates {world.seed}")
        self._is_there = self._random.random() < WORLDS
        self._titles = 0

    def act(self) -> bool:
        """Have somebody change something, if it happens; tells whether."""
        world, books = self._world, self._world.books
        sessions = world.callers.sessions
        if not self._is_there or not sessions or self._random.random() >= ACTS:
            return False
        self._titles += 1
        title, session = f"title {self._titles}", self._random.choice(sessions)
        agent: str | None = None
        working = [each for each in sessions if each != session and books.at_work(each)]
        if working and books.cards.asks_owner and self._random.random() < BY_AGENTS:
            agent = self._random.choice(working)
            books.cards.titles.add(title)
        world.call("update_session", None, agent, session=session, title=title)
        return True
