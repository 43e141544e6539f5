"""The writer: gathers commands, commits them in batches, and gives each sender its answer."""

from collections.abc import Sequence
from typing import Any

from showcaller.actors.relay.listeners import tell_if_alive
from showcaller.actors.relay.log_reading import Bell
from showcaller.actors.relay.messages import AwaitStored, Write, Written
from showcaller.actors.relay.ports import WriterPort
from showcaller.actors.relay.writer_ledger import Ledger
from showcaller.actors.runtime import (
    Actor,
    ActorRef,
    ChildSpec,
    RestartIntensity,
    Supervisor,
    hand_on,
    take_reply,
)
from showcaller.store.batch import Answer

INTENSITY = RestartIntensity(restarts=5, seconds=30.0)
"""How often the writer may fail before it has ended for good."""

WRITER = "writer"


class _Flush:
    """Told to itself behind the mail that waits: whatever came before it goes into one batch."""


class _Done:
    """A batch came back from one submission of it."""

    def __init__(self, submission: object, answers: Sequence[Answer]) -> None:
        self.submission = submission
        self.answers = answers


class Writer(Actor):
    """Owns the writer port. One batch is under way at a time; what comes meanwhile is the next one.

    Tell it ``Write``; the sender gets ``Written`` once the command is committed, or was refused. After a
    failure its next life goes on with the same ledger: it hands out the answers that are left, and submits
    the batch under way again, of which the store knows whether it was committed. Only the answers to the
    latest submission count, so each command is answered once, and as the store has it. ``bell`` is rung
    after each batch, for those who wait for events.
    """

    registered = False

    def __init__(self, port: WriterPort, ledger: Ledger, bell: Bell) -> None:
        super().__init__()
        self._port = port
        self._ledger = ledger
        self._bell = bell
        self._flushing = False
        self._submission: object | None = None  # the one under way

    def on_start(self) -> None:
        """Go on with what an earlier life has left."""
        if not self._ledger.is_empty:
            self._flush_later()

    def on_receive(self, message: Any) -> None:
        """Take a command, send a batch, or hand out its answers."""
        if isinstance(message, Write):
            self._ledger.add(message)
            if not self._flushing and self._submission is None:
                self._flush_later()
        elif isinstance(message, _Flush):
            self._flushing = False
            self._go_on()
        elif isinstance(message, _Done):
            if message.submission is self._submission:
                self._submission = None
                self._ledger.note_answers(message.answers)
                self._bell.ring()
                self._go_on()
        elif isinstance(message, AwaitStored):
            self._await_stored()
        else:
            super().on_receive(message)

    def _flush_later(self) -> None:
        self._flushing = True
        self.actor_ref.tell(_Flush())

    def _await_stored(self) -> None:
        reply = take_reply()
        if reply is not None:
            hand_on(reply)  # the ledger has it, and the next life that
            self._ledger.await_answers(reply)
            self._ledger.answer_awaiting()

    def _go_on(self) -> None:
        """Hand out what answers there are, and then have the next batch run."""
        ledger = self._ledger
        while (due := ledger.next_answer()) is not None:
            write, answer = due
            tell_if_alive(write.sender, Written(write.tag, answer))  # stored, also when the asker has gone
        ledger.answer_awaiting()
        batch = ledger.batch() if self._submission is None else None
        if batch is not None:
            self._submission = this = object()
            ref = self.actor_ref
            self._port.submit(batch, lambda answers: tell_if_alive(ref, _Done(this, answers)))


class WriterSupervisor(Supervisor):
    """Starts the writer again when it fails; one that fails too often ends for good (watch it)."""

    registered = False


def start_writer(port: WriterPort, ledger: Ledger, bell: Bell) -> ActorRef[WriterSupervisor]:
    """Start a supervised writer on this handler's dispatcher; ask what is given for the child ``WRITER``."""
    child = ChildSpec(WRITER, Writer, (port, ledger, bell), restart="permanent")
    return WriterSupervisor.start([child], intensity=INTENSITY)
