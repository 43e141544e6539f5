"""``showcaller`` with failpoints in what its relay tells its workers and hears of them, and in the workers.

``CRASH_NOTES`` is the folder of notes, ``CRASH_ARMED`` what is armed, separated by commas.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from showcaller import entry, workers
from showcaller.actors.contract.worker import ToWorkerMessage
from showcaller.actors.relay.ports import FromWorkers
from showcaller.transport.placement import local
from showcaller.transport.placement.pool import Deliver
from showcaller.transport.placement.processes import WorkerProcesses
from tests.crash.failpoints import Failpoints

NOTES = "CRASH_NOTES"
ARMED = "CRASH_ARMED"


def points() -> Failpoints:
    """The failpoints of this process."""
    return Failpoints(Path(os.environ[NOTES]), os.environ[ARMED].split(","))


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
    local.PROGRAM = ("-m", "tests.crash.failing_worker")
    entry.main()
