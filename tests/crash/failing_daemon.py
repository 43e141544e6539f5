"""``showcaller`` with failpoints between its relay and its workers, and in its workers and its writer.

``CRASH_NOTES`` is the folder of notes, ``CRASH_ARMED`` what is armed, separated by commas.
"""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from showcaller import assembly, entry, workers
from showcaller.actors.contract.worker import ToWorkerMessage
from showcaller.actors.relay.ports import FromWorkers
from showcaller.store.writer import ProcessWriter
from showcaller.transport.placement import local
from showcaller.transport.placement.pool import Deliver
from showcaller.transport.placement.processes import WorkerProcesses
from tests.crash.failpoints import Failpoints
from tests.crash.writer import writer_program

NOTES = "CRASH_NOTES"
ARMED = "CRASH_ARMED"


def notes() -> Path:
    """The folder of notes."""
    return Path(os.environ[NOTES])


def armed() -> list[str]:
    """What is armed, in all processes."""
    return os.environ[ARMED].split(",")


def points() -> Failpoints:
    """The failpoints of this process."""
    return Failpoints(notes(), armed())


class FailingProcesses(WorkerProcesses):
    """Worker processes; each message passes alone, so that there is a point between any two."""

    def connect(self, deliver: Deliver) -> None:
        """Say who gets what workers send."""
        found = points()

        def delivered(messages: FromWorkers) -> None:
            for message in messages:
                found.reach(f"workers.deliver.{message.kind}.before")
                deliver([message])
                found.reach(f"workers.deliver.{message.kind}.after")

        self._points = found
        super().connect(delivered)

    def send(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Pass messages on."""
        for message in messages:
            self._points.reach(f"workers.send.{message.kind}.before")
            super().send([message])
            self._points.reach(f"workers.send.{message.kind}.after")


if __name__ == "__main__":
    workers.WorkerProcesses = FailingProcesses  # type: ignore[attr-defined]
    failing_writer = partial(ProcessWriter, program=writer_program(notes(), armed()))
    assembly.ProcessWriter = failing_writer  # type: ignore[attr-defined,assignment]
    local.PROGRAM = ("-m", "tests.crash.failing_worker")
    entry.main()
