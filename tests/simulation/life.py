"""One run of a simulated relay, from its start to its death or its close."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from showcaller.actors.contract.ids import Prefix
from showcaller.actors.contract.provider_entries import ProviderCatalogue, ProviderEntry
from showcaller.actors.contract.settings import Settings
from showcaller.actors.relay.messages import Close, ToSession
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.settings_in_force import SettingsInForce
from showcaller.actors.relay.supervisor import Supervisor
from showcaller.actors.runtime import Future
from showcaller.actors.runtime.testkit import ManualClock, ManualDispatcher
from showcaller.transport.doors.local import LocalDoor
from tests.simulation.chances import Chances
from tests.simulation.port import SimPort, Workforce
from tests.simulation.storage import SimReader, SimWriter, WriterChances
from tests.simulation.surroundings import Surroundings

PROVIDERS = ProviderCatalogue(
    ProviderEntry("command", "Command"),
    ProviderEntry("steered", "An agent whose turns take messages", steers=True, agents_may_start=True),
)


RESTING = (0, 1, 500)
"""How many sessions stay awake with nothing to do, in one life or another."""


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
        workforce: Workforce,
        new_id: Callable[[Prefix], str],
        *,
        asks_owner: bool = False,
    ) -> None:
        self.name = f"relay{number}"
        self.path = home / "relay.db"
        seed = random.getrandbits(32)
        self.dispatcher = ManualDispatcher(seed=seed, clock=clock)
        self.trouble = WriterChances(
            chances.writer_dies, chances.writer_lost, chances.batch_again, chances.writer_actor_fails
        )
        self.writer = SimWriter(self.path, world, self.name, self.trouble)
        self.reader = SimReader(self.path, world, self.name, chances.read_fails)
        self.port = SimPort(self.name, world, chances, workforce)
        self.closed: Future[Any] | None = None
        self.ports = Ports(
            reader=self.reader,
            writer=self.writer,
            workers=self.port,
            worker=workforce.worker.name,
            outliving=self.port if chances.outlives else None,
            clock=clock,
            new_id=new_id,
            relay_name="simulated",
            default_folder=str(home),
            version="1",
            providers=PROVIDERS,
            resting=RESTING[seed % len(RESTING)],
            in_force=SettingsInForce(Settings(agent_sessions=True, unsafe_no_cards=not asks_owner)),
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

    def next_timer(self) -> float | None:
        """When the next timer fires; None when all that is still to come is the next tidying up."""
        timers = self.dispatcher.timers
        rounds = 0 if self.actor.keepers.housekeeper is None else 1
        return timers.next_due() if len(timers) > rounds else None

    def session_actors(self) -> dict[str, Any]:
        """The sessions that are awake."""
        return {session: ref._actor for session, ref in self.actor.directory.items()}

    def request_session(self, session: str, message: Any) -> Future[Any]:
        """Ask a session for something."""
        return self.supervisor.request(ToSession(session, message))

    def begin_close(self, *, leaves: bool) -> None:
        """Close it as its program would, and leave running turns to their worker, or end them."""
        self.door._closed = True
        self.closed = self.supervisor.request(Close(leaves=leaves))

    def drop(self) -> None:
        """Let go of the files."""
        self.writer.close()
        self.reader.close()
