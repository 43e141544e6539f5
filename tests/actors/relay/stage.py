"""A whole relay on the test's own thread: manual dispatcher and clock, a real store, a scripted worker.

Nothing happens but what the test lets happen: ``settle`` runs actors, ``Workers`` records what it is sent
and says what the test has it say, ``StageWriter`` can refuse, hold or lose what it is given.
"""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from showcaller.actors.contract.fanout import FanoutSpec, ItemResult
from showcaller.actors.contract.ids import Prefix, new_id
from showcaller.actors.contract.worker import RunTurn, StopTurn, TurnEnded, TurnOutput, TurnTaken
from showcaller.actors.relay.fanout_messages import FanoutRequest, StopFanout
from showcaller.actors.relay.messages import Close, StopRunning, ToSession
from showcaller.actors.relay.ports import FromWorkers, Ports, WorkerPort
from showcaller.actors.relay.supervisor import Supervisor
from showcaller.actors.runtime import Future
from showcaller.actors.runtime.testkit import ManualDispatcher
from showcaller.store.batch import Answer, Batch, BatchDone
from showcaller.store.database import open_for_reading
from showcaller.store.readers import InlineReader, QueryDone, run_query
from showcaller.store.writer import InlineWriter
from showcaller.transport.doors.local import OWNER, LocalDoor

NAME = "stage"


class StageWriter:
    """An inline writer that can refuse, hold, or lose with a crash what it is given."""

    def __init__(self, path: Path) -> None:
        self._inner = InlineWriter(path)
        self.refusing: frozenset[str] = frozenset()
        self.commands: list[str] = []
        self.batches = 0
        self.crash_at: int | None = None
        self.crash_commits = True
        self._held: list[tuple[Batch, BatchDone]] | None = None

    @property
    def crashed(self) -> bool:
        """Whether the relay has died at the batch at which it was to."""
        return self.crash_at is not None and self.batches >= self.crash_at

    def submit(self, batch: Batch, done: BatchDone) -> None:
        if self._held is not None:
            self._held.append((batch, done))
        elif not self.crashed:
            self._run(batch, done)

    def _run(self, batch: Batch, done: BatchDone) -> None:
        self.batches += 1
        if self.crashed:
            if self.crash_commits:
                self._inner.submit(batch, lambda _: None)
            return
        self.commands.extend(command.name for command in batch.commands)
        refused = self.refusing & {command.name for command in batch.commands}
        if refused:
            done([Answer(c.number, None, "storage", "the disk is full") for c in batch.commands])
        else:
            self._inner.submit(batch, done)

    def hold(self) -> None:
        """Take batches without running them, until ``release``."""
        self._held = []

    def release(self) -> None:
        """Run what was held, and go on."""
        held, self._held = self._held or [], None
        for batch, done in held:
            self._run(batch, done)

    def close(self) -> None:
        self._inner.close()


class StageReader:
    """An inline reader that can fail, or hold what it is asked."""

    def __init__(self, path: Path) -> None:
        self._inner = InlineReader(path)
        self.failing: dict[str, Exception] = {}
        self.asked: list[str] = []
        self._held: list[tuple[str, dict[str, Any], QueryDone]] | None = None

    def read(self, name: str, arguments: dict[str, Any], done: QueryDone) -> None:
        self.asked.append(name)
        if self._held is not None:
            self._held.append((name, arguments, done))
        elif name in self.failing:
            done(None, self.failing[name])
        else:
            self._inner.read(name, arguments, done)

    def hold(self) -> None:
        """Take queries without running them, until ``release``."""
        self._held = []

    def release(self) -> None:
        """Run what was held, and go on."""
        held, self._held = self._held or [], None
        for name, arguments, done in held:
            self.read(name, arguments, done)

    def close(self) -> None:
        self._inner.close()


