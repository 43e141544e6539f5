"""The writer's books: every command from its arrival to its answer, kept through the writer's failures."""

import logging
from collections import deque
from collections.abc import Sequence
from typing import Any

from showcaller.actors.relay.messages import Write
from showcaller.actors.runtime import Future
from showcaller.store.batch import Answer, Batch, Command

logger = logging.getLogger("showcaller.relay")

BATCH_LIMIT = 1000  # commands in one transaction: beyond it a larger one no longer pays
BATCH_TEXT = 4_000_000  # characters of text in one batch, so that its frame stays within a few megabytes


class Ledger:
    """Which commands wait, which are under way as a batch, and which answers have not been handed out.

    Every life of the writer gets the same ledger, so that what one life began the next one ends. Not
    thread-safe: it belongs to the writer, and after the writer's end for good to who started it.
    """

    def __init__(self, incarnation: str) -> None:
        self._incarnation = incarnation
        self._waiting: deque[Write] = deque()
        self._under_way: list[Write] = []
        self._answered: deque[tuple[Write, Answer]] = deque()
        self._awaiting: deque[tuple[int, Future[Any]]] = deque()
        self._batch: Batch | None = None
        self._batches = 0
        self._commands = 0
        self._added = 0
        self._handed_out = 0

    def add(self, write: Write) -> None:
        """Note a command that is to be carried out."""
        self._waiting.append(write)
        self._added += 1

    def await_answers(self, reply: "Future[Any]") -> None:
        """Note who waits until everything added so far has its answer."""
        self._awaiting.append((self._added, reply))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to do for anybody."""
        return not (self._waiting or self._batch or self._answered or self._awaiting)

    def batch(self) -> Batch | None:
        """Give the batch to be run: the one under way, else the next; None when no command waits."""
        if self._batch is None and self._waiting:
            self._under_way = self._next_writes()
            self._batches += 1
            commands = [
                Command(self._commands + number, write.name, write.arguments)
                for number, write in enumerate(self._under_way, start=1)
            ]
            self._commands += len(commands)
            self._batch = Batch(self._incarnation, self._batches, commands)
        return self._batch

    def _next_writes(self) -> list[Write]:
        """Take what fits into one batch; a command that is too long for any goes alone."""
        waiting = self._waiting
        taken = [waiting.popleft()]
        size = text_size(taken[0].arguments) if waiting else 0
        while waiting and len(taken) < BATCH_LIMIT:
            size += text_size(waiting[0].arguments)
            if size > BATCH_TEXT:
                break
            taken.append(waiting.popleft())
        return taken

    def note_answers(self, answers: Sequence[Answer]) -> None:
        """Take the answers to the batch under way, in the order of its commands."""
        batch, writes = self._batch, self._under_way
        if batch is None:
            return
        if len(answers) != len(writes):
            logger.error("Batch %d of %d commands got %d answers", batch.number, len(writes), len(answers))
            answers = [Answer(c.number, None, "fault", "the writer gave no answer") for c in batch.commands]
        self._answered.extend(zip(writes, answers, strict=True))
        self._batch, self._under_way = None, []

    def next_answer(self) -> tuple[Write, Answer] | None:
        """Give a command with its answer, once; None when none is left to hand out."""
        if not self._answered:
            return None
        self._handed_out += 1
        return self._answered.popleft()

    def answer_awaiting(self) -> None:
        """Answer those who wait for no more than has been handed out."""
        while self._awaiting and self._awaiting[0][0] <= self._handed_out:
            self._awaiting.popleft()[1].try_set(None)

    def give_up(self) -> None:
        """Answer all who wait for answers: none will come any more."""
        while self._awaiting:
            self._awaiting.popleft()[1].try_set(None)


def text_size(arguments: Any) -> int:
    """Give about how much text is in a command's arguments: the characters and bytes in it, however deep."""
    size = 0
    for part in arguments.values() if type(arguments) is dict else arguments:
        kind = type(part)  # nothing else than these very types crosses to the writer
        if kind is str or kind is bytes:
            size += len(part)
        elif kind is dict or kind is list:
            size += text_size(part)
    return size
