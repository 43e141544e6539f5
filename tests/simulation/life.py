"""One run of a simulated relay, from its start to its death or its close."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from showcaller.actors.contract.ids import Prefix
from showcaller.actors.contract.provider_entries import ProviderCatalogue, ProviderEntry
from showcaller.actors.contract.settings import Settings
from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    RunTurn,
    TaskEnded,
    TaskStarted,
    ToWorkerMessage,
    TurnEnded,
)
from showcaller.actors.relay.messages import Close, ToSession
from showcaller.actors.relay.ports import FromWorkers, Ports
from showcaller.actors.relay.supervisor import Supervisor
from showcaller.actors.runtime import Future
from showcaller.actors.runtime.testkit import ManualClock, ManualDispatcher
from showcaller.transport.doors.local import LocalDoor
from tests.simulation.books import Books
from tests.simulation.chances import Chances
from tests.simulation.link import DirectLink, Link, NumberedLink
from tests.simulation.storage import SimReader, SimWriter, WriterChances
from tests.simulation.surroundings import Surroundings
from tests.simulation.worker import SimWorker

PROVIDERS = ProviderCatalogue(
    ProviderEntry("command", "Command"),
    ProviderEntry("steered", "An agent whose turns take messages", steers=True, agents_may_start=True),
)


class SimPort:
    """The relay's worker port; when a worker dies it answers for its turns, and another takes its place."""

    def __init__(
        self,
        relay: str,
        world: Surroundings,
        random: Random,
        chances: Chances,
        books: Books,
        name: Callable[[], str],
    ) -> None:
        self._relay = relay
        self._world = world
        self._random = random
        self._chances = chances
        self._books = books
        self._name = name
        self._deliver: Callable[[FromWorkers], None] = lambda _: None
        self._sent: dict[str, RunTurn] = {}
        self._tasks: dict[str, TaskStarted] = {}
        self._start_worker()

    def _start_worker(self) -> None:
        name = self._name()
        self.worker = SimWorker(self._world, self._random, self._chances, self._books, name)
        self._link = self._new_link(name)
        self.worker.link = self._link

    def _new_link(self, name: str) -> Link:
        world, chances, receive = self._world, self._chances, self.worker.receive
        if chances.direct:
            return DirectLink(world, name, self._arrived, receive, doubled=chances.doubled)
        return NumberedLink(
            world, name, self._arrived, receive, doubled=chances.doubled, reordered=chances.reordered
        )

    def connect(self, deliver: Callable[[FromWorkers], None]) -> None:
        """Say who gets what the worker sends."""
        self._deliver = deliver

    def send(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Hand messages to the link."""
        for message in messages:
            if isinstance(message, RunTurn):
                self._sent[message.turn] = message
                self._books.sent(message)
        self._link.to_worker(messages)

    def _arrived(self, messages: Sequence[FromWorkerMessage]) -> None:
        for message in messages:
            if isinstance(message, TurnEnded):
                self._sent.pop(message.turn, None)
            elif isinstance(message, TaskStarted):
                self._tasks[message.task] = message
            elif isinstance(message, TaskEnded):
                self._tasks.pop(message.task, None)
        self._deliver(messages)

    def worker_dies(self) -> str:
        """The worker dies: what it had is interrupted, and another one starts. Gives the dead one's name."""
        dead, lost, self._sent = self.worker.name, self._sent, {}
        self._start_worker()
        ends = [
            TurnEnded(session=run.session, turn=run.turn, outcome="failed", stop_reason="interrupted")
            for run in lost.values()
        ]
        for end in ends:
            self._books.ends.pop(end.turn, None)
            self._books.excused.add(end.turn)
        tasks, self._tasks = self._tasks, {}
        gone = [TaskEnded(session=one.session, task=one.task, outcome="stopped") for one in tasks.values()]
        if ends or gone:
            self._world.later(lambda: self._deliver([*ends, *gone]), owner=self._relay)
        return dead

    @property
    def at_worker(self) -> list[str]:
        """The turns that were sent and whose end has not come back."""
        return list(self._sent)

    def close(self) -> None:
        """Nothing to close."""


class Life:
    """A relay that runs: its dispatcher, its ports, and its door."""

    def __init__(
        self,
        number: int,
        home: Path,
        world: Surroundings,
        random: Random,
        clock: ManualClock,
        chances: Chances,
        books: Books,
        new_id: Callable[[Prefix], str],
        worker_name: Callable[[], str],
    ) -> None:
        self.name = f"relay{number}"
        self.path = home / "relay.db"
        self.dispatcher = ManualDispatcher(seed=random.getrandbits(32), clock=clock)
        self.trouble = WriterChances(
            chances.writer_dies, chances.writer_lost, chances.batch_again, chances.writer_actor_fails
        )
        self.writer = SimWriter(self.path, world, self.name, self.trouble)
        self.reader = SimReader(self.path, world, self.name, chances.read_fails)
        self.port = SimPort(self.name, world, random, chances, books, worker_name)
        self.closed: Future[Any] | None = None
        self.ports = Ports(
            reader=self.reader,
            writer=self.writer,
            workers=self.port,
            worker=new_id("wrk_"),
            clock=clock,
            new_id=new_id,
            relay_name="simulated",
            default_folder=str(home),
            version="1",
            providers=PROVIDERS,
            settings=Settings(agent_sessions=True, unsafe_no_cards=True),
        )
        with self.dispatcher:
            self.supervisor = Supervisor.start(self.ports, new_id("rly_"))
        self.door = LocalDoor(self.supervisor, self.ports, self.dispatcher)

    @property
    def actor(self) -> Supervisor:
        """The supervisor itself, to look at."""
        actor = self.supervisor._actor
        assert isinstance(actor, Supervisor)
        return actor

    @property
    def has_failed(self) -> bool:
        """Whether this relay could not start, or has lost its writer for good."""
        return self.actor._failed is not None

    @property
    def is_ready(self) -> bool:
        """Whether the relay's own threads have something to do."""
        return bool(self.dispatcher._ready)

    def session_actors(self) -> dict[str, Any]:
        """The sessions that are awake."""
        return {session: ref._actor for session, ref in self.actor.directory.items()}

    def request_session(self, session: str, message: Any) -> Future[Any]:
        """Ask a session for something."""
        return self.supervisor.request(ToSession(session, message))

    def begin_close(self) -> None:
        """Close it as its embedding program would; the door takes no further calls."""
        self.door._closed = True
        self.closed = self.supervisor.request(Close())

    def drop(self) -> None:
        """Let go of the files."""
        self.writer.close()
        self.reader.close()
