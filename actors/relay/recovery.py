"""What a relay does at its start, before the first call: end what was cut, and find what was left to do."""

import logging
from typing import Any, NamedTuple

from showcaller.actors.relay.answers import read, written
from showcaller.actors.relay.messages import Identity
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_of
from showcaller.actors.runtime import Actor, ActorRef
from showcaller.store.batch import Answer

logger = logging.getLogger("showcaller.relay")


class Recover(NamedTuple):
    """To the recovery: begin."""


class Recovered(NamedTuple):
    """To the supervisor: the relay may start, or why not; ``sessions`` have prompts that wait."""

    error: Exception | None
    identity: Identity | None = None
    sessions: tuple[str, ...] = ()


class Recovery(Actor):
    """Runs once: notes that the relay is open, ends the turns that were cut, and reads the outbox.

    The prompts of a fan-out are not started here: its own actor does that when it is resumed, within its
    bound of jobs. Without a writer the relay only looks, and nothing is changed.
    """

    registered = False

    def __init__(self, ports: Ports, writer: ActorRef[Any] | None, supervisor: ActorRef[Any]) -> None:
        super().__init__()
        self._ports = ports
        self._writer = writer
        self._supervisor = supervisor

    async def on_receive(self, message: Any) -> None:
        """Recover, tell the supervisor, and stop."""
        try:
            recovered = await self._recover(self._writer)
        except Exception as error:
            logger.exception("The relay cannot start")
            recovered = Recovered(error)
        self._supervisor.tell(recovered)
        self.stop()

    async def _recover(self, writer: ActorRef[Any] | None) -> Recovered:
        ports = self._ports
        if writer is None:
            return Recovered(None, _identity(await read(ports.reader, "relay")))
        at = ports.clock.wall()
        opened = await written(
            writer,
            "open_relay",
            relay=ports.new_id("rly_"),
            name=ports.relay_name,
            version=ports.version,
            at=at,
        )
        _raise_refusal(opened)
        interrupted = await written(writer, "interrupt_turns", at=at)
        _raise_refusal(interrupted)
        if interrupted.value:
            logger.warning("%d turns were cut when the relay ended", len(interrupted.value))
        left = await read(ports.reader, "unfinished")
        sessions = dict.fromkeys(row["session"] for row in left if row["fanout"] is None)
        return Recovered(None, _identity(opened.value), tuple(sessions))


def _identity(row: dict[str, Any] | None) -> Identity | None:
    return None if row is None else Identity(row["id"], row["name"])


def _raise_refusal(answer: Answer) -> None:
    refusal = refusal_of(answer)
    if refusal is not None:
        raise refusal
