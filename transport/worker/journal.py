"""What a worker keeps of its turns until the relay has stored their ends: in memory, or in a spool."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from showcaller.actors.contract.fates import Left
from showcaller.actors.contract.worker import FromWorkerMessage, TurnEnded, TurnOutput
from showcaller.transport.wire.frames import WireError, decode, encode
from showcaller.transport.wire.worker_messages import from_worker_message, to_frame
from showcaller.transport.worker.ends import RecentEnds
from showcaller.transport.worker.spool import Record, Spool, left_behind
from showcaller.transport.worker.worker_folder import WorkerFolder

log = logging.getLogger("showcaller.worker")

GAP = "\n… output left out, because it was too much to keep …\n"


class Journal(Protocol):
    """Where a host notes its turns. Used on the host's loop only."""

    def take(self, turns: Sequence[str]) -> None:
        """Note that these turns may reach their agents; on disk when it returns. Raises OSError."""
        ...

    def keep(self, message: TurnOutput | TurnEnded) -> None:
        """Note what came of a turn."""
        ...

    def end_of(self, turn: str) -> TurnEnded | None:
        """Give the end of a turn that is kept."""
        ...

    def outputs(self, session: str, turn: str) -> Iterator[FromWorkerMessage]:
        """Give the outputs of a turn that are kept, in order."""
        ...

    def forget(self, turn: str) -> None:
        """The relay has stored the turn's end."""
        ...

    def close(self) -> None:
        """Note nothing more."""
        ...


class MemoryJournal:
    """The journal of a worker that dies with its relay: ends only, within bounds."""

    def __init__(self) -> None:
        self._ends = RecentEnds()

    def take(self, turns: Sequence[str]) -> None:
        """Nothing to note: nobody could read it after this process."""

    def keep(self, message: TurnOutput | TurnEnded) -> None:
        """Keep an end."""
        if isinstance(message, TurnEnded):
            self._ends.remember(message)

    def end_of(self, turn: str) -> TurnEnded | None:
        """Give the end of a turn while it is kept."""
        return self._ends.find(turn)

    def outputs(self, session: str, turn: str) -> Iterator[FromWorkerMessage]:
        """Give nothing."""
        return iter(())

    def forget(self, turn: str) -> None:
        """Keep it nevertheless, within bounds: a hand-over that was under way twice must find it."""

    def close(self) -> None:
        """Nothing to close."""


class SpoolJournal:
    """The journal of a worker that outlives its relay. Ends that the disk does not take stay in memory."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._recent = RecentEnds()
        self._unwritten: dict[str, TurnEnded] = {}
        self._forgotten: set[str] = set()

    def take(self, turns: Sequence[str]) -> None:
        """Write the receipts. Raises OSError."""
        if self._forgotten:
            self._forget()
        self._spool.take(turns)

    def keep(self, message: TurnOutput | TurnEnded) -> None:
        """Write it into the spool; a frame that the disk does not take is missing in what is given again."""
        if isinstance(message, TurnEnded):
            self._recent.remember(message)  # so that nobody has to read it back, as a rule
        try:
            self._write(message)
        except OSError as error:
            log.warning("The spool could not take a %s of %s: %s", message.kind, message.turn, error)
            if isinstance(message, TurnEnded):
                self._unwritten[message.turn] = message

    def _write(self, message: TurnOutput | TurnEnded) -> None:
        if self._spool.find(message.turn) is None:
            raise OSError("its receipt could not be written")
        frame = encode(to_frame(message, 1))
        self._spool.keep(message.turn, frame, is_end=isinstance(message, TurnEnded))

    def end_of(self, turn: str) -> TurnEnded | None:
        """Give the end of a turn, also of one whose end the relay has stored not long ago."""
        known = self._unwritten.get(turn) or self._recent.find(turn)
        kept = self._spool.find(turn)
        if known is not None or kept is None or not kept.has_ended:
            return known
        return end_in(record for record in self._spool.replay(turn) if record.kind == "end")

    def outputs(self, session: str, turn: str) -> Iterator[FromWorkerMessage]:
        """Give the outputs of a turn, with a line where some were left out."""
        if self._spool.find(turn) is None:
            return
        for record in self._spool.replay(turn):
            if record.kind == "frame":
                yield from_worker_message(decode(record.frame))
            elif record.kind == "gap":
                yield TurnOutput(session=session, turn=turn, text=GAP)

    def forget(self, turn: str) -> None:
        """Drop the turn from the spool; its end stays in memory for a while."""
        self._unwritten.pop(turn, None)
        self._forgotten.add(turn)
        self._forget()

    def _forget(self) -> None:
        """Note what the relay has stored; a disk that is full hears of it later."""
        try:
            while self._forgotten:
                turn = next(iter(self._forgotten))
                self._spool.forget(turn)
                self._forgotten.discard(turn)
        except OSError as error:
            log.warning("The spool could not note what is stored: %s", error)

    def close(self) -> None:
        """Close the spool; what is in it stays for the relay to read, unless nothing is."""
        self._spool.close()


def end_in(records: Iterable[Record]) -> TurnEnded | None:
    """Give the end among the records of a turn, if it has one that can be read."""
    for record in records:
        if record.kind == "end":
            try:
                message = from_worker_message(decode(record.frame))
            except WireError as error:
                log.warning("The end of %s in a spool cannot be read: %s", record.turn, error)
                return None
            return message if isinstance(message, TurnEnded) else None
    return None


def left_in(folder: WorkerFolder, *, has_called: bool = False) -> Left | None:
    """Give what a dead worker has left in its spool, None if nobody can tell.

    One that has not begun has taken nothing. ``has_called`` says that it had, whatever its folder says.
    """
    try:
        if not (has_called or folder.has_begun):
            return Left({})
        turns, is_whole = left_behind(folder.spool)
        return Left({turn: end_in(records) for turn, records in turns.items()}, is_whole)
    except OSError as error:
        log.warning("What a worker has left cannot be read, so its turns are interrupted: %s", error)
        return None
