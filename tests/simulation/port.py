"""A simulated relay's worker port, and the workers behind it, which outlive their relay in some worlds."""

from collections.abc import Callable, Collection, Sequence
from random import Random

from showcaller.actors.contract.fates import Left
from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    RunTurn,
    StopTurn,
    TaskEnded,
    TaskOutput,
    TaskStarted,
    ToWorkerMessage,
    TurnEnded,
    TurnReturned,
)
from showcaller.actors.relay.ports import FromWorkers
from tests.simulation.books import Books
from tests.simulation.chances import Chances
from tests.simulation.link import DirectLink, Link, NumberedLink
from tests.simulation.surroundings import Surroundings
from tests.simulation.worker import SimWorker

OF_TASKS = (TaskStarted, TaskOutput, TaskEnded)


class Workforce:
    """The worker that there is, and what the dead ones have left; outlives the relay where workers do."""

    def __init__(
        self, world: Surroundings, random: Random, chances: Chances, books: Books, name: Callable[[], str]
    ) -> None:
        self._world = world
        self._random = random
        self._chances = chances
        self._name = name
        self.books = books
        self._left: dict[str, Left] = {}
        self.unheard: list[FromWorkerMessage] = []
        self.start()

    def start(self) -> None:
        """Start a worker."""
        self.worker = SimWorker(self._world, self._random, self._chances, self.books, self._name())
        self.unheard.clear()

    def bury(self) -> SimWorker:
        """The worker dies: note what it leaves behind, and start another. Gives the dead one."""
        dead = self.worker
        self._left[dead.name] = Left({**dict.fromkeys(dead.open), **dead.ends})
        self.books.excused.update(dead.open)
        self.start()
        return dead

    # -- what a relay is told of outliving workers -------------------------------------------------

    def place(self, session: str) -> str:
        """There is one worker at a time."""
        return self.worker.name

    def has(self, worker: str) -> bool:
        """Tell whether a worker of this name is there."""
        return worker == self.worker.name

    def left_by(self, worker: str) -> Left | None:
        """Give the turns that a dead worker had taken, each with its end if it had one."""
        return self._left.get(worker)


