"""A worker with failpoints in what it hears, notes and sends; see ``failing_daemon``."""

import sys
from collections.abc import Callable, Sequence

from showcaller.actors.contract.worker import FromWorkerMessage, ToWorkerMessage, TurnEnded, TurnOutput
from showcaller.transport.links.relay import RelayLink
from showcaller.transport.worker import service
from showcaller.transport.worker.__main__ import main
from showcaller.transport.worker.journal import SpoolJournal
from tests.crash.failing_daemon import points

POINTS = points()


class FailingJournal(SpoolJournal):
    """A spool's journal."""

    def take(self, turns: Sequence[str]) -> None:
        """Write receipts."""
        POINTS.reach("worker.take.before")
        super().take(turns)
        POINTS.reach("worker.take.after")

    def keep(self, message: TurnOutput | TurnEnded) -> None:
        """Keep what came of a turn."""
        POINTS.reach(f"worker.keep.{message.kind}.before")
        super().keep(message)
        POINTS.reach(f"worker.keep.{message.kind}.after")

    def forget(self, turn: str) -> None:
        """Drop what is stored."""
        POINTS.reach("worker.forget.before")
        super().forget(turn)
        POINTS.reach("worker.forget.after")


class FailingLink(RelayLink):
    """A link to the relay; each message passes alone."""

    def connect(self, deliver: Callable[[Sequence[ToWorkerMessage]], None]) -> None:
        """Say who gets what the relay sends."""

        def delivered(messages: Sequence[ToWorkerMessage]) -> None:
            for message in messages:
                POINTS.reach(f"worker.receive.{message.kind}.before")
                deliver([message])
                POINTS.reach(f"worker.receive.{message.kind}.after")

        super().connect(delivered)

    def send(self, messages: Sequence[FromWorkerMessage]) -> None:
        """Pass messages on."""
        for message in messages:
            POINTS.reach(f"worker.send.{message.kind}.before")
            super().send([message])
            POINTS.reach(f"worker.send.{message.kind}.after")


if __name__ == "__main__":
    service.SpoolJournal = FailingJournal  # type: ignore[attr-defined]
    service.RelayLink = FailingLink  # type: ignore[attr-defined]
    sys.exit(main())
