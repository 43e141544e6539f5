"""Packets: what one end of a socket link writes to the other, with whole batches of frames inside.

A packet says which *run* of which end it comes from and for which it is meant, so that what was written to
a peer that has died is never taken by the one that came after it. Batches are numbered from 1 in each
direction of one pair of runs; ``ack`` is the number up to which everything has come.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgpack

from showcaller.transport.wire.frames import FRAME_LIMIT, FrameMalformedError, WireError, WrongVersionError
from showcaller.transport.wire.protocol import PROTOCOL, SPOKEN

PACKET_LIMIT: Final = FRAME_LIMIT + 1024 * 1024
RUN_LIMIT: Final = 64
TOKEN_LIMIT: Final = 256
TEXT_LIMIT: Final = 500
FRAMES_LIMIT: Final = 4096


class Hello(NamedTuple):
    """Who is there: this run of ``peer``; ``to`` is the run that it answers, empty when it speaks first.

    ``versions`` are those of the worker protocol that it speaks.
    """

    peer: str
    run: str
    to: str
    token: str
    versions: tuple[int, ...]


class BatchPacket(NamedTuple):
    """A batch of encoded frames, and an acknowledgement on the way."""

    run: str
    to: str
    number: int
    ack: int
    frames: tuple[bytes, ...]


class Ack(NamedTuple):
    """Everything up to ``ack`` has come; with ``again`` something after it is missing. A sign of life too."""

    run: str
    to: str
    ack: int
    again: bool


class Refused(NamedTuple):
    """The peer is not taken, and why; nothing that it has written will be."""

    why: str


Packet = Hello | BatchPacket | Ack | Refused

_CODES: Final[dict[type, int]] = {Hello: 1, BatchPacket: 2, Ack: 3, Refused: 4}
_OF_ALL_VERSIONS: Final = frozenset({_CODES[Hello], _CODES[Refused]})


def encode_packet(packet: Packet, version: int = PROTOCOL) -> bytes:
    """Turn a packet into bytes, as this version of the protocol has it. Pure."""
    data: bytes = msgpack.packb([version, _CODES[type(packet)], *packet])
    return data


def decode_packet(data: bytes, spoken: Sequence[int] = SPOKEN) -> Packet:
    """Turn bytes of a stranger into a packet. Pure.

    Raises:
        WireError: for anything that is none, of a version that we do not speak, or too large.

    """
    if len(data) > PACKET_LIMIT:
        raise FrameMalformedError(f"a packet of {len(data)} bytes is larger than the limit of {PACKET_LIMIT}")
    try:
        parts: Any = msgpack.unpackb(data, use_list=False, max_map_len=0)
    except (ValueError, TypeError, OverflowError, msgpack.UnpackException) as error:
        raise FrameMalformedError(f"a packet is no msgpack: {error}") from error
    if type(parts) is not tuple or len(parts) < 2:
        raise FrameMalformedError("a packet is a list of its version, its code and its fields")
    version, code, *fields = parts
    if type(version) is not int or (version not in spoken and code not in _OF_ALL_VERSIONS):
        raise WrongVersionError(f"the packet has version {version!r:.20}, and this program speaks {spoken}")
    return _packet(code, fields)


def _packet(code: Any, fields: list[Any]) -> Packet:
    match code, fields:
        case 1, [str(peer), str(run), str(to), str(token), tuple(versions)] if (
            _are_names(peer, run, to)
            and len(token) <= TOKEN_LIMIT
            and len(versions) <= RUN_LIMIT
            and all(type(version) is int for version in versions)
        ):
            return Hello(peer, run, to, token, versions)
        case 2, [str(run), str(to), int(number), int(ack), tuple(frames)] if (
            _are_names(run, to)
            and _are_counts(number, ack)
            and number > 0
            and len(frames) <= FRAMES_LIMIT
            and all(type(frame) is bytes for frame in frames)
        ):
            return BatchPacket(run, to, number, ack, frames)
        case 3, [str(run), str(to), int(ack), bool(again)] if _are_names(run, to) and _are_counts(ack):
            return Ack(run, to, ack, again)
        case 4, [str(why)]:
            return Refused(why[:TEXT_LIMIT])
        case _:
            raise FrameMalformedError(f"a packet with the code {code!r:.20} has not the fields of one")


def _are_names(*texts: str) -> bool:
    return all(len(text) <= RUN_LIMIT for text in texts)


def _are_counts(*numbers: int) -> bool:
    return all(type(number) is int and 0 <= number < 2**63 for number in numbers)


__all__ = [
    "Ack",
    "BatchPacket",
    "Hello",
    "Packet",
    "Refused",
    "WireError",
    "decode_packet",
    "encode_packet",
]
