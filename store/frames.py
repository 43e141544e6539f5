"""What the relay and its writer process say to each other: msgpack, each frame after its length."""

import socket
import struct
from collections.abc import Sequence
from typing import Any, Final

import msgpack

from showcaller.store.batch import Answer, Batch, Command

_LENGTH: Final = struct.Struct(">Q")
_PIECE: Final = 1 << 20
_READ: Final = 1 << 16


def send_frame(stream: socket.socket, frame: bytes, begun: int = 0) -> None:
    """Send a frame whole, or the rest of one that has ``begun``; raises OSError when the other end is gone.

    A short one goes at once with its length: the other end would wake up twice for it.
    """
    head = _LENGTH.pack(len(frame))
    if begun >= len(head):
        if begun < len(head) + len(frame):
            stream.sendall(memoryview(frame)[begun - len(head) :])
    elif len(frame) <= _PIECE:
        stream.sendall((head + frame)[begun:])
    else:
        stream.sendall(head[begun:])
        stream.sendall(frame)


def begin_frame(stream: socket.socket, frame: bytes) -> int:
    """Send of a short frame what goes without a wait; gives how many bytes, for ``send_frame``.

    None go when the other end is gone, of which ``send_frame`` tells then.
    """
    if len(frame) > _PIECE:
        return 0
    try:
        return stream.send(_LENGTH.pack(len(frame)) + frame, socket.MSG_DONTWAIT)
    except OSError:
        return 0


def receive_frame(stream: socket.socket) -> bytes | None:
    """Receive a frame whole; None when the other end closed or died, also in the middle of one.

    Each end waits for the answer to its frame before it sends another, so what comes is of one frame: a
    short one is read at one go.
    """
    received = bytearray()
    size = _LENGTH.size
    while len(received) < size:
        try:
            piece = stream.recv(max(_READ, min(size - len(received), _PIECE)))
        except ConnectionError:
            return None
        if not piece:
            return None
        received += piece
        if size == _LENGTH.size <= len(received):
            size += _LENGTH.unpack_from(received)[0]
    return bytes(memoryview(received)[_LENGTH.size :])


def pack_batch(batch: Batch) -> bytes:
    """Pack a batch; a command that msgpack cannot carry becomes one that the writer answers as faulty."""
    try:
        return _pack(batch)
    except (TypeError, ValueError, OverflowError, RecursionError):
        carried = [_carried(command) for command in batch.commands]
        return _pack(batch._replace(commands=carried))


def unpack_batch(frame: bytes) -> Batch:
    """Give back the batch that ``pack_batch`` packed."""
    incarnation, number, commands = _unpack(frame)
    return Batch(incarnation, number, [Command(*command) for command in commands])


def pack_answers(answers: Sequence[Answer]) -> bytes:
    """Pack what became of a batch."""
    return _pack(answers)


def unpack_answers(frame: bytes) -> list[Answer]:
    """Give back the answers that ``pack_answers`` packed."""
    return [Answer(*answer) for answer in _unpack(frame)]


def pack_start(trouble: tuple[str, str, str] | None) -> bytes:
    """Pack the writer process's first word: None when it is ready, else an error's kind, path and reason."""
    return _pack(trouble)


def unpack_start(frame: bytes) -> tuple[str, str, str] | None:
    """Give back what ``pack_start`` packed."""
    trouble = _unpack(frame)
    return None if trouble is None else (trouble[0], trouble[1], trouble[2])


def _carried(command: Command) -> Command:
    try:
        _pack(command)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        return Command(command.number, f"{command.name} (cannot be sent: {error})", {})
    return command


def _pack(value: Any) -> bytes:
    # Half of a surrogate pair travels as it is, so that only the command that holds it is refused.
    packed: bytes = msgpack.packb(value, unicode_errors="surrogatepass")
    return packed


def _unpack(frame: bytes) -> Any:
    # Whatever could be packed is understood, so that only the command that makes no sense is refused.
    return msgpack.unpackb(frame, unicode_errors="surrogatepass", strict_map_key=False)
