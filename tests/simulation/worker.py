"""A simulated worker: it takes turns, writes, ends them in its own time, and obeys or ignores a stop.

It keeps what the real host promises: a turn that it knows is not begun again, an end that it gave is given
again, one end per turn, a word about each message that is to join a turn, and a stop that is ignored is
enforced after a while.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from showcaller.actors.contract.agent_messages import AnswerCard
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
from tests.simulation.background import SimTasks
from tests.simulation.books import Books
from tests.simulation.cards import SimCards
from tests.simulation.chances import Chances
from tests.simulation.link import Link
from tests.simulation.surroundings import Surroundings

FORCE = 7.0  # seconds after which a turn that ignores its stop is ended all the same
STEERED = "steered"
"""The provider whose agents take messages into their turns."""


@dataclass(slots=True)
class Work:
    """A turn that an agent works on: what it will still write, and how it means to end."""

    run: RunTurn
    pieces: list[str]
    end: TurnEnded
    stopping: bool = False
    asked: list[SteerTurn] = field(default_factory=list[SteerTurn])  # messages that it has not answered


class SimWorker:
    """One worker process."""

    def __init__(
        self, world: Surroundings, random: Random, chances: Chances, books: Books, name: str
    ) -> None:
        self._world = world
        self._random = random
        self._chances = chances
        self._books = books
        self.name = name
        self.link: Link
        self.open: dict[str, Work] = {}
        self.ends: dict[str, TurnEnded] = {}
        self.tasks = SimTasks(world, random, books, name, self._say)
        self.cards = SimCards(world, books.cards, name, self._say, self._waits_no_more)

    def receive(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Take what the relay sends."""
        for message in messages:
            match message:
                case RunTurn():
                    self._take(message)
                case StopTurn():
                    self._stop(message.turn)
                case SteerTurn():
                    self._steer(message)
                case KillAgent():
                    self._kill(message.session)
                case TurnStored():
                    self.ends.pop(message.turn, None)
                case AskTask():
                    self.tasks.ask(message.session, message.task)
                case TaskStored():
                    self.tasks.stored(message.task)
                case AnswerCard():
                    self.cards.answer(message)

    def _say(self, message: FromWorkerMessage) -> None:
        self._world.say(self.name, told(message))
        self.link.to_relay([message])

    def _in(self, seconds: float, action: Any) -> None:
        self._world.work(seconds, action, owner=self.name)

    # -- turns -------------------------------------------------------------------------------------

    def _take(self, run: RunTurn) -> None:
        if run.turn in self.open:
            return
        known = self.ends.get(run.turn)
        if known is not None:
            self._say(known)
            return
        goes_on = " (by itself)" if run.continues else ""
        self._world.say(self.name, f"takes {run.turn} of {run.session}{goes_on}: {run.text[:40]!r}")
        self._books.handed(run, {work.run.session: turn for turn, work in self.open.items()})
        work = Work(run, self._pieces(run), self._planned_end(run))
        self.open[run.turn] = work
        self._say(TurnTaken(session=run.session, turn=run.turn))
        self._go_on(work)

    def _pieces(self, run: RunTurn) -> list[str]:
        return [f"{run.turn}/{n} " for n in range(self._random.choice((0, 1, 1, 3)))]

    def _planned_end(self, run: RunTurn) -> TurnEnded:
        if self._random.random() < self._chances.fails:
            return ended(run, "failed", error_text="it went wrong", exit_code=1, stop_reason=self._why())
        return ended(run, "done", exit_code=0)

    def _why(self) -> Any:
        return self._random.choice(("end", "died", "refused", "empty"))

    def _pause(self) -> float:
        if self._random.random() < self._chances.slow_turns:
            return self._random.choice((5.0, 60.0, 900.0, 5000.0)) * self._random.random()
        return self._random.random() * 0.2

    def _go_on(self, work: Work) -> None:
        self._in(self._pause(), lambda: self._act(work))

    def _act(self, work: Work) -> None:
        if self.open.get(work.run.turn) is not work:
            return
        self._answer_steers(work)
        if not work.stopping and self.cards.asks(work.run):
            return
        by_agent = work.run.session in self._books.started_by  # nobody counts what continues there
        if not by_agent and self._world.happens(self._chances.tasks):
            self.tasks.start(work.run)
        if work.pieces:
            piece = work.pieces.pop(0)
            work.end = work.end.model_copy(update={"reply": work.end.reply + piece})
            self._say(TurnOutput(session=work.run.session, turn=work.run.turn, text=piece))
            self._go_on(work)
        else:
            self._finish(work, work.end)

    def _waits_no_more(self, turn: str) -> None:
        work = self.open.get(turn)
        if work is not None:
            self._go_on(work)

    def _finish(self, work: Work, end: TurnEnded) -> None:
        if self.open.pop(work.run.turn, None) is not work:
            return
        self._answer_steers(work)
        self.cards.drop(end.turn)
        self.ends[end.turn] = end
        self._books.told_end(end)
        self._say(end)

    # -- messages within a turn --------------------------------------------------------------------

    def _steer(self, steer: SteerTurn) -> None:
        work = self.open.get(steer.turn)
        if work is None or work.run.provider != STEERED:
            self._answer_steer(steer, taken=False)
            return
        self._world.say(self.name, f"is given {steer.message} within {steer.turn}")
        self._books.shown(steer)
        work.asked.append(steer)
        if self._random.random() < 0.5:
            self._answer_steers(work)

    def _answer_steers(self, work: Work) -> None:
        """Say of each message whether it was taken; at the latest before the turn's end."""
        asked, work.asked = work.asked, []
        for steer in asked:
            self._answer_steer(steer, taken=self._random.random() < self._chances.takes)

    def _answer_steer(self, steer: SteerTurn, *, taken: bool) -> None:
        self._books.steered(steer, taken=taken)
        self._say(TurnSteered(session=steer.session, turn=steer.turn, message=steer.message, accepted=taken))

    # -- stopping ----------------------------------------------------------------------------------

    def _stop(self, turn: str) -> None:
        work = self.open.get(turn)
        if work is None or work.stopping:
            return
        work.stopping = True
        obeys = self._random.random() < self._chances.obeys
        after = self._random.random() if obeys else FORCE
        self._world.say(self.name, f"is to stop {turn}" + ("" if obeys else " and ignores it"))
        self._in(after, lambda: self._finish(work, self._stopped(work)))

    def _stopped(self, work: Work) -> TurnEnded:
        return ended(work.run, "stopped", reply=work.end.reply)

    def _kill(self, session: str) -> None:
        self._world.say(self.name, f"is to kill the agent of {session}")
        for work in [work for work in self.open.values() if work.run.session == session]:
            self._finish(work, self._stopped(work))
        self.tasks.kill(session)


def ended(run: RunTurn, outcome: Any, **more: Any) -> TurnEnded:
    """An end of this turn."""
    return TurnEnded(session=run.session, turn=run.turn, outcome=outcome, **more)


def told(message: FromWorkerMessage) -> str:
    """What a worker says, in one line."""
    match message:
        case TurnEnded():
            return f"ends {message.turn}: {message.outcome} ({message.stop_reason}) {message.reply[:40]!r}"
        case TurnTaken():
            return f"has {message.turn}"
        case TurnOutput():
            return f"writes {message.turn}: {message.text!r}"
        case TurnSteered():
            return f"{'takes' if message.accepted else 'refuses'} {message.message} within {message.turn}"
        case _:
            return str(message)
