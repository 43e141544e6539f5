"""The writer: gathers commands, commits them in batches, and gives each sender its answer."""

from typing import Any

from showcaller.actors.relay.messages import AwaitStored, Write, Written
from showcaller.actors.relay.ports import WriterPort
from showcaller.actors.runtime import Actor, ActorDeadError, Future, take_reply
from showcaller.store.batch import Answer, Batch, Command

BATCH_LIMIT = 1000  # commands in one transaction: beyond it a larger one no longer pays


class _Flush:
    """Told to itself behind the mail that waits: whatever came before it goes into one batch."""


class _Done:
    """A batch came back."""

    def __init__(self, answers: "list[Answer]") -> None:
        self.answers = answers


class Writer(Actor):
    """Owns the writer port. One batch is under way at a time; what comes meanwhile is the next one.

    Tell it ``Write``; the sender gets ``Written`` once the command is committed, or was refused. After
    the writer's death the port sends the same batch again, so a command is carried out once.
    """

    registered = False

    def __init__(self, port: WriterPort, incarnation: str) -> None:
        super().__init__()
        self._port = port
        self._incarnation = incarnation
        self._waiting: list[Write] = []
        self._under_way: list[Write] = []
        self._flushing = False
        self._awaiting: list[Future[Any]] = []
        self._batches = 0
        self._commands = 0

    def on_receive(self, message: Any) -> None:
        """Take a command, send a batch, or hand out its answers."""
        if isinstance(message, Write):
            self._waiting.append(message)
            if not self._flushing and not self._under_way:
                self._flushing = True
                self.actor_ref.tell(_Flush())
        elif isinstance(message, _Flush):
            self._flushing = False
            self._submit()
        elif isinstance(message, _Done):
            self._hand_out(message.answers)
        elif isinstance(message, AwaitStored):
            self._await_stored(take_reply())
        else:
            super().on_receive(message)

    def _await_stored(self, reply: "Future[Any] | None") -> None:
        if reply is not None:
            self._awaiting.append(reply)
            self._maybe_all_stored()

    def _maybe_all_stored(self) -> None:
        if not self._waiting and not self._under_way:
            awaiting, self._awaiting = self._awaiting, []
            for reply in awaiting:
                reply.try_set(None)

    def _submit(self) -> None:
        if self._under_way or not self._waiting:
            return
        self._under_way, self._waiting = self._waiting[:BATCH_LIMIT], self._waiting[BATCH_LIMIT:]
        self._batches += 1
        commands = [
            Command(self._commands + number, write.name, write.arguments)
            for number, write in enumerate(self._under_way, start=1)
        ]
        self._commands += len(commands)
        ref = self.actor_ref
        self._port.submit(
            Batch(self._incarnation, self._batches, commands), lambda answers: ref.tell(_Done(list(answers)))
        )

    def _hand_out(self, answers: list[Answer]) -> None:
        done, self._under_way = self._under_way, []
        for write, answer in zip(done, answers, strict=True):
            try:
                write.sender.tell(Written(write.tag, answer))
            except ActorDeadError:
                continue  # stored all the same; whoever asked has gone
        self._submit()
        self._maybe_all_stored()