class SimPort:
    """The port; when the worker dies it answers for its turns, and another takes its place."""

    def __init__(self, relay: str, world: Surroundings, chances: Chances, workforce: Workforce) -> None:
        self._relay = relay
        self._world = world
        self._chances = chances
        self._workforce = workforce
        self._books = workforce.books
        self._early: list[FromWorkerMessage] = []  # what came before anybody was connected
        self._deliver: Callable[[FromWorkers], None] = self._early.extend
        self._sent: dict[str, RunTurn] = {}
        self._tasks: dict[str, str] = {}  # the sessions of those that the worker has, as far as is known
        self._ended_before = set(workforce.worker.ends)
        self._connect_worker()

    @property
    def worker(self) -> SimWorker:
        """The worker at the other end."""
        return self._workforce.worker

    @property
    def link_owner(self) -> str:
        """To whom belongs what is on its way between this relay and its worker."""
        return f"{self._relay}-{self.worker.name}"

    def _connect_worker(self) -> None:
        self._link = self._new_link()
        self.worker.link = self
        unheard, self._workforce.unheard = self._workforce.unheard, []
        left = [message for message in unheard if not isinstance(message, OF_TASKS)]
        if left:  # what no relay has heard is told again, in order
            self._world.say(self.worker.name, f"tells {len(left)} things again")
            self.to_relay(left)
        self.worker.tasks.tell_all()
        self.worker.cards.tell_all()

    def _new_link(self) -> Link:
        world, chances, receive = self._world, self._chances, self.worker.receive
        if chances.direct:
            return DirectLink(world, self.link_owner, self._arrived, receive, doubled=chances.doubled)
        return NumberedLink(
            world,
            self.link_owner,
            self._arrived,
            receive,
            doubled=chances.doubled,
            reordered=chances.reordered,
        )

    # -- what the relay is told of workers that outlive it -----------------------------------------

    def place(self, session: str) -> str:
        """There is one worker at a time."""
        return self._workforce.place(session)

    def has(self, worker: str) -> bool:
        """Tell whether a worker of this name is there."""
        return self._workforce.has(worker)

    def ask_again(self, run: RunTurn) -> bool:
        """Ask its worker how a turn stands that an earlier relay gave it; False when that is not there."""
        if run.worker is None or not self.has(run.worker):
            return False
        self.send([run])
        return True

    def expect_task(self, session: str, task: str, worker: str) -> bool:
        """Answer for a task of an earlier relay; False when its worker is not there."""
        if not self.has(worker):
            return False
        self._tasks[task] = session
        return True

    def left_by(self, worker: str) -> Left | None:
        """Give the turns that a dead worker had taken, each with its end if it had one."""
        return self._workforce.left_by(worker)

    def recovered(self, going_on: Collection[str]) -> None:
        """Have the worker forget ends that an earlier relay has stored."""
        for turn in self._ended_before.difference(going_on):
            self.worker.ends.pop(turn, None)
        self._ended_before.clear()

    # -- as the port, and as the worker's link -----------------------------------------------------

    def connect(self, deliver: Callable[[FromWorkers], None]) -> None:
        """Say who gets what the worker sends."""
        self._deliver = deliver
        if self._early:
            deliver(self._early)

    def send(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Hand messages to the link."""
        self._link.to_worker([message for message in messages if self._goes(message)])

    def _goes(self, message: ToWorkerMessage) -> bool:
        """Note what goes to the worker, or have it returned."""
        if isinstance(message, StopTurn):
            self._books.stop(message.turn)
        if not isinstance(message, RunTurn):
            return True
        if message.turn not in self._books.runs:
            self._books.sent(message)
        if self._chances.outlives and message.worker != self.worker.name:
            self._return(message)
            self._books.stops_due.discard(message.turn)
            return False
        self._sent[message.turn] = message
        return True

    def _return(self, run: RunTurn) -> None:
        """Its worker died before it was sent."""
        returned = TurnReturned(session=run.session, turn=run.turn)
        self._world.later(lambda: self._deliver([returned]), owner=self._relay)

    def to_worker(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Hand messages to the link."""
        self._link.to_worker(messages)

    def to_relay(self, messages: Sequence[FromWorkerMessage]) -> None:
        """Keep what the worker says until it has arrived, and send it."""
        self._workforce.unheard.extend(messages)
        self._link.to_relay(messages)

    def _arrived(self, messages: Sequence[FromWorkerMessage]) -> None:
        for message in messages:
            if message in self._workforce.unheard:
                self._workforce.unheard.remove(message)
            if isinstance(message, TurnEnded):
                self._sent.pop(message.turn, None)
            elif isinstance(message, TaskStarted):
                self._tasks[message.task] = message.session
            elif isinstance(message, TaskEnded):
                self._tasks.pop(message.task, None)
        self._deliver(messages)

    # -- the worker's death ------------------------------------------------------------------------

    def worker_dies(self) -> tuple[str, str]:
        """The worker dies, and another one starts; gives to whom belonged what was on its way."""
        owners = self.worker.name, self.link_owner
        lost, self._sent = self._sent, {}
        self._books.stops_due.clear()
        tasks, self._tasks = self._tasks, {}
        dead = self._workforce.bury()
        self._connect_worker()
        fates = [self._fate(run, dead) for run in lost.values()]
        gone = [
            TaskEnded(session=session, task=task, outcome="interrupted") for task, session in tasks.items()
        ]
        if fates or gone:
            self._world.later(lambda: self._deliver([*fates, *gone]), owner=self._relay)
        return owners

    def _fate(self, run: RunTurn, dead: SimWorker) -> FromWorkerMessage:
        """What the port says of a turn of a dead worker; where workers leave a journal it knows more."""
        if self._chances.outlives and run.turn in dead.ends:
            return dead.ends[run.turn]
        if self._chances.outlives and run.turn not in dead.open and run.turn not in self._books.runs:
            return TurnReturned(session=run.session, turn=run.turn)
        self._books.ends.pop(run.turn, None)
        self._books.excused.add(run.turn)
        return TurnEnded(session=run.session, turn=run.turn, outcome="failed", stop_reason="interrupted")

    @property
    def at_worker(self) -> list[str]:
        """The turns that were sent and whose end has not come back."""
        return list(self._sent)

    def close(self) -> None:
        """Nothing to close."""
