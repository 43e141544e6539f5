"""The provider of agents, light as long as none runs: the protocol's package takes half a second to load."""

import asyncio
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from showcaller.actors.contract.agent_messages import AnswerCard
from showcaller.actors.contract.worker import FromWorkerMessage, RunTurn
from showcaller.transport.worker.providers import Result, Sink

if TYPE_CHECKING:
    from showcaller.transport.worker.acp.seats import Seats

SEATS: Final = "showcaller.transport.worker.acp.seats"


class AcpProvider:
    """Runs turns of agents that speak the Agent Client Protocol; ``Seats`` says how, and has the options."""

    def __init__(self, environment: Mapping[str, str] | None = None, **options: Any) -> None:
        """Take what stands for the environment of this process, if anything, and options of ``Seats``."""
        self._environment = environment
        self._options = options
        self._post: Callable[[FromWorkerMessage], None] = lambda _: None
        self._seats: Seats | None = None

    @property
    def processes(self) -> list[int]:
        """The ids of the agents' processes that are there."""
        return [] if self._seats is None else self._seats.processes

    def connect(self, post: Callable[[FromWorkerMessage], None]) -> None:
        """Say who gets what agents ask and how they stand."""
        self._post = post

    async def run(self, turn: RunTurn, sink: Sink) -> Result:
        """Run one turn to its end."""
        seats = self._seats or await self._loaded()
        return await seats.run(turn, sink)

    async def _loaded(self) -> "Seats":
        module = await asyncio.to_thread(import_module, SEATS)
        if self._seats is not None:  # another turn was quicker
            return self._seats
        made: Seats = module.Seats(self._post, self._environment, **self._options)
        self._seats = made
        return made

    def kill(self, session: str) -> None:
        """End the session's agent process at once, with all that it has started."""
        if self._seats is not None:
            self._seats.kill(session)

    def answer(self, answer: AnswerCard) -> None:
        """Take what became of a card; one that nobody waits for is dropped."""
        if self._seats is not None:
            self._seats.answer(answer)

    def tell_all(self) -> None:
        """Tell how all agents stand, and what they ask: another relay has come."""
        if self._seats is not None:
            self._seats.tell_all()

    async def close(self) -> None:
        """End all agents, first politely."""
        if self._seats is not None:
            await self._seats.close()
