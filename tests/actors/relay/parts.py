"""What a relay on a stage has in place of a writer process, reader threads, a worker and whoever is told."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from showcaller.actors.contract.agent_messages import AnswerCard, CardAsked, CardOption
from showcaller.actors.contract.fanout import FanoutSpec, ItemResult
from showcaller.actors.contract.worker import (
    AskTask,
    FromWorkerMessage,
    KillAgent,
    RunTurn,
    SteerTurn,
    StopTurn,
    TaskStored,
    ToWorkerMessage,
    TurnEnded,
    TurnOutput,
    TurnSteered,
    TurnStored,
    TurnTaken,
)
from showcaller.actors.relay.ports import FromWorkers
from showcaller.store.batch import Answer, Batch, BatchDone
from showcaller.store.readers import InlineReader, QueryDone
from showcaller.store.writer import InlineWriter


class StageWriter:
    """An inline writer that can refuse, hold, or lose with a crash what it is given."""

    def __init__(self, path: Path) -> None:
        self._inner = InlineWriter(path)
        self.refusing: frozenset[str] = frozenset()
        self.faulty: frozenset[str] = frozenset()
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
            self._inner.submit(self._garbled(batch), done)

    def _garbled(self, batch: Batch) -> Batch:
        """Make faulty commands of those that are to be."""
        commands = [c._replace(arguments={}) if c.name in self.faulty else c for c in batch.commands]
        return batch._replace(commands=commands)

    def hold(self) -> None:
        """Take batches without running them, until ``release``."""
        self._held = []

    def release(self) -> None:
        """Run what was held, and go on."""
        held, self._held = self._held or [], None
        for batch, done in held:
            self._run(batch, done)

    def release_first(self) -> None:
        """Run the first batch that was held, and hold the others still."""
        assert self._held is not None
        self._run(*self._held.pop(0))

    def close(self) -> None:
        self._inner.close()


class StageReader:
    """An inline reader that can fail, or hold what it is asked."""

    def __init__(self, path: Path) -> None:
        self._inner = InlineReader(path)
        self.failing: dict[str, Exception] = {}
        self.asked: list[str] = []
        self._held: list[tuple[str, dict[str, Any], QueryDone]] | None = None
        self._only: tuple[str, ...] = ()

    def read(self, name: str, arguments: dict[str, Any], done: QueryDone) -> None:
        self.asked.append(name)
        if self._held is not None and (not self._only or name in self._only):
            self._held.append((name, arguments, done))
        elif name in self.failing:
            done(None, self.failing[name])
        else:
            self._inner.read(name, arguments, done)

    def hold(self, *only: str) -> None:
        """Take queries, all or only those of these names, without running them, until ``release``."""
        self._held = []
        self._only = only

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
        self.steers: list[SteerTurn] = []
        self.kills: list[KillAgent] = []
        self.stored: list[TurnStored] = []
        self.asked_tasks: list[AskTask] = []
        self.stored_tasks: list[TaskStored] = []
        self.card_answers: list[AnswerCard] = []
        self.open: dict[str, RunTurn] = {}
        self.most_open = 0
        self._by_turn: dict[str, RunTurn] = {}
        self.obedient = True
        self.on_run: Callable[[RunTurn], object] = lambda _: None
        self.on_steer: Callable[[SteerTurn], object] = self.refuse_steering
        self._deliver: Callable[[FromWorkers], None] = lambda _: None

    def connect(self, deliver: Callable[[FromWorkers], None]) -> None:
        self._deliver = deliver

    def send(self, messages: Sequence[ToWorkerMessage]) -> None:
        for message in messages:
            if isinstance(message, RunTurn):
                self.runs.append(message)
                self._by_turn[message.turn] = message
                self.open[message.turn] = message
                self.most_open = max(self.most_open, len(self.open))
                self.on_run(message)
            elif isinstance(message, SteerTurn):
                self.steers.append(message)
                self.on_steer(message)
            elif isinstance(message, KillAgent):
                self.kills.append(message)
            elif isinstance(message, TurnStored):
                self.stored.append(message)
            elif isinstance(message, AskTask):
                self.asked_tasks.append(message)
            elif isinstance(message, TaskStored):
                self.stored_tasks.append(message)
            elif isinstance(message, AnswerCard):
                self.card_answers.append(message)
            else:
                self.stops.append(message)
                if self.obedient and message.turn in self.open:
                    self.end(message.turn, "stopped")

    def close(self) -> None:
        self.open.clear()

    def say(self, *messages: FromWorkerMessage) -> None:
        """Deliver these to the relay as one batch."""
        self._deliver(messages)

    def refuse_steering(self, steer: SteerTurn) -> None:
        """Say that the agent does not take the message into its turn."""
        self.answer_steering(steer, accepted=False)

    def answer_steering(self, steer: SteerTurn, *, accepted: bool) -> None:
        """Say whether the agent takes the message into its turn."""
        told = TurnSteered(session=steer.session, turn=steer.turn, message=steer.message, accepted=accepted)
        self.say(told)

    def take(self, turn: str) -> None:
        """Give the receipt for a turn."""
        self.say(TurnTaken(session=self.run_of(turn).session, turn=turn))

    def write(self, turn: str, text: str) -> None:
        """Stream a piece of a turn's reply."""
        self.say(TurnOutput(session=self.run_of(turn).session, turn=turn, text=text))

    def ask(self, turn: str, card: str, *labels: str, **more: Any) -> CardAsked:
        """Have the agent ask in this turn, and wait; an option's id is its place."""
        asked: dict[str, Any] = {
            "session": self.run_of(turn).session,
            "turn": turn,
            "card": card,
            "card_kind": "permission",
            "question": f"May I {card}?",
            "options": tuple(CardOption(id=f"{n}", label=label) for n, label in enumerate(labels)),
        }
        frame = CardAsked(**{**asked, **more})
        self.say(frame)
        return frame

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
        self.room = 1_000_000

    def ready(self, spec: FanoutSpec, name: str, total: int) -> None:
        self.spec, self.name, self.total = spec, name, total

    def moved(self, started: int, running: int) -> None:
        self.moves.append((started, running))

    def result(self, result: ItemResult) -> None:
        self.results.append(result)

    def has_room(self) -> bool:
        return len(self.results) < self.room

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
