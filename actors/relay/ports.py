"""What the domain needs from outside, as Protocols; ``showcaller/`` joins them with what implements them."""

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from showcaller.actors.contract.agent_messages import McpServer
from showcaller.actors.contract.fates import Left
from showcaller.actors.contract.handshakes import Handshake
from showcaller.actors.contract.provider_entries import BUILT_IN, ProviderCatalogue
from showcaller.actors.contract.provider_states import NO_HANDSHAKES, FindProgram
from showcaller.actors.contract.settings import Settings
from showcaller.actors.contract.worker import FromWorkerMessage, RunTurn, ToWorkerMessage
from showcaller.actors.relay.agent_states import AgentStates
from showcaller.actors.relay.settings_in_force import SettingsInForce
from showcaller.store.batch import Batch, BatchDone

if TYPE_CHECKING:
    from showcaller.actors.contract.ids import Prefix
    from showcaller.actors.runtime import Clock

FromWorkers = Sequence[FromWorkerMessage]


class WriterPort(Protocol):
    """The only way to change what is stored. Thread-safe; one batch is under way at a time."""

    def submit(self, batch: Batch, done: BatchDone) -> None:
        """Run a batch in one transaction and give one answer per command, in order, to ``done``.

        Never blocks and never raises for what storage does: that comes as answers. ``done`` runs on a
        thread of the port's choice and must only hand over (``ref.tell``).
        """

    def close(self) -> None:
        """Finish what was submitted, close the database, and wait until that is done."""


class ReaderPort(Protocol):
    """Queries on read-only connections, off the dispatcher. Thread-safe."""

    def read(
        self, name: str, arguments: dict[str, Any], done: Callable[[Any, Exception | None], None]
    ) -> None:
        """Run the query ``store.queries.<name>(**arguments)`` and give ``done`` its value or its error."""

    def close(self) -> None:
        """Wait for queries under way and close the connections."""


class WorkerPort(Protocol):
    """The relay's end of the link to its workers. Thread-safe."""

    def connect(self, deliver: Callable[[FromWorkers], None]) -> None:
        """Say who gets what workers send; called once, before the first ``send``."""

    def send(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Hand messages to the link in one batch, in order; never blocks.

        A turn whose worker is gone is returned.
        """

    def close(self) -> None:
        """End the running turns and wait for the workers' last messages, unless these outlive us; hang up."""


class OutlivingWorkers(Protocol):
    """What is known of workers that go on when their relay ends. Thread-safe."""

    def place(self, session: str) -> str | None:
        """Give the name of the worker that this session's next turn goes to; None when none is left."""
        ...

    def ask_again(self, run: RunTurn) -> bool:
        """Ask its worker how a turn stands that an earlier relay gave it; False when that is not there."""
        ...

    def expect_task(self, session: str, task: str, worker: str) -> bool:
        """Answer for a task of an earlier relay as for one that this one was told of; False when it is gone.

        ``task`` is the worker's name for it.
        """
        ...

    def has(self, worker: str) -> bool:
        """Tell whether a worker of this name is there."""
        ...

    def left_by(self, worker: str) -> Left | None:
        """Give what a dead worker had taken; None for a worker of which nothing is known."""

    def recovered(self, going_on: Collection[str]) -> None:
        """All that workers had of earlier relays is stored, but for these turns that they still have."""


class ClonePort(Protocol):
    """Where sessions' clones are. Thread-safe."""

    def folder(self, session: str) -> str:
        """Give the folder of a session's clone, whether it is there or not."""
        ...

    def left(self, session: str, done: Callable[[str | None], None], *, deletes: bool) -> None:
        """Give ``done`` a sentence on what a session that was put away has left in its clone, if it has one.

        With ``deletes`` the clone goes, unless there may be something in it that is not pushed. Never blocks.
        """


class NoClones:
    """For a relay that has no place for clones."""

    def folder(self, session: str) -> str:
        """Raise: whoever asks for one was to ask the relay's owner for a place first."""
        raise RuntimeError(f"this relay has no place for the clone of {session}")

    def left(self, session: str, done: Callable[[str | None], None], *, deletes: bool) -> None:
        """Say that there is none."""
        del session, deletes
        done(None)


def _always() -> bool:
    return True


def _no_handshakes() -> Mapping[str, Handshake]:
    return NO_HANDSHAKES


AgentVariables = Callable[[str, str], Mapping[str, str]]
"""Gives what the agent process of a session and turn finds in its environment besides."""


def no_variables(_session: str, _turn: str) -> Mapping[str, str]:
    """Give nothing: the relay has no door by which its agents could call it."""
    return {}


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything from outside, as the supervisor gets it.

    ``writer`` is None in a relay that was opened for reading only. ``new_id`` makes ids
    (``contract.ids.new_id``, or a seeded one in a simulation); ``worker`` names the worker that gets the
    prompts; ``default_folder`` is where sessions work that name no folder; ``relay_runs`` tells a relay
    that was opened for reading whether another one has the store's turns in hand; ``in_force`` are the
    owner's settings, and ``providers`` what sessions can run: ``find_program`` tells what of it is
    installed, and ``handshakes`` which agents have been seen to work. ``outliving`` is None when the
    workers end with the relay; then ``worker`` names the one that there is. ``resting`` is how many sessions
    stay awake that have nothing to do: the next prompt of one need not read it from the store.
    With ``takes_up`` the relay runs prompts that waited before it was opened, without one of its callers
    asking for their session.
    ``agent_variables`` gives an agent process what it needs to call this relay; nothing of it may be stored.
    ``agent_door`` is the MCP server by which agents call it; ``agents`` is what is known of their processes;
    ``clones`` is where those are that sessions work on.
    """

    reader: ReaderPort
    writer: WriterPort | None
    workers: WorkerPort
    worker: str
    clock: "Clock"
    new_id: "Callable[[Prefix], str]"
    relay_name: str
    default_folder: str
    version: str
    relay_runs: Callable[[], bool] = _always
    in_force: SettingsInForce = field(default_factory=SettingsInForce)
    providers: ProviderCatalogue = BUILT_IN
    find_program: FindProgram = shutil.which
    handshakes: Callable[[], Mapping[str, Handshake]] = _no_handshakes
    outliving: OutlivingWorkers | None = None
    resting: int = 0
    takes_up: bool = True
    agent_variables: AgentVariables = no_variables
    agent_door: McpServer | None = None
    agents: AgentStates = field(default_factory=AgentStates)
    clones: ClonePort = field(default_factory=NoClones)

    def worker_of(self, session: str) -> str | None:
        """Give the name of the worker that this session's next turn goes to; None while there is none."""
        return self.worker if self.outliving is None else self.outliving.place(session)

    @property
    def settings(self) -> Settings:
        """The owner's settings as they are now: ask again each time, since they change."""
        return self.in_force.now
