"""A whole relay on the test's own thread: manual dispatcher and clock, a real store, a scripted worker.

Nothing happens but what the test lets happen: ``settle`` runs actors, ``Workers`` records what it is sent
and says what the test has it say, ``StageWriter`` can refuse, hold or lose what it is given.
"""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from showcaller.actors.contract.fanout import FanoutSpec
from showcaller.actors.contract.handshakes import Handshake
from showcaller.actors.contract.ids import Prefix, new_id
from showcaller.actors.contract.provider_entries import BUILT_IN, ProviderCatalogue
from showcaller.actors.contract.settings import DEFAULTS, Settings
from showcaller.actors.contract.worker import RunTurn
from showcaller.actors.relay.calls import OWNER, Caller
from showcaller.actors.relay.fanout_messages import FanoutRequest, StopFanout
from showcaller.actors.relay.messages import Close, StopRunning, ToSession
from showcaller.actors.relay.ports import ClonePort, NoClones, OutlivingWorkers, Ports, WorkerPort
from showcaller.actors.relay.settings_in_force import SettingsInForce
from showcaller.actors.relay.supervisor import Supervisor
from showcaller.actors.runtime import Future
from showcaller.actors.runtime.testkit import ManualDispatcher
from showcaller.store.database import open_for_reading
from showcaller.store.readers import run_query
from showcaller.transport.doors.local import LocalDoor
from tests.actors.relay.parts import Results, StageReader, StageWriter, Workers

NAME = "stage"


class Stage:
    """One run of a relay over a data folder; ``again`` drops it and starts another over the same."""

    opened: ClassVar[list["Stage"]] = []

    def __init__(
        self,
        home: Path,
        seed: int | None = None,
        *,
        read_only: bool = False,
        workers: WorkerPort | None = None,
        settled: bool = True,
        settings: Settings = DEFAULTS,
        providers: ProviderCatalogue = BUILT_IN,
        outliving: OutlivingWorkers | None = None,
        relay_runs: Callable[[], bool] = lambda: True,
        resting: int = 0,
        takes_up: bool = True,
        clones: ClonePort | None = None,
        handshakes: Callable[[], Mapping[str, Handshake]] = dict,
    ) -> None:
        self.home = home
        self.path = home / "relay.db"
        self.random = random.Random(seed)
        self.dispatcher = ManualDispatcher(seed=seed)
        self.writer = None if read_only else StageWriter(self.path)
        self.reader = StageReader(self.path)
        Stage.opened.append(self)
        self.workers = Workers()
        self.ports = Ports(
            reader=self.reader,
            writer=self.writer,
            workers=self.workers if workers is None else workers,
            worker="wrk_000000000001",
            clock=self.dispatcher.manual_clock,
            new_id=self.new_id,
            relay_name=NAME,
            default_folder=str(home),
            version="1",
            in_force=SettingsInForce(settings),
            providers=providers,
            outliving=outliving,
            relay_runs=relay_runs,
            resting=resting,
            takes_up=takes_up,
            clones=NoClones() if clones is None else clones,
            handshakes=handshakes,
        )
        with self.dispatcher:
            self.supervisor = Supervisor.start(self.ports, self.new_id("rly_"))
        self.door = LocalDoor(self.supervisor, self.ports, self.dispatcher)
        if settled:
            self.settle()

    _ids = random.Random(1)

    def new_id(self, prefix: Prefix) -> str:
        """Make an id that repeats from run to run and comes once in it."""
        return new_id(prefix, Stage._ids.randrange)

    @property
    def store(self) -> StageWriter:
        """The writer, of a relay that has one."""
        assert self.writer is not None
        return self.writer

    # -- letting things happen ---------------------------------------------------------------------

    def settle(self) -> None:
        """Run every actor until nothing is left to do."""
        self.dispatcher.settle(limit=2_000_000)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.dispatcher.advance(seconds)

    def close(self) -> None:
        """Close the relay as the embedding program does; NothingToRun tells of one that never would."""
        with self.dispatcher:
            self.door.close()
        self.drop()

    def drop(self) -> None:
        """Let the relay die where it stands."""
        if self.writer is not None:
            self.writer.close()
        self.reader.close()

    def again(self, seed: int | None = None) -> "Stage":
        """Let the relay die, if it has not been closed, and start another over what it stored."""
        self.drop()
        return Stage(self.home, seed)

    def ask_close(self) -> "Future[Any]":
        """Ask the relay to close and give the future of its answer, without running anything."""
        return self.supervisor.request(Close())

    # -- calls -------------------------------------------------------------------------------------

    def begin(
        self, action: str, client_id: str | None = None, by: Caller = OWNER, /, **arguments: Any
    ) -> "Future[Any]":
        """Begin a call, of the owner unless somebody else is named, and give the future of its result."""
        call = {"action": action, "relay": "this", **arguments}
        return self.door._begin(call, by, client_id)

    def call(
        self, action: str, client_id: str | None = None, by: Caller = OWNER, /, **arguments: Any
    ) -> dict[str, Any]:
        """Carry out a call and give its result; time stands still, so nothing that waits for it ends."""
        result = self.begin(action, client_id, by, **arguments)
        self.settle()
        assert result.done, f"{action} still waits"
        found: dict[str, Any] = result.get()
        return found

    def create(self, text: str = "first", **more: Any) -> tuple[str, str]:
        """Create a session without waiting for its reply; gives the ids of session and message."""
        created = self.call("create_session", text=text, wait_seconds=0, **more)
        assert created["ok"], created
        return created["session"], created["message_id"]

    def send(self, session: str, text: str, **more: Any) -> str:
        """Send a prompt without waiting for its reply; gives the message's id."""
        sent = self.call("send", session=session, text=text, wait_seconds=0, **more)
        assert sent["ok"], sent
        message: str = sent["message_id"]
        return message

    def stop(self, session: str) -> None:
        """Stop a session's turn, as somebody would; nothing is run."""
        self.supervisor.tell(ToSession(session, StopRunning()))

    # -- fan-outs ----------------------------------------------------------------------------------

    def fan_out(self, items: Sequence[Any], **spec: Any) -> "Run":
        """Begin a fan-out; nothing is run yet."""
        return Run(self, self.new_id("grp_"), items, spec)

    def resume(self, group: str, **more: Any) -> "Run":
        """Go on with a fan-out; nothing is run yet."""
        return Run(self, group, None, more)

    # -- looking -----------------------------------------------------------------------------------

    @property
    def awake(self) -> list[str]:
        """The sessions that have an actor."""
        actor = self.supervisor._actor
        assert isinstance(actor, Supervisor)
        return [session for session, _ in actor.directory.items()]

    def read(self, name: str, /, **arguments: Any) -> Any:
        """Run a query on a connection of its own."""
        database = open_for_reading(self.path)
        try:
            return run_query(database, name, arguments)
        finally:
            database.close()

    def status(self, message: str) -> str:
        """What the store says of a prompt; ``interrupted`` for a failed one that was cut."""
        row = self.read("message", message=message)
        return "interrupted" if row["stop_reason"] == "interrupted" else row["status"]

    def events(self, session: str) -> list[tuple[str, str | None]]:
        """The kinds and messages of a session's events, in order."""
        database = open_for_reading(self.path)
        try:
            sql = "SELECT kind, message FROM event WHERE session = ? ORDER BY cursor"
            return database.connection.execute(sql, (session,)).fetchall()
        finally:
            database.close()


