"""The relay's end of the link to a worker."""

from collections.abc import Callable

from showcaller.actors.contract.worker import FromWorkerMessage, RunTurn, ToWorkerMessage, TurnEnded
from showcaller.transport.links.memory import LinkEnd
from showcaller.transport.links.numbered import Fault, LinkClosedError, NumberedLink, log_fault
from showcaller.transport.wire.frames import WireError
from showcaller.transport.wire.protocol import PROTOCOL
from showcaller.transport.wire.worker_messages import from_worker_message


def nothing_more() -> None:
    """End nothing: what a link does at its close when nobody stands behind the other end."""


class WorkerLink(NumberedLink[ToWorkerMessage, FromWorkerMessage]):
    """What the relay's domain calls its worker port, over any ``LinkEnd``. Thread-safe.

    ``end_worker`` is called by ``close`` first: it ends the running turns and returns when the worker's
    last messages have been delivered. A turn that cannot be sent, because its text or item may not cross
    or because the link is closed, gets its end at once, from ``send`` itself, and so no turn waits for ever.
    ``version`` is that of the worker protocol on the worker's card.
    """

    def __init__(
        self,
        end: LinkEnd,
        end_worker: Callable[[], None] = nothing_more,
        report: Callable[[Fault], None] = log_fault,
        version: int = PROTOCOL,
    ) -> None:
        super().__init__(end, from_worker_message, report, version)
        self._end_worker = end_worker

    def close(self) -> None:
        """End the running turns, wait for the worker's last messages, and close the link. Repeatable."""
        self._end_worker()
        super().close()

    def _unsent(self, message: ToWorkerMessage, why: WireError) -> None:
        if isinstance(message, RunTurn):
            self._deliver([_unsent_end(message, why)])


def _unsent_end(turn: RunTurn, why: WireError) -> TurnEnded:
    return TurnEnded(
        session=turn.session,
        turn=turn.turn,
        outcome="failed",
        stop_reason="interrupted" if isinstance(why, LinkClosedError) else "end",
        error_text=f"this turn was not sent to a worker: {why}",
    )
