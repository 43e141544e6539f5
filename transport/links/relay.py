"""The worker's end of the link to its relay."""

from collections.abc import Callable

from showcaller.actors.contract.worker import FromWorkerMessage, ToWorkerMessage, TurnEnded
from showcaller.transport.links.memory import LinkEnd
from showcaller.transport.links.numbered import Fault, LinkClosedError, NumberedLink, log_fault
from showcaller.transport.wire.frames import Frame, WireError
from showcaller.transport.wire.worker_messages import to_worker_message


class RelayLink(NumberedLink[FromWorkerMessage, ToWorkerMessage]):
    """How a worker hears from its relay and answers it. Thread-safe.

    A turn that came but cannot be read, and an end that cannot be sent, are answered with a failed end
    that says why, because the relay waits for exactly one.
    """

    def __init__(self, end: LinkEnd, report: Callable[[Fault], None] = log_fault) -> None:
        super().__init__(end, to_worker_message, report)

    def _unsent(self, message: FromWorkerMessage, why: WireError) -> None:
        if isinstance(message, TurnEnded) and not isinstance(why, LinkClosedError):
            self.send([_failed(message.session, message.turn, f"the turn's end could not be sent: {why}")])

    def _unread(self, frame: Frame, why: WireError) -> None:
        if frame.kind == "run_turn" and isinstance(frame.body, dict):
            turn = frame.body.get("turn")
            if isinstance(turn, str):
                self.send([_failed(frame.session, turn, f"the worker could not read this turn: {why}")])


def _failed(session: str, turn: str, error_text: str) -> TurnEnded:
    return TurnEnded(session=session, turn=turn, outcome="failed", error_text=error_text)
