"""The writer's two forms: in the thread that submits, and in a process of its own."""

import logging
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Final, NamedTuple

from showcaller.store.batch import Answer, Batch, BatchDone
from showcaller.store.child import WriterChild, writer_program
from showcaller.store.database import BUSY_SECONDS, open_for_reading, open_for_writing
from showcaller.store.errors import StoreClosed, StoreError, WriterGone
from showcaller.store.frames import pack_batch
from showcaller.store.transaction import committed_answers, refused, run_batch

_LOG: Final = logging.getLogger(__name__)

RESTARTS: Final = 3
"""How often in a row a writer process is replaced without one batch having been answered."""


class InlineWriter:
    """Runs each batch in the thread that submits it; for an embedded relay and for tests. Thread-safe."""

    def __init__(self, path: Path | str, *, busy_seconds: float = BUSY_SECONDS) -> None:
        """Open the store as its writer; raises a StoreError that says what is wrong."""
        self._database = open_for_writing(path, busy_seconds=busy_seconds)
        self._turn = Lock()
        self._closed = False

    def submit(self, batch: Batch, done: BatchDone) -> None:
        """Run the batch and give ``done`` one answer per command, before this returns."""
        with self._turn:
            answers = refused(batch, _closed(self._database.path)) if self._closed else self._run(batch)
        done(answers)

    def close(self) -> None:
        """Wait for a batch that runs in another thread, and close the file."""
        with self._turn:
            self._closed = True
            self._database.close()

    def _run(self, batch: Batch) -> list[Answer]:
        return run_batch(self._database, batch)


class _Submitted(NamedTuple):
    """A batch, and how many bytes of its frame the process has been sent already."""

    batch: Batch
    done: BatchDone
    frame: bytes
    begun: int


class ProcessWriter:
    """Sends each batch to a process of its own, started again when it dies. Thread-safe.

    A batch whose answers were lost with the process is sent again, and runs only if it was not committed.
    ``done`` runs on the writer's one thread, in the order of ``submit``.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        busy_seconds: float = BUSY_SECONDS,
        program: Sequence[str] | None = None,
    ) -> None:
        """Start the process and wait until it has opened the store; raises the StoreError that it met.

        ``program`` replaces the command that is started: it gets the number of a socket, the file and
        ``busy_seconds`` as further arguments, as ``store.process`` does.
        """
        self._path = Path(path).absolute()
        self._busy_seconds = busy_seconds
        self._program = writer_program() if program is None else list(program)
        self._deaths = 0
        self._child: WriterChild | None = self._start()
        self._waiting: SimpleQueue[_Submitted | None] = SimpleQueue()
        self._gate = Lock()
        self._unanswered = 0
        self._closed = False
        self._thread = Thread(target=self._work, name="showcaller-writer", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int | None:
        """The id of the process that writes at present, None between two."""
        child = self._child
        return None if child is None else child.pid

    def submit(self, batch: Batch, done: BatchDone) -> None:
        """Queue the batch; ``done`` gets one answer per command once it is committed or refused.

        One that finds nothing under way is sent from here: the process works while the thread wakes up.
        """
        with self._gate:
            if not self._closed:
                frame = pack_batch(batch)
                idle = self._child if self._unanswered == 0 else None
                begun = 0 if idle is None else idle.begin(frame)
                self._unanswered += 1
                self._waiting.put(_Submitted(batch, done, frame, begun))
                return
        done(refused(batch, _closed(self._path)))

    def close(self) -> None:
        """Finish what was submitted, end the process, and wait for both; not to be called from ``done``."""
        with self._gate:
            if not self._closed:
                self._closed = True
                self._waiting.put(None)
        self._thread.join()

    def _start(self) -> WriterChild:
        return WriterChild(self._program, self._path, self._busy_seconds)

    def _work(self) -> None:
        while (work := self._waiting.get()) is not None:
            answers = self._answers_whatever_happens(work)
            with self._gate:  # from here on the process is free for whoever submits
                self._unanswered -= 1
            try:
                work.done(answers)
            except Exception:  # noqa: BLE001 - a mistake of one asker must not end the thread of all
                _LOG.exception("what waited for batch %d failed to take its answers", work.batch.number)
        if self._child is not None:
            self._child.close()
            self._child = None

    def _answers_whatever_happens(self, work: _Submitted) -> list[Answer]:
        batch = work.batch
        try:
            return self._answers(work)
        except Exception as error:  # noqa: BLE001 - whoever waits for the answers must get some
            _LOG.exception("batch %d of %s could not be exchanged", batch.number, self._path)
            reason = f"its writer failed: {type(error).__name__}: {error}"
            return self._settled(batch, WriterGone(self._path, reason))

    def _answers(self, work: _Submitted) -> list[Answer]:
        """Have the batch run by this process or the next, or find out that it cannot be."""
        batch, begun = work.batch, work.begun
        while True:
            try:
                if self._child is None:
                    self._child = self._start()
            except StoreError as error:
                return self._settled(batch, error)
            answers = self._child.exchange(work.frame, begun)
            begun = 0
            if answers is not None:
                self._deaths = 0
                return answers
            trouble = self._bury(self._child)
            if self._deaths > RESTARTS:
                return self._settled(batch, trouble)

    def _bury(self, child: WriterChild) -> WriterGone:
        code = child.close()
        self._child = None
        self._deaths += 1
        _LOG.warning("the writer process %d of %s ended with %d", child.pid, self._path, code)
        return WriterGone(
            self._path,
            f"its writer process died {self._deaths} times in a row, last with {code}; its own error output "
            "says why, and the next change starts another",
        )

    def _settled(self, batch: Batch, trouble: StoreError) -> list[Answer]:
        """Answer for a process that is no more: what it committed before it died counts."""
        try:
            with closing(open_for_reading(self._path, busy_seconds=self._busy_seconds)) as database:
                return committed_answers(database, batch) or refused(batch, trouble)
        except (StoreError, sqlite3.Error) as error:
            _LOG.warning("whether batch %d was stored cannot be seen: %s", batch.number, error)
            return refused(batch, trouble)


def _closed(path: Path) -> StoreClosed:
    return StoreClosed(path, "its writer was closed, so nothing can be stored any more")
