"""What sessions have for workers, handed to the link in batches: each of them wakes threads and processes."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from showcaller.actors.contract.worker import RunTurn, StopTurn, ToWorkerMessage, TurnEnded
from showcaller.actors.relay.listeners import tell_if_alive
from showcaller.actors.relay.ports import FromWorkers, WorkerPort
from showcaller.actors.runtime import Actor, ActorRef

logger = logging.getLogger("showcaller.relay")

UNSENT = "it was not sent to its worker as it should be, and may have run in part; the relay's log says why"


class _Go:
    """Told to itself behind the mail that waits: whatever came before it goes with one batch."""


class Courier(Actor):
    """Takes messages for workers, in lists, and hands over what has come while others were at work.

    A turn of which a mistake in the port leaves open whether a worker has it is stopped and has its end at
    once, which ``deliver`` gets as if a worker had told it.
    """

    registered = False

    def __init__(self, port: WorkerPort, deliver: Callable[[FromWorkers], None]) -> None:
        super().__init__()
        self._port = port
        self._deliver = deliver
        self._waiting: list[ToWorkerMessage] = []

    def on_receive(self, message: Any) -> None:
        """Take messages, or go."""
        if isinstance(message, _Go):
            self._go()
        else:
            self._take(message)

    def _take(self, messages: Sequence[ToWorkerMessage]) -> None:
        if not self._waiting:
            self.actor_ref.tell(_Go())
        self._waiting += messages

    def _go(self) -> None:
        batch, self._waiting = self._waiting, []
        try:
            self._port.send(batch)
        except Exception:
            logger.exception("%d messages for workers were not all sent", len(batch))
            runs = [message for message in batch if isinstance(message, RunTurn)]
            if runs:
                self._deliver([_unsent_end(run) for run in runs])
                self._take([StopTurn(session=run.session, turn=run.turn) for run in runs])


def _unsent_end(turn: RunTurn) -> TurnEnded:
    return TurnEnded(
        session=turn.session,
        turn=turn.turn,
        outcome="failed",
        stop_reason="interrupted",
        error_text=UNSENT,
    )


class ByCourier:
    """The worker port as the sessions of a relay get it."""

    def __init__(self, courier: ActorRef[Courier], port: WorkerPort) -> None:
        self._courier = courier
        self._port = port

    def connect(self, deliver: Callable[[FromWorkers], None]) -> None:
        """Say who gets what workers send."""
        self._port.connect(deliver)

    def send(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Leave messages to the courier, which is there as long as the relay."""
        tell_if_alive(self._courier, list(messages))

    def close(self) -> None:
        """End the running turns, or hang up."""
        self._port.close()