class Workers:
    """A worker port with a script: records what it is sent, and says what the test has it say.

    While ``obedient`` it ends a turn at once when it is asked to.
    """

    def __init__(self) -> None:
        self.runs: list[RunTurn] = []
        self.stops: list[StopTurn] = []
        self.open: dict[str, RunTurn] = {}
        self.most_open = 0
        self._by_turn: dict[str, RunTurn] = {}
        self.obedient = True
        self.on_run: Callable[[RunTurn], object] = lambda _: None
        self._deliver: Callable[[FromWorkers], None] = lambda _: None

    def connect(self, deliver: Callable[[FromWorkers], None]) -> None:
        self._deliver = deliver

    def send(self, messages: Sequence[RunTurn | StopTurn]) -> None:
        for message in messages:
            if isinstance(message, RunTurn):
                self.runs.append(message)
                self._by_turn[message.turn] = message
                self.open[message.turn] = message
                self.most_open = max(self.most_open, len(self.open))
                self.on_run(message)
            else:
                self.stops.append(message)
                if self.obedient and message.turn in self.open:
                    self.end(message.turn, "stopped")

    def close(self) -> None:
        self.open.clear()

    def say(self, *messages: TurnTaken | TurnOutput | TurnEnded) -> None:
        """Deliver these to the relay as one batch."""
        self._deliver(messages)

    def take(self, turn: str) -> None:
        """Give the receipt for a turn."""
        self.say(TurnTaken(session=self.run_of(turn).session, turn=turn))

    def write(self, turn: str, text: str) -> None:
        """Stream a piece of a turn's reply."""
        self.say(TurnOutput(session=self.run_of(turn).session, turn=turn, text=text))

    def end(self, turn: str, outcome: Any = "done", **more: Any) -> TurnEnded:
        """End a turn that was handed over."""
        self.open.pop(turn, None)
        end = TurnEnded(session=self.run_of(turn).session, turn=turn, outcome=outcome, **more)
        self.say(end)
        return end

    def run_of(self, turn: str) -> RunTurn:
        """What was handed over under this name."""
        return self._by_turn[turn]

    @property
    def texts(self) -> list[str]:
        """What was handed over, in order."""
        return [run.text for run in self.runs]


class Results:
    """Hears of a fan-out."""

    def __init__(self) -> None:
        self.total: int | None = None
        self.name = ""
        self.spec: FanoutSpec | None = None
        self.results: list[ItemResult] = []
        self.moves: list[tuple[int, int]] = []
        self.ends: list[Exception | None] = []

    def ready(self, spec: FanoutSpec, name: str, total: int) -> None:
        self.spec, self.name, self.total = spec, name, total

    def moved(self, started: int, running: int) -> None:
        self.moves.append((started, running))

    def result(self, result: ItemResult) -> None:
        self.results.append(result)

    def finished(self, error: Exception | None) -> None:
        self.ends.append(error)

    @property
    def by_item(self) -> dict[Any, ItemResult]:
        """The results by their items, of which there must be one each."""
        found = {result.item: result for result in self.results}
        assert len(found) == len(self.results), "an item was reported twice"
        return found

    @property
    def statuses(self) -> dict[Any, str]:
        """How each item ended."""
        return {item: result.status for item, result in self.by_item.items()}


class Stage:
    """One run of a relay over a data folder; ``again`` drops it and starts another over the same."""

    def __init__(
        self,
        home: Path,
        seed: int | None = None,
        *,
        read_only: bool = False,
        workers: WorkerPort | None = None,
        settled: bool = True,
    ) -> None:
        self.home = home
        self.path = home / "relay.db"
        self.random = random.Random(seed)
        self.dispatcher = ManualDispatcher(seed=seed)
        self.writer = None if read_only else StageWriter(self.path)
        self.reader = StageReader(self.path)
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

    def begin(self, action: str, /, client_id: str | None = None, **arguments: Any) -> "Future[Any]":
        """Begin a call of the owner and give the future of its result."""
        call = {"action": action, "relay": "this", **arguments}
        return self.door._begin(call, OWNER, client_id)

    def call(self, action: str, /, client_id: str | None = None, **arguments: Any) -> dict[str, Any]:
        """Carry out a call and give its result; time stands still, so nothing that waits for it ends."""
        result = self.begin(action, client_id, **arguments)
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
