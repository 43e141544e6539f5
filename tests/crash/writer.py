"""A writer process with failpoints: ``main()`` in place of ``store.process.main()``.

Arguments before the writer's own: the folder of notes, and what is armed, separated by commas.
"""

import socket
import sys
from pathlib import Path
from typing import Any

from showcaller.store import process
from showcaller.store.database import OpenDatabase, open_for_writing
from showcaller.store.frames import send_frame
from tests.crash.failpoints import Failpoints

ROOT = Path(__file__).parents[2]
START = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from tests.crash.writer import main
sys.exit(main())
"""
PLANT = "plant:"
"""Before the name of a bug of ``simulation.planted``, among what is armed: it is planted in each process."""


def planted(armed: list[str]) -> list[str]:
    """Plant the bugs that are named, and give what is left: the failpoints."""
    for text in armed:
        if text.startswith(PLANT):
            import pytest

            from tests.simulation import planted as bugs

            getattr(bugs, text.removeprefix(PLANT))(pytest.MonkeyPatch())
    return [text for text in armed if not text.startswith(PLANT)]


def writer_program(notes: Path, armed: list[str]) -> list[str]:
    """Give the command that starts it; the notes of its counts are ``writer counts``."""
    return [sys.executable, "-c", START, str(ROOT), str(notes), ",".join(armed)]


class Writer:
    """The writer's process, as far as it differs from the real one."""

    def __init__(self, points: Failpoints, notes: Path) -> None:
        self._points = points
        self._notes = notes
        self._frames = 0

    def open(self, path: str, **more: Any) -> OpenDatabase:
        """Open the store, and pass a point at every statement from there."""
        database = open_for_writing(path, **more)
        self._points.reach("process.open.after")
        database.connection.set_trace_callback(self._statement)
        return database

    def _statement(self, sql: str) -> None:
        self._points.reach("process.statement.before")
        if sql.startswith("BEGIN"):
            self._points.reach("process.batch.before")
        elif sql.startswith("COMMIT"):
            self._points.reach("process.commit.before")

    def send(self, stream: socket.socket, frame: bytes) -> None:
        """Send the answers; the first frame only says that the store is open."""
        self._frames += 1
        if self._frames == 1:
            send_frame(stream, frame)
            return
        self._points.reach("process.commit.after")
        head = len(frame).to_bytes(8, "big") + frame
        stream.sendall(head[: len(head) // 2])
        self._points.reach("process.answers.half")
        stream.sendall(head[len(head) // 2 :])
        self._points.reach("process.answers.after")
        counts = "\n".join(f"{name} {count}" for name, count in self._points.counts.items())
        (self._notes / "writer counts").write_text(counts)


def main() -> int:
    """Be a writer process with failpoints."""
    notes, armed = Path(sys.argv[1]), planted([text for text in sys.argv[2].split(",") if text])
    writer = Writer(Failpoints(notes, armed), notes)
    process.__dict__["open_for_writing"] = writer.open
    process.__dict__["send_frame"] = writer.send
    return process.main(sys.argv[3:])
