"""Several workers as one port: each session has its worker, and a worker that dies has another in its place.

What a dead worker had is read from its spool: a turn with an end has it, one with a receipt may have run
in part and is interrupted, and one without was never run and goes back to the relay.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from showcaller.actors.contract.fates import Left
from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    KillAgent,
    RunTurn,
    StopTurn,
    TaskStored,
    ToWorkerMessage,
    TurnReturned,
    TurnStored,
)
from showcaller.transport.placement.assignments import Assignments, taken_back
from showcaller.transport.worker.journal import left_in
from showcaller.transport.worker.worker_folder import WorkerFolder

logger = logging.getLogger("showcaller.workers")

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 30.0
"""Seconds before another worker is started in the place of one that died, when that goes on and on."""
STEADY = 60.0
"""Seconds after which a worker's death does not count as going on."""
ENDED, DIED = "Worker %s has ended", "Worker %s has died; another comes in its place"
STORED = 1024
"""Of so many turns stored last it is known that a worker that has died need not have left them."""

Deliver = Callable[[Sequence[FromWorkerMessage]], None]
Later = Callable[[float, Callable[[], None]], None]
Now = Callable[[], float]


class Link(Protocol):
    """How a worker is reached."""

    def connect(self, deliver: Deliver) -> None:
        """Say who gets what it sends."""

    def send(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Hand messages over, in order; never blocks."""

    def close(self) -> None:
        """Hang up."""


class Worker(Protocol):
    """A worker that was started or found."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def link(self) -> Link:
        """How it is reached."""
        ...

    @property
    def folder(self) -> WorkerFolder:
        """Where it keeps what it has."""
        ...


class Placement(Protocol):
    """Where workers come from."""

    def find(self) -> tuple[Sequence[Worker], Sequence[WorkerFolder]]:
        """Give the workers of an earlier relay that are alive, and the folders of those that are dead."""
        ...

    def start(self, name: str, called: Callable[[], None]) -> Worker:
        """Start one, and call ``called`` on any thread when it has called. Raises OSError."""
        ...

    def watch(self, worker: Worker, died: Callable[[], None]) -> None:
        """Call ``died`` once, on any thread, when the worker has died."""

    def end(self, worker: str) -> None:
        """Ask a worker to end what it runs and then itself; it is told of as of any death."""

    def close(self) -> None:
        """Watch no more."""


def _ends_in(folder: WorkerFolder) -> list[TurnStored]:
    """Give what a worker is told that was found, once the ends which it keeps are known to be stored."""
    left = left_in(folder) or Left({})
    return [TurnStored(session=end.session, turn=end.turn) for end in left.turns.values() if end is not None]


class _Place:
    """Where a worker is, or will be."""

    def __init__(self, pause: float = FIRST_PAUSE) -> None:
        self.worker: Worker | None = None
        self.has_called = False
        self.waiting: list[ToWorkerMessage] = []  # nobody else has seen these
        self.since = 0.0
        self.pause = pause  # before the next is started here, should this one die soon
        self.stored: deque[str] = deque(maxlen=STORED)  # turns of which it may not have heard that yet


class WorkerPool:
    """The worker port of a relay whose workers are processes that outlive it. Thread-safe.

    ``later`` calls after so many seconds, on any thread; ``now`` gives monotonic seconds.
    """

    def __init__(
        self, placement: Placement, count: int, new_name: Callable[[], str], later: Later, now: Now
    ) -> None:
        """Find the workers of an earlier relay and start as many as are missing; raises OSError."""
        self._placement = placement
        self._new_name = new_name
        self._later = later
        self._now = now
        self._gate = threading.RLock()
        self._changed = threading.Condition(self._gate)
        self._books = Assignments()
        self._places: dict[str, _Place] = {}
        self._there: dict[str, None] = {}  # the workers that were started and whose deaths are not done with
        self._left: dict[str, Left] = {}
        self._graves: dict[str, tuple[WorkerFolder, set[str]]] = {}
        self._deliver: Deliver | None = None
        self._ends: list[FromWorkerMessage] = []  # of turns taken back, to be delivered
        self._closed = False
        self._ending = False
        alive, dead = placement.find()
        for folder in dead:
            self._bury(folder, left_in(folder), ())
        self._dead_before = list(self._graves)
        self._ended_before = {worker.name: _ends_in(worker.folder) for worker in alive}
        for worker in alive:
            self._add(worker.name, _Place())
            self._places[worker.name].has_called = True  # the relay before: it may have turns
            self._up(worker)
        if len(alive) > count:
            logger.warning(
                "%d workers of an earlier relay are there, and %d were asked for", len(alive), count
            )
        for _ in range(count - len(alive)):
            self._open(new_name(), FIRST_PAUSE)

    # -- the relay's side --------------------------------------------------------------------------

    def connect(self, deliver: Deliver) -> None:
        """Say who gets what workers send."""
        with self._gate:
            self._deliver = deliver
            workers = [place.worker for place in self._places.values() if place.worker is not None]
        for worker in workers:
            self._listen(worker)

    def place(self, session: str) -> str | None:
        """Give the name of the worker that this session's next turn goes to; None when none is left."""
        with self._gate:
            return self._books.place(session)

    def has(self, worker: str) -> bool:
        """Tell whether a worker of this name is there, as far as is known."""
        with self._gate:
            return worker in self._books

    def ask_again(self, run: RunTurn) -> bool:
        """Ask its worker how a turn stands that an earlier relay gave it; False when that is gone."""
        with self._gate:
            worker = self._books.assign(run)
            if worker is None:
                return False
            self._hand([run], worker)
            return True

    def expect_task(self, session: str, task: str, worker: str) -> bool:
        """Answer for a task that an earlier relay was told of; False when its worker is gone."""
        with self._gate:
            if worker not in self._books:
                return False
            self._books.expect_task(session, task, worker)
            return True

    def left_by(self, worker: str) -> Left | None:
        """Give what a dead worker had; None for one of which nothing is known."""
        with self._gate:
            return self._left.get(worker)

    def recovered(self, going_on: Collection[str]) -> None:
        """All turns of earlier relays are stored, but for those that go on: their workers may forget them."""
        with self._gate:
            for name in self._dead_before:
                self._clear(name)
            self._dead_before.clear()
            for name, ends in self._ended_before.items():
                for stored in ends:
                    if stored.turn not in going_on:
                        self._may_forget(name, stored)
            self._ended_before.clear()

    def _may_forget(self, name: str, stored: TurnStored) -> None:
        if name in self._places:
            self._hand([stored], name)
            self._places[name].stored.append(stored.turn)
        else:
            self._put_to_rest(stored.turn)

    def send(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Hand each message to the worker of its session, in order; a turn whose worker is gone returns."""
        with self._gate:
            batches: dict[str, list[ToWorkerMessage]] = {}
            for message in messages:
                worker = self._booked(message)
                if worker is not None:
                    batches.setdefault(worker, []).append(message)
                elif isinstance(message, RunTurn):
                    self._ends.append(TurnReturned(session=message.session, turn=message.turn))
            for name, batch in batches.items():
                self._hand(batch, name)
            ends, self._ends = self._ends, []
            deliver = self._deliver
        if ends and deliver is not None:
            deliver(ends)

    def start_no_more(self) -> None:
        """The relay ends: a worker that does so meanwhile has no other in its place."""
        with self._gate:
            self._ending = True

    def end_workers(self, patience: float) -> list[str]:
        """End all workers and start no more; gives those that are still there after ``patience`` seconds."""
        with self._gate:
            self._ending = True
            names = list(self._there)
        for name in names:
            self._placement.end(name)
        with self._changed:
            self._changed.wait_for(lambda: not self._there, patience)
            return list(self._there)

    def close(self) -> None:
        """Hang up; the workers and their turns go on."""
        with self._gate:
            self._closed = True
            workers = [place.worker for place in self._places.values() if place.worker is not None]
        self._placement.close()
        for worker in workers:
            worker.link.close()

    def _booked(self, message: ToWorkerMessage) -> str | None:
        """Note what a message means for its session, and give the worker that gets it, if there is one."""
        if isinstance(message, RunTurn):
            return self._books.assign(message)
        worker = self._books.place(message.session)
        if isinstance(message, TurnStored):
            if worker is not None:
                self._places[worker].stored.append(message.turn)
            self._books.stored(message.session)
            self._put_to_rest(message.turn)
        elif isinstance(message, TaskStored):
            self._books.task_stored(message.session, message.task)
        return worker

    def _hand(self, messages: Sequence[ToWorkerMessage], name: str) -> None:
        place = self._places[name]
        if place.worker is not None and place.has_called:
            place.worker.link.send(messages)
            return
        for message in messages:
            if isinstance(message, StopTurn | KillAgent):
                self._take_back(message, name)
            else:
                place.waiting.append(message)

    def _take_back(self, order: StopTurn | KillAgent, name: str) -> None:
        """End a turn that no worker has seen: its own may never call."""
        place = self._places[name]
        place.waiting, ends = taken_back(order, place.waiting)
        for end in ends:
            self._books.told(name, end)
        self._ends += ends

    def _bury(self, folder: WorkerFolder, left: Left | None, stored: Collection[str]) -> None:
        """Note what a dead worker has left; where that cannot be read its folder stays."""
        if left is not None:
            self._left[folder.path.name] = left
            self._graves[folder.path.name] = (folder, set(left.turns).difference(stored))

    def _put_to_rest(self, turn: str) -> None:
        for name, (_, turns) in list(self._graves.items()):
            turns.discard(turn)
            if not turns:
                self._clear(name)

    def _clear(self, name: str) -> None:
        folder, _ = self._graves.pop(name)
        self._left[name] = self._left[name]._replace(turns={})  # what is not stored by now, it had not taken
        try:
            folder.clear_away()
        except OSError as error:
            logger.warning("The folder of the dead worker %s stays: %s", name, error)

    # -- the workers' side -------------------------------------------------------------------------

    def _listen(self, worker: Worker) -> None:
        worker.link.connect(lambda messages: self._arrived(worker.name, messages))

    def _arrived(self, name: str, messages: Sequence[FromWorkerMessage]) -> None:
        with self._gate:
            deliver = self._deliver
            for message in messages:
                self._books.told(name, message)
        if deliver is not None:
            deliver(messages)

    def _add(self, name: str, place: _Place) -> None:
        self._books.add(name)
        self._places[name] = place

    def _open(self, name: str, pause: float, died: str | None = None) -> None:
        """Start a worker; only now it is known whether another has ``died``, or has ended with the relay."""
        with self._gate:
            is_over = self._closed or self._ending
            if died is not None:
                logger.log(logging.INFO if is_over else logging.ERROR, ENDED if is_over else DIED, died)
            if is_over:
                return
            if name not in self._places:
                self._add(name, _Place(pause))
        try:
            worker = self._placement.start(name, lambda: self._called(name))
        except OSError as error:
            logger.warning("Worker %s could not be started, and is tried again: %s", name, error)
            self._again(name, self._places[name])
            return
        self._up(worker)

    def _up(self, worker: Worker) -> None:
        with self._gate:
            place = self._places[worker.name]
            place.worker, place.since = worker, self._now()
            self._there[worker.name] = None
            if self._deliver is not None:
                self._listen(worker)
            self._hand_waiting(place)
        self._placement.watch(worker, lambda: self._died(worker))

    def _called(self, name: str) -> None:
        with self._gate:
            place = self._places.get(name)
            if place is not None:
                place.has_called = True
                self._hand_waiting(place)

    def _hand_waiting(self, place: _Place) -> None:
        if place.worker is not None and place.has_called:
            waiting, place.waiting = place.waiting, []
            if waiting:
                place.worker.link.send(waiting)

    def _again(self, name: str, place: _Place, died: str | None = None) -> None:
        pause, place.pause = place.pause, min(place.pause * 2, LONGEST_PAUSE)
        self._later(pause, lambda: self._open(name, place.pause, died))

    def _died(self, worker: Worker) -> None:
        """Tell the relay how the dead worker's turns stand, and have another in its place."""
        left = left_in(worker.folder, has_called=self._places[worker.name].has_called)
        with self._gate:
            if self._closed:
                return
            place = self._places.pop(worker.name)
            self._bury(worker.folder, left, place.stored)
            fates = self._books.lose(worker.name, left)
            follower = None if self._ending else self._follow(place)
            deliver = self._deliver
            if left is not None and not self._graves[worker.name][1]:
                self._clear(worker.name)
        worker.link.close()
        if fates and deliver is not None:
            deliver(fates)
        with self._changed:
            self._there.pop(worker.name, None)
            self._changed.notify_all()
        if follower is None:
            logger.info(ENDED, worker.name)
        else:
            self._again(follower, self._places[follower], worker.name)

    def _follow(self, place: _Place) -> str:
        name = self._new_name()
        self._add(name, _Place(FIRST_PAUSE if self._now() - place.since >= STEADY else place.pause))
        return name
