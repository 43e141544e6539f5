"""The link between a simulated relay and its worker: it delays, doubles and reorders as real links may.

``numbered`` is the real conversation of ``transport/links`` over a carrier that disturbs single frames.
``direct`` stands above that layer, as a relay with several links sees them: order within a session only.
No frame is lost for good: nothing in ``transport/links`` sends one again yet, and so no carrier may lose one.
A worker that dies loses what was on its way, and its port answers for it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from showcaller.actors.contract.agent_messages import AnswerCard, CardAsked, CardWithdrawn
from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    RunTurn,
    StopTurn,
    ToWorkerMessage,
    TurnEnded,
    TurnTaken,
)
from showcaller.transport.links.memory import FrameBatch, MemoryLink, Receive
from showcaller.transport.links.relay import RelayLink
from showcaller.transport.links.workers import WorkerLink
from tests.simulation.surroundings import Surroundings

ToRelay = Callable[[Sequence[FromWorkerMessage]], None]
ToWorker = Callable[[Sequence[ToWorkerMessage]], None]
HARMLESS_TWICE = (RunTurn, StopTurn, TurnTaken, TurnEnded, CardAsked, CardWithdrawn, AnswerCard)


class Link(Protocol):
    """A link as both ends use it."""

    def to_worker(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Send to the worker."""

    def to_relay(self, messages: Sequence[FromWorkerMessage]) -> None:
        """Send to the relay."""


class NumberedLink:
    """The real conversation over a carrier that delays, doubles and reorders frames."""

    def __init__(
        self,
        world: Surroundings,
        owner: str,
        relay: ToRelay,
        worker: ToWorker,
        *,
        doubled: float,
        reordered: float,
    ) -> None:
        self._world = world
        self._owner = owner
        self._doubled = doubled
        self._reordered = reordered
        link = MemoryLink(self._carrier("there"), self._carrier("back"))
        relay_end = WorkerLink(link.relay_end, report=lambda _: None)
        worker_end = RelayLink(link.worker_end, report=lambda _: None)
        relay_end.connect(relay)
        worker_end.connect(worker)
        self.to_worker = relay_end.send
        self.to_relay = worker_end.send

    def _carrier(self, way: str) -> Callable[[Receive, FrameBatch], None]:
        def carry(receive: Receive, batch: FrameBatch) -> None:
            world = self._world
            for frame in batch:
                channel = None if world.happens(self._reordered) else (self._owner, way)
                copies = 2 if world.happens(self._doubled) else 1
                for _ in range(copies):
                    world.later(partial(receive, [frame]), owner=self._owner, channel=channel)

        return carry


class DirectLink:
    """Messages without numbers, in order within each session, harmless ones sometimes twice."""

    def __init__(
        self, world: Surroundings, owner: str, relay: ToRelay, worker: ToWorker, *, doubled: float
    ) -> None:
        self._world = world
        self._owner = owner
        self._doubled = doubled
        self._relay = relay
        self._worker = worker

    def to_worker(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Send to the worker."""
        self._carry("there", self._worker, messages)

    def to_relay(self, messages: Sequence[FromWorkerMessage]) -> None:
        """Send to the relay."""
        self._carry("back", self._relay, messages)

    def _carry(self, way: str, receive: Callable[[Any], None], messages: Sequence[Any]) -> None:
        for message in messages:
            channel = (self._owner, way, message.session)
            twice = isinstance(message, HARMLESS_TWICE) and self._world.happens(self._doubled)
            for _ in range(2 if twice else 1):
                self._world.later(partial(receive, [message]), owner=self._owner, channel=channel)


class Deaf:
    """The link of a worker without a relay: what it says is kept."""

    def __init__(self, unheard: list[FromWorkerMessage]) -> None:
        self._unheard = unheard

    def to_relay(self, messages: Sequence[FromWorkerMessage]) -> None:
        """Keep it."""
        self._unheard.extend(messages)

    def to_worker(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Nobody sends."""