class Run:
    """A fan-out on a stage."""

    def __init__(
        self, stage: Stage, group: str, items: Sequence[Any] | None, options: dict[str, Any]
    ) -> None:
        self.stage = stage
        self.group = group
        self.heard = Results()
        if items is None:
            request = FanoutRequest(group, None, None, None, self.heard, **options)
        else:
            spec = spec_of(stage.home, **options)
            request = FanoutRequest(group, spec.name, spec, tuple(items), self.heard)
        self.ref = stage.supervisor.request(request)

    def stop(self) -> None:
        """Stop it; nothing is run."""
        self.ref.get().tell(StopFanout())

    def work(self, end: Callable[[RunTurn], dict[str, Any]] = lambda _: {}) -> None:
        """Have the worker end the open turns, one after another in random order, until nothing is left."""
        stage = self.stage
        stage.settle()
        while stage.workers.open:
            turn = stage.workers.open[stage.random.choice(sorted(stage.workers.open))]
            stage.workers.end(turn.turn, **{"reply": turn.text, "exit_code": 0, "seconds": 0.5, **end(turn)})
            stage.settle()

    @property
    def recorded(self) -> dict[Any, str | None]:
        """The results that the store has, by item; None for one that has none."""
        rows = self.stage.read("fanout_items", group=self.group, limit=100_000)
        return {json.loads(row["item"]): row["status"] for row in rows}


def spec_of(home: Path, **more: Any) -> FanoutSpec:
    """Make the specification of a fan-out."""
    values: dict[str, Any] = {
        "kind": "command",
        "template": "run {}",
        "provider": "command",
        "jobs": 2,
        "cwd": str(home),
        **more,
    }
    return FanoutSpec(**values)
