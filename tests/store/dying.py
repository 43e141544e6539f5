"""A writer process that dies where it is told to: ``dying.main()`` in place of ``process.main()``.

Arguments before the writer's own: a file in which each death is noted, how many deaths there are to be, and
the place: ``begin`` (before a batch begins), ``answer`` (after the commit, before the answers leave),
``half`` (in the middle of sending them), or ``each``: the first process before the first statement of a
batch, the next one, after it has run what that one left, before the second statement of the next batch, and
so on.
"""

import os
import signal
import socket
import sys
from pathlib import Path

from showcaller.store import process
from showcaller.store.database import OpenDatabase, open_for_writing
from showcaller.store.frames import send_frame


class Death:
    """Knows when it is time."""

    def __init__(self, notes: str, deaths: str, place: str) -> None:
        self._notes = Path(notes)
        self._left = int(deaths) - self.noted()
        self._place = place
        self._statements = 0
        self._batches = 0
        self._frames = 0

    def noted(self) -> int:
        """Count the deaths so far."""
        return len(self._notes.read_text()) if self._notes.exists() else 0

    def open(self, path: str, *, busy_seconds: float) -> OpenDatabase:
        """Open the store and count statements from there."""
        database = open_for_writing(path, busy_seconds=busy_seconds)
        database.connection.set_trace_callback(self.before_statement)
        return database

    def before_statement(self, sql: str) -> None:
        """Die before the chosen statement."""
        if sql.startswith("BEGIN"):
            self._batches += 1
            self._statements = 0
        self._statements += 1
        turn = self.noted() + 1
        last = self._statements == turn and self._batches == min(turn, 2)
        if (self._place == "each" and last) or (self._place == "begin" and self._statements == 1):
            self.die()

    def send(self, stream: socket.socket, frame: bytes) -> None:
        """Die before or while the first answers are sent; the frame before says that the store is open."""
        self._frames += 1
        if self._frames == 2 and self._place == "answer":
            self.die()
        if self._frames == 2 and self._place == "half" and self._left > 0:
            stream.sendall(len(frame).to_bytes(8, "big") + frame[: len(frame) // 2])
            self.die()
        send_frame(stream, frame)

    def die(self) -> None:
        """Note the death and be killed, unless there were enough of them."""
        if self._left > 0:
            with self._notes.open("a") as notes:
                notes.write("x")
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> int:
    """Be a writer process that dies."""
    death = Death(*sys.argv[1:4])
    process.__dict__["open_for_writing"] = death.open
    process.__dict__["send_frame"] = death.send
    return process.main(sys.argv[4:])
