"""The places at which a process may end, each with a name: before and after every operation of every port.

``NAMES`` lists them. A run is given what is armed, ``NAME@N`` for the N-th time that it comes to NAME; what
has happened once in a folder does not happen again there, so that the next process gets beyond it.
"""

import os
import signal
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import get_args

from showcaller.actors.contract.worker import FromWorkerMessage, ToWorkerMessage

EXIT = 99
"""The exit code of a process that ended at a failpoint."""

TO_WORKER = tuple(model.model_fields["kind"].default for model in get_args(ToWorkerMessage))
FROM_WORKER = tuple(model.model_fields["kind"].default for model in get_args(FromWorkerMessage))

_OPERATIONS = (
    "writer.submit",
    "writer.answers",
    "writer.close",
    "reader.read",
    "reader.answer",
    "reader.close",
    "workers.connect",
    *(f"workers.send.{kind}" for kind in TO_WORKER),
    *(f"workers.deliver.{kind}" for kind in FROM_WORKER),
    "workers.close",
    "agent.prompt",
    "caller.call",
)

IN_RELAY = tuple(f"{operation}.{when}" for operation in _OPERATIONS for when in ("before", "after"))
"""In the relay's process. ``writer.answers.before``: it is committed, and the relay does not know it yet."""

IN_WRITER = (
    "process.open.after",
    "process.batch.before",
    "process.statement.before",
    "process.commit.before",
    "process.commit.after",
    "process.answers.half",
    "process.answers.after",
)
"""In the writer's process, which ends alone, or with ``+relay`` takes the relay with it."""

_OF_WORKER = (
    *(f"worker.receive.{kind}" for kind in TO_WORKER),
    "worker.take",
    *(f"worker.keep.{kind}" for kind in ("turn_output", "turn_ended")),
    "worker.forget",
    *(f"worker.send.{kind}" for kind in FROM_WORKER),
)
IN_WORKER = tuple(f"{operation}.{when}" for operation in _OF_WORKER for when in ("before", "after"))
"""In a worker's process, which ends alone, without its guardian."""

NAMES = IN_RELAY + IN_WRITER + IN_WORKER


class Failpoints:
    """What is armed in one process; thread-safe."""

    def __init__(self, folder: Path, armed: Iterable[str] = ()) -> None:
        self._folder = folder
        self._armed = {text.removesuffix("+relay"): text for text in armed}
        unknown = [text for text in self._armed if text.partition("@")[0] not in NAMES]
        if unknown:
            raise ValueError(f"there are no such failpoints: {unknown}")
        self._gate = Lock()
        self.counts: Counter[str] = Counter()

    def reach(self, name: str) -> None:
        """Come to a point; the process ends here when it is armed for this time."""
        if name not in NAMES:
            raise ValueError(f"{name} is not listed: add it to NAMES")
        with self._gate:
            self.counts[name] += 1
            armed = self._armed.get(f"{name}@{self.counts[name]}")
        if armed is not None and self._is_first(armed):
            if armed.endswith("+relay"):
                os.kill(os.getppid(), signal.SIGKILL)
            os._exit(EXIT)

    def _is_first(self, armed: str) -> bool:
        try:
            os.close(os.open(self._folder / f"fired {armed}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True
