"""Several workers as one port: each session has its worker, and a worker that dies has another in its place.

What a dead worker had is read from its spool: a turn with an end has it, one with a receipt may have run
in part and is interrupted, and one without was never run and goes back to the relay.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol
from zlib import crc32

from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    RunTurn,
    ToWorkerMessage,
    TurnEnded,
    TurnReturned,
    TurnStored,
)
from showcaller.transport.worker.journal import end_in
from showcaller.transport.worker.spool import left_behind
from showcaller.transport.worker.worker_folder import WorkerFolder

logger = logging.getLogger("showcaller.workers")

PARTLY = "its worker died while it ran; it may have run in part"
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 30.0
"""Seconds before another worker is started in the place of one that died, when that goes on and on."""

Deliver = Callable[[Sequence[FromWorkerMessage]], None]
Later = Callable[[float, Callable[[], None]], None]


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

    def find(self, died: Callable[[str], None]) -> tuple[Sequence[Worker], Sequence[WorkerFolder]]:
        """Give the workers of an earlier relay that are alive, and the folders of those that are dead."""
        ...

    def start(self, name: str, died: Callable[[str], None]) -> Worker:
        """Start one. Raises OSError."""
        ...

    def end(self, worker: str) -> None:
        """Ask a worker to end what it runs and then itself; ``died`` tells of it as of any death."""

    def close(self) -> None:
        """Watch no more."""


class _Slot:
    """One worker's place: what waits until it is started, and the turns it may have."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.waiting: list[ToWorkerMessage] = []
        self.turns: dict[str, RunTurn] = {}


