"""The relay's ports with a failpoint before and after everything that passes through them."""

from collections.abc import Callable, Sequence
from typing import Any

from showcaller.actors.contract.worker import ToWorkerMessage
from showcaller.actors.relay.ports import FromWorkers, ReaderPort, WorkerPort, WriterPort
from showcaller.store.batch import Answer, Batch, BatchDone
from tests.crash.failpoints import Failpoints


class FailingWriter:
    """A writer port."""

    def __init__(self, inner: WriterPort, points: Failpoints) -> None:
        self._inner = inner
        self._points = points

    def submit(self, batch: Batch, done: BatchDone) -> None:
        """Pass a batch on, and its answers back."""

        def answered(answers: Sequence[Answer]) -> None:
            self._points.reach("writer.answers.before")
            done(answers)
            self._points.reach("writer.answers.after")

        self._points.reach("writer.submit.before")
        self._inner.submit(batch, answered)
        self._points.reach("writer.submit.after")

    def close(self) -> None:
        """Close the port."""
        self._points.reach("writer.close.before")
        self._inner.close()
        self._points.reach("writer.close.after")


class FailingReader:
    """A reader port."""

    def __init__(self, inner: ReaderPort, points: Failpoints) -> None:
        self._inner = inner
        self._points = points

    def read(
        self, name: str, arguments: dict[str, Any], done: Callable[[Any, Exception | None], None]
    ) -> None:
        """Pass a query on, and its value back."""

        def answered(value: Any, error: Exception | None) -> None:
            self._points.reach("reader.answer.before")
            done(value, error)
            self._points.reach("reader.answer.after")

        self._points.reach("reader.read.before")
        self._inner.read(name, arguments, answered)
        self._points.reach("reader.read.after")

    def close(self) -> None:
        """Close the port."""
        self._points.reach("reader.close.before")
        self._inner.close()
        self._points.reach("reader.close.after")


class FailingWorkers:
    """A worker port; each message passes alone, so that there is a point between any two."""

    def __init__(self, inner: WorkerPort, points: Failpoints) -> None:
        self._inner = inner
        self._points = points

    def connect(self, deliver: Callable[[FromWorkers], None]) -> None:
        """Say who gets what workers send."""

        def delivered(messages: FromWorkers) -> None:
            for message in messages:
                self._points.reach(f"workers.deliver.{message.kind}.before")
                deliver([message])
                self._points.reach(f"workers.deliver.{message.kind}.after")

        self._points.reach("workers.connect.before")
        self._inner.connect(delivered)
        self._points.reach("workers.connect.after")

    def send(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Pass messages on."""
        for message in messages:
            self._points.reach(f"workers.send.{message.kind}.before")
            self._inner.send([message])
            self._points.reach(f"workers.send.{message.kind}.after")

    def close(self) -> None:
        """Close the port."""
        self._points.reach("workers.close.before")
        self._inner.close()
        self._points.reach("workers.close.after")
