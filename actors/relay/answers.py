"""Futures for what the writer and the readers answer, for the few actors that await."""

from typing import Any

from showcaller.actors.relay.messages import Write, Written
from showcaller.actors.relay.ports import ClonePort, ReaderPort
from showcaller.actors.runtime import ActorRef, Future
from showcaller.store.batch import Answer


class _Mailbox:
    """Stands in for a sender's ref: what it is told completes a future."""

    __slots__ = ("future",)

    def __init__(self) -> None:
        self.future: Future[Answer] = Future()

    def tell(self, message: Written) -> None:
        self.future.try_set(message.answer)


def written(writer: ActorRef[Any], command: str, /, **arguments: Any) -> Future[Answer]:
    """Have a command committed; the future is the writer's answer."""
    mailbox = _Mailbox()
    writer.tell(Write(command, arguments, mailbox, None))  # type: ignore[arg-type]
    return mailbox.future


def read(reader: ReaderPort, query: str, /, **arguments: Any) -> Future[Any]:
    """Run a query; the future is its value, or raises what the store raised."""
    future: Future[Any] = Future()

    def done(value: Any, error: Exception | None) -> None:
        if error is None:
            future.try_set(value)
        else:
            future.try_set_exception(error)

    reader.read(query, arguments, done)
    return future


def clone_left(clones: ClonePort, session: str, *, deletes: bool) -> Future[str | None]:
    """Have said what a session that was put away has left in its clone."""
    future: Future[str | None] = Future()

    def done(told: str | None) -> None:
        future.try_set(told)

    clones.left(session, done, deletes=deletes)
    return future