class WorkerPool:
    """The worker port of a relay whose workers are processes that outlive it. Thread-safe.

    ``later`` calls after so many seconds, on any thread.
    """

    outlives = True

    def __init__(self, placement: Placement, count: int, new_name: Callable[[], str], later: Later) -> None:
        """Find the workers of an earlier relay and start as many as are missing; raises OSError."""
        self._placement = placement
        self._new_name = new_name
        self._later = later
        self._gate = threading.RLock()
        self._ended = threading.Condition(self._gate)
        self._there: dict[str, None] = {}  # the workers whose deaths are not done with
        self._slots: dict[str, _Slot] = {}
        self._homes: dict[str, str] = {}  # of each session, the worker that has something of it
        self._left: dict[str, Mapping[str, TurnEnded | None]] = {}
        self._folders: dict[str, tuple[WorkerFolder, set[str]]] = {}
        self._pause = FIRST_PAUSE
        self._deliver: Deliver | None = None
        self._closed = False
        self._ending = False
        alive, dead = placement.find(self._died)
        for folder in dead:
            self._bury(folder, {})
        for worker in alive:
            self._slots[worker.name] = _Slot()
            self._up(worker)
        for _ in range(count - len(alive)):
            self._open(new_name())

    # -- the relay's side --------------------------------------------------------------------------

    def connect(self, deliver: Deliver) -> None:
        """Say who gets what workers send."""
        with self._gate:
            self._deliver = deliver
            workers = [slot.worker for slot in self._slots.values() if slot.worker is not None]
        for worker in workers:
            self._listen(worker)

    def place(self, session: str) -> str:
        """Give the name of the worker that a turn of this session goes to."""
        with self._gate:
            home = self._homes.get(session)
            if home is None or home not in self._slots:
                names = sorted(self._slots)
                home = names[crc32(session.encode()) % len(names)]
            return home

    def attach(self, session: str, worker: str) -> None:
        """Note that this worker has something of the session already."""
        with self._gate:
            self._homes[session] = worker

    def has(self, worker: str) -> bool:
        """Tell whether a worker of this name is alive, as far as is known."""
        with self._gate:
            return worker in self._slots

    def left_by(self, worker: str) -> Mapping[str, TurnEnded | None] | None:
        """Give what a dead worker had: of each turn that may have run its end, if it had one.

        None for a worker of which nothing is known.
        """
        with self._gate:
            return self._left.get(worker)

    def send(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Hand each message to the worker of its session, in order."""
        with self._gate:
            for message in messages:
                self._send(message)

    def end_workers(self, patience: float) -> list[str]:
        """End all workers and start no more; gives those that are still there after ``patience`` seconds."""
        with self._gate:
            self._ending = True
            names = list(self._there)
        for name in names:
            self._placement.end(name)
        with self._ended:
            self._ended.wait_for(lambda: not self._there, patience)
            return list(self._there)

    def close(self) -> None:
        """Hang up; the workers and their turns go on."""
        with self._gate:
            self._closed = True
            workers = [slot.worker for slot in self._slots.values() if slot.worker is not None]
        self._placement.close()
        for worker in workers:
            worker.link.close()

    def _send(self, message: ToWorkerMessage) -> None:
        if isinstance(message, TurnStored):
            self._stored(message)
        if not self._slots and not isinstance(message, RunTurn):
            return  # all have ended, and had it as long as they were there
        name = self.place(message.session)
        slot = self._slots[name]
        if isinstance(message, RunTurn):
            self._homes[message.session] = name
            slot.turns[message.turn] = message
        if slot.worker is None:
            slot.waiting.append(message)
        else:
            slot.worker.link.send([message])

    def _stored(self, stored: TurnStored) -> None:
        for name, (folder, turns) in list(self._folders.items()):
            turns.discard(stored.turn)
            if not turns:
                del self._folders[name]
                folder.clear_away()

    # -- the workers' side -------------------------------------------------------------------------

    def _listen(self, worker: Worker) -> None:
        worker.link.connect(lambda messages: self._arrived(worker.name, messages))

    def _arrived(self, name: str, messages: Sequence[FromWorkerMessage]) -> None:
        with self._gate:
            slot, deliver = self._slots.get(name), self._deliver
            self._pause = FIRST_PAUSE
            for message in messages:
                if slot is not None and isinstance(message, TurnEnded):
                    slot.turns.pop(message.turn, None)
        if deliver is not None:
            deliver(messages)

    def _open(self, name: str) -> None:
        with self._gate:
            if self._closed:
                return
            self._slots.setdefault(name, _Slot())
        try:
            worker = self._placement.start(name, self._died)
        except OSError as error:
            logger.warning("Worker %s could not be started, and is tried again: %s", name, error)
            self._again(name)
            return
        self._up(worker)

    def _up(self, worker: Worker) -> None:
        with self._gate:
            slot = self._slots.get(worker.name)
            if slot is None:  # it has died already
                return
            slot.worker = worker
            self._there[worker.name] = None
            if self._deliver is not None:
                self._listen(worker)
            waiting, slot.waiting = slot.waiting, []
            if waiting:
                worker.link.send(waiting)

    def _again(self, name: str) -> None:
        pause, self._pause = self._pause, min(self._pause * 2, LONGEST_PAUSE)
        self._later(pause, lambda: self._open(name))

    def _died(self, name: str) -> None:
        """Tell the relay how the dead worker's turns stand, and have another in its place."""
        with self._gate:
            slot = self._slots.pop(name, None)
            if slot is None or self._closed:
                return
            for session in [each for each, home in self._homes.items() if home == name]:
                del self._homes[session]
            deliver = self._deliver
            other = None if self._ending else self._new_name()
            if other is not None:
                self._slots[other] = _Slot()
        if slot.worker is not None:
            ends = self._bury(slot.worker.folder, slot.turns)
            slot.worker.link.close()
            if ends and deliver is not None:
                deliver(ends)
        with self._ended:
            self._there.pop(name, None)
            self._ended.notify_all()
        if other is None:
            logger.info("Worker %s has ended", name)
        else:
            logger.error("Worker %s has died; %s comes in its place", name, other)
            self._again(other)

    def _bury(self, folder: WorkerFolder, turns: Mapping[str, RunTurn]) -> list[FromWorkerMessage]:
        """Read what a dead worker left, and give what that means for the turns that it may have had."""
        name = folder.path.name
        left = {turn: end_in(records) for turn, records in left_behind(folder.spool).items()}
        with self._gate:
            self._left[name] = left
            self._folders[name] = (folder, set(left))
            if not left:
                del self._folders[name]
                folder.clear_away()
        return [_fate(run, left) for run in turns.values()]


def _fate(run: RunTurn, left: Mapping[str, TurnEnded | None]) -> FromWorkerMessage:
    """Give what becomes of a turn whose worker died. Pure."""
    if run.turn not in left:
        return TurnReturned(session=run.session, turn=run.turn)
    end = left[run.turn]
    if end is not None:
        return end
    return TurnEnded(
        session=run.session,
        turn=run.turn,
        outcome="failed",
        stop_reason="interrupted",
        error_text=PARTLY,
    )
