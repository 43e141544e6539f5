"""The spool: what a worker has taken and what came of it, on disk until the relay has stored it.

One append-only journal in segments. A *receipt* says that a turn may reach its agent and is written before
it does; frames that the turn produced follow it. After a death the journal is read up to its first torn
record: with a receipt and without an end a turn may have run in part, without a receipt it never ran. What
is written outlives the process. Whether it outlives the machine is another question, and a sync for each
turn would take longer than anything else that a worker does for it. So the journal says during which run of
the machine it was written, and one of an earlier run may lack receipts. Where a run has no name each receipt
is synced.

A disk that takes only a part of a record must not hide what is written after it: a torn record is the last
of its segment. So where a segment does not end with one, and is not whole, somebody has damaged it, and
nobody knows which receipts it had.
"""

import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import Final, Literal, NamedTuple

from showcaller.transport.ordinary_files import open_ordinary, read_ordinary
from showcaller.transport.worker.machine_run import machine_run

SEGMENT_BYTES: Final = 16 * 1024 * 1024
"""Bytes after which the journal goes on in a new file."""
TURN_BYTES: Final = 64 * 1024 * 1024
"""Bytes of frames that are kept of one turn; what is too much leaves a marked gap."""

_HEAD: Final = Struct("<IIBB")  # bytes of the frame, check sum, kind, bytes of the turn's name
_SUFFIX: Final = ".spool"
_RUN: Final = "machine-run"
_SYNCED: Final = "each receipt is synced"  # in the place of a name

Kind = Literal["receipt", "frame", "gap", "end", "forgotten"]
_CODES: Final[dict[Kind, int]] = {"receipt": 1, "frame": 2, "gap": 3, "end": 4, "forgotten": 5}
_KINDS: Final[dict[int, Kind]] = {code: kind for kind, code in _CODES.items()}


class Record(NamedTuple):
    """One record of the journal."""

    kind: Kind
    turn: str
    frame: bytes


class _Place(NamedTuple):
    segment: int
    offset: int
    size: int


@dataclass(slots=True)
class SpooledTurn:
    """What is kept of a turn: whether it has its end, how many bytes, and whether some are missing."""

    places: list[_Place] = field(default_factory=list)
    segments: set[int] = field(default_factory=set)
    size: int = 0
    has_gap: bool = False
    has_ended: bool = False


