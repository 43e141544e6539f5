"""What a relay does at its start, before the first call: end what was cut, and find what was left to do."""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from showcaller.actors.contract.fates import Fate, fate_of
from showcaller.actors.contract.ids import Prefix
from showcaller.actors.relay.answers import read, written
from showcaller.actors.relay.messages import Identity
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_of
from showcaller.actors.relay.turn_records import StoreCommand, end_arguments
from showcaller.actors.runtime import Actor, ActorRef
from showcaller.store.batch import Answer

logger = logging.getLogger("showcaller.relay")


class Recover(NamedTuple):
    """To the recovery: begin."""


class Recovered(NamedTuple):
    """To the supervisor: the relay may start, or why not; ``sessions`` have something under way."""

    error: Exception | None
    identity: Identity | None = None
    sessions: tuple[str, ...] = ()


class Recovery(Actor):
    """Runs once: reads the settings, notes that the relay is open, ends cut turns, and reads the outbox.

    The prompts of a fan-out are not started here: its own actor does that when it is resumed, within its
    bound of jobs. Nor is any in a relay that takes up nothing. Without a writer the relay only looks, and
    nothing is changed.
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
        ports.in_force.take_kept(await read(ports.reader, "settings"))
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
        going_on = await self._settle_turns(writer, at)
        tasks = await self._tasks_going_on()
        spared = {"spare": [row["id"] for row in going_on], "spare_tasks": [row["id"] for row in tasks]}
        interrupted = await written(writer, "interrupt_turns", at=at, **spared)
        _raise_refusal(interrupted)
        if interrupted.value:
            logger.warning("%d turns were cut when the relay ended", len(interrupted.value))
        if ports.outliving is not None:
            ports.outliving.recovered([row["id"] for row in going_on])
        left = await read(ports.reader, "unfinished") if ports.takes_up else []
        waiting = [row for row in left if row["fanout"] is None]
        sessions = dict.fromkeys(row["session"] for row in (*going_on, *tasks, *waiting))
        asking = await read(ports.reader, "approvals_without_turn")
        return Recovered(None, _identity(opened.value), tuple(sessions | dict.fromkeys(asking)))

    async def _settle_turns(self, writer: ActorRef[Any], at: int) -> list[dict[str, Any]]:
        """Store how turns stand whose workers have died meanwhile; gives those whose workers are there."""
        outliving = self._ports.outliving
        if outliving is None:
            return []
        going_on = []
        for row in await read(self._ports.reader, "handed"):
            if outliving.has(row["worker"]):
                going_on.append(row)
                continue
            fate = fate_of(row["id"], outliving.left_by(row["worker"]))
            command = fate_command(row["id"], fate, self._ports.new_id, at)
            if command is not None:
                _raise_refusal(await written(writer, command.name, **command.arguments))
        return going_on

    async def _tasks_going_on(self) -> list[dict[str, Any]]:
        """Give the background tasks whose workers are there, which answer for them from now on."""
        outliving = self._ports.outliving
        if outliving is None:
            return []
        rows: list[dict[str, Any]] = await read(self._ports.reader, "tasks_at_workers")
        return [
            row for row in rows if outliving.expect_task(row["session"], row["worker_task"], row["worker"])
        ]


def fate_command(message: str, fate: Fate, new_id: Callable[[Prefix], str], at: int) -> StoreCommand | None:
    """Give what stores the fate of a turn; None for one that is interrupted with all others. Pure."""
    if fate == "unknown":
        return None
    if fate == "untaken":
        return StoreCommand("take_back", {"message": message})
    return StoreCommand("end_turn", end_arguments(fate, new_id("msg_") if fate.reply else None, at))


def _identity(row: dict[str, Any] | None) -> Identity | None:
    return None if row is None else Identity(row["id"], row["name"])


def _raise_refusal(answer: Answer) -> None:
    refusal = refusal_of(answer)
    if refusal is not None:
        raise refusal
