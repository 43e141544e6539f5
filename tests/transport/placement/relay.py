"""What of a relay has to do with its worker processes."""

import queue
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from showcaller.actors.contract.ids import new_id
from showcaller.actors.contract.worker import FromWorkerMessage, RunTurn, TurnEnded, TurnTaken
from showcaller.transport.links.sockets import WorkerHub
from showcaller.transport.placement.local import LocalPlacement, LocalWorker
from showcaller.transport.worker.process_identity import ProcessIdentity, signal_process
from showcaller.transport.worker.remains import end_remains
from showcaller.transport.worker.worker_folder import WorkerFolder, worker_folders

LIMIT = 30.0


class Relay:
    """What of a relay has to do with its workers."""

    def __init__(self, home: Path, run: str) -> None:
        address = f"ipc://{home / 'links'}"
        self.hub = WorkerHub(address, run, time.monotonic)
        self.later: queue.Queue[Callable[[], None]] = queue.Queue()
        self.placement = LocalPlacement(
            home / "workers", address, self.hub, lambda _, act: self.later.put(act)
        )
        self.deaths: queue.Queue[str] = queue.Queue()
        self.messages: queue.Queue[FromWorkerMessage] = queue.Queue()

    def start(self) -> LocalWorker:
        return self.connected(self.placement.start(new_id("wrk_")))

    def find(self) -> tuple[list[LocalWorker], list[WorkerFolder]]:
        return self.placement.find()

    def connected(self, worker: LocalWorker) -> LocalWorker:
        worker.link.connect(self._deliver)
        self.placement.watch(worker, lambda: self.deaths.put(worker.name))
        return worker

    def _deliver(self, messages: Sequence[FromWorkerMessage]) -> None:
        for message in messages:
            self.messages.put(message)

    def begin(self, worker: LocalWorker, text: str) -> str:
        """Hand over a turn and give its id."""
        turn = new_id("msg_")
        worker.link.send([RunTurn(session="ses_a", turn=turn, provider="command", text=text)])
        return turn

    def taken(self, worker: LocalWorker, text: str) -> str:
        """Hand over a turn and wait for its receipt; gives its id."""
        turn = self.begin(worker, text)
        while self.messages.get(timeout=LIMIT) != TurnTaken(session="ses_a", turn=turn):
            pass
        return turn

    def end_of(self, turn: str) -> TurnEnded:
        while True:
            message = self.messages.get(timeout=LIMIT)
            if isinstance(message, TurnEnded) and message.turn == turn:
                return message

    def run(self, worker: LocalWorker, text: str) -> str:
        return self.end_of(self.begin(worker, text)).reply

    def close(self) -> None:
        self.placement.close()
        self.hub.close()


def process_of(worker: LocalWorker) -> ProcessIdentity:
    process = worker.card.process
    assert process is not None
    return process


def kill_workers(home: Path) -> None:
    """Kill all workers of a data folder, their guardians, and what they have started."""
    for card in [WorkerFolder.read(folder) for folder in worker_folders(home / "workers")]:
        if card is None or card.marker is None:
            continue
        for process in (card.guardian_process, card.process):
            if process is not None:
                signal_process(process, signal.SIGKILL)
        end_remains([card.marker])