class Spool:
    """The journal of one worker. Not thread-safe; the folder must be this worker's alone.

    A folder that a worker has left is read by ``left_behind`` and not written again.
    """

    def __init__(
        self, folder: Path, *, segment_bytes: int = SEGMENT_BYTES, turn_bytes: int = TURN_BYTES
    ) -> None:
        """Begin a journal in a new folder; raises OSError, FileExistsError for one that is there."""
        folder.mkdir(mode=0o700)
        self._folder = folder
        self._syncs = not _name_run(folder / _RUN)
        self._segment_bytes = segment_bytes
        self._turn_bytes = turn_bytes
        self._turns: dict[str, SpooledTurn] = {}
        self._open_turns: dict[int, int] = {}  # of each segment, the turns with something in it
        self._forgotten: dict[int, dict[str, set[int]]] = {}  # said in each segment, and where they stand
        self._segment = 0
        self._position = 0
        self._is_torn = False  # what follows in this segment could not be read
        self._file = self._new_segment(self._segment)

    @property
    def turns(self) -> Sequence[str]:
        """The turns that are kept, in the order in which they were taken."""
        return tuple(self._turns)

    def find(self, turn: str) -> SpooledTurn | None:
        """Give what is kept of a turn."""
        return self._turns.get(turn)

    def take(self, turns: Sequence[str]) -> None:
        """Write the receipts of these turns; when it returns they outlive this process.

        Raises OSError, and then none of them counts as taken.
        """
        new = [turn for turn in turns if turn not in self._turns]
        try:
            for turn in new:
                self._turns[turn] = SpooledTurn()
                self._append("receipt", turn, b"")
            if self._syncs:
                os.fdatasync(self._file)
        except OSError:
            for turn in new:  # a receipt that may be there nevertheless is read as: it may have run
                for segment in self._turns.pop(turn, SpooledTurn()).segments:
                    self._open_turns[segment] -= 1
            raise

    def keep(self, turn: str, frame: bytes, *, is_end: bool = False) -> bool:
        """Keep a frame of a turn that was taken; False for one that is left out. An end always has room.

        Raises OSError, and then nothing of the frame is kept.
        """
        kept = self._turns[turn]
        if not is_end and kept.size + len(frame) > self._turn_bytes:
            if not kept.has_gap:
                kept.has_gap = True
                kept.places.append(self._append("gap", turn, b""))
            return False
        kept.places.append(self._append("end" if is_end else "frame", turn, frame))
        kept.size += len(frame)
        kept.has_ended = kept.has_ended or is_end
        return True

    def replay(self, turn: str) -> Iterator[Record]:
        """Give what was kept of a turn, in order."""
        for place in self._turns[turn].places:
            with os.fdopen(open_ordinary(self._path(place.segment), os.O_RDONLY), "rb") as file:
                file.seek(place.offset)
                record, _ = _parse(file.read(place.size), 0)
            if record is None:
                raise OSError(f"the spool in {self._folder} does not hold what was written to it")
            yield record

    def forget(self, turn: str) -> None:
        """The relay has stored the turn's end: keep nothing of it."""
        kept = self._turns.get(turn)
        if kept is None:
            return
        self._say_forgotten(turn, kept.segments)
        del self._turns[turn]
        for segment in kept.segments:
            self._open_turns[segment] -= 1
        self._clear_away()

    def close(self) -> None:
        """Write no more. What stands there stays: a journal that is missing could have had anything in it."""
        os.close(self._file)

    def _append(self, kind: Kind, turn: str, frame: bytes) -> _Place:
        record = _record(kind, turn, frame)
        if self._is_torn or (self._position and self._position + len(record) > self._segment_bytes):
            self._roll()
        self._write(record)
        place = _Place(self._segment, self._position, len(record))
        self._position += len(record)
        kept = self._turns.get(turn)
        if kept is not None and self._segment not in kept.segments:
            kept.segments.add(self._segment)
            self._open_turns[self._segment] += 1
        return place

    def _write(self, record: bytes) -> None:
        """Write it whole or raise OSError; what a full disk has taken of it is the last of its segment."""
        self._is_torn = True
        try:
            written = os.write(self._file, record)
            if written != len(record):
                raise OSError(f"{written} of {len(record)} bytes could be written to the spool")
        except OSError as error:
            try:
                os.ftruncate(self._file, self._position)
            except OSError as torn:
                raise error from torn
            self._is_torn = False
            raise
        self._is_torn = False

    def _roll(self) -> None:
        """Go on in a new segment, or raise OSError and stay in the old one."""
        made = self._new_segment(self._segment + 1)
        try:
            os.fdatasync(self._file)
        except OSError:
            os.close(made)
            raise
        before, self._file = self._file, made
        self._segment, self._position, self._is_torn = self._segment + 1, 0, False
        os.close(before)

    def _say_forgotten(self, turn: str, segments: set[int]) -> None:
        self._append("forgotten", turn, b"")
        elsewhere = segments - {self._segment}
        if elsewhere:
            self._forgotten.setdefault(self._segment, {})[turn] = elsewhere

    def _clear_away(self) -> None:
        """Delete segments without open turns; what they call forgotten and stands elsewhere is said again."""
        for segment in [each for each, turns in self._open_turns.items() if not turns]:
            if segment == self._segment:
                continue
            said = self._forgotten.get(segment, {})
            for turn, segments in list(said.items()):
                standing = segments & self._open_turns.keys()
                if standing:
                    self._say_forgotten(turn, standing)
                del said[turn]
            self._path(segment).unlink(missing_ok=True)
            self._forgotten.pop(segment, None)
            del self._open_turns[segment]

    def _new_segment(self, segment: int) -> int:
        """Open it; it may be there, empty, from when the disk refused the rest. Raises OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_APPEND | os.O_CLOEXEC
        made = os.open(self._path(segment), flags, 0o600)
        self._open_turns[segment] = 0
        try:
            _sync_folder(self._folder)
        except OSError:
            os.close(made)
            raise
        return made

    def _path(self, segment: int) -> Path:
        return self._folder / f"{segment:08}{_SUFFIX}"


class LeftBehind(NamedTuple):
    """What stands in a journal: the turns that are not forgotten, each with its records.

    Not ``is_whole``: receipts may be missing, of turns that may have run.
    """

    turns: dict[str, list[Record]]
    is_whole: bool


def left_behind(folder: Path) -> LeftBehind:
    """Read what a worker has kept, mostly one that has died. Raises OSError.

    What is torn at the end of a file is left out: whoever wrote it has not gone on with it.
    """
    turns: dict[str, list[Record]] = {}
    paths = sorted(folder.glob(f"*{_SUFFIX}"))
    is_whole = bool(paths) and _has_all_receipts(folder)
    for path in paths:
        try:
            data, position = read_ordinary(path), 0
        except FileNotFoundError:  # a living worker has just deleted it: nobody needs what was in it
            continue
        while position < len(data):
            record, position = _parse(data, position)
            if record is None:
                is_whole = is_whole and _is_torn(data, position)
                break
            if record.kind == "forgotten":
                turns.pop(record.turn, None)
            else:
                turns.setdefault(record.turn, []).append(record)
    kept = {turn: records for turn, records in turns.items() if records[0].kind == "receipt"}
    return LeftBehind(kept, is_whole)


def _has_all_receipts(folder: Path) -> bool:
    """Tell whether what was written of a journal is on the disk as well."""
    try:
        written_during = read_ordinary(folder / _RUN, 200).decode(errors="replace")
    except FileNotFoundError:
        return False
    return written_during in {_SYNCED, machine_run()}


def _name_run(path: Path) -> bool:
    """Note in a file which run of the machine this is, synced; False where runs have no names."""
    run = machine_run()
    made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(made, "w") as file:
        file.write(_SYNCED if run is None else run)
        file.flush()
        os.fsync(file.fileno())
    return run is not None


def _record(kind: Kind, turn: str, frame: bytes) -> bytes:
    name = turn.encode()
    body = name + frame
    return _HEAD.pack(len(frame), zlib.crc32(body), _CODES[kind], len(name)) + body


def _parse(data: bytes, position: int) -> tuple[Record | None, int]:
    """Read the record at a position; None for one that is torn."""
    start = position + _HEAD.size
    if start > len(data):
        return None, position
    size, check, code, name = _HEAD.unpack_from(data, position)
    end = start + name + size
    kind = _KINDS.get(code)
    if end > len(data) or kind is None or zlib.crc32(data[start:end]) != check:
        return None, position
    return Record(kind, data[start : start + name].decode(), data[start + name : end]), end


def _is_torn(data: bytes, position: int) -> bool:
    """Tell whether what cannot be read from a position on is the beginning of a record, and nothing else."""
    start = position + _HEAD.size
    if start > len(data):
        return True
    size, _, code, name = _HEAD.unpack_from(data, position)
    return code in _KINDS and bool(name) and start + name + size > len(data)


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
