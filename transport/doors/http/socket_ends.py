"""Which socket is at the other end of a connection on this machine, as far as Linux says it."""

import contextlib
import errno
import os
import socket
import struct
import sys
from pathlib import Path
from typing import Final, NamedTuple

TABLE: Final = Path("/proc/net/tcp")
ROUNDS: Final = 5
"""How often the table is read: it changes meanwhile, so one that is missing may be there."""

_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_ERROR: Final = 2
_REQUEST: Final = 1
_HEAD: Final = struct.Struct("=IHHII")
_WANTED: Final = struct.Struct("=BBBxI")
_ENDS: Final = struct.Struct("!HH4s12x4s12x")
_ANY_DEVICE: Final = struct.pack("=I8s", 0, b"\xff" * 8)
_FOUND: Final = struct.Struct("=4x48s12xII")
"""What is found: behind its state its ends, behind its timer and queues whose it is and its inode."""


class End(NamedTuple):
    """An end of a connection: its inode, 0 if its process has closed it, and the user whose it is."""

    inode: int
    user: int

    @property
    def name(self) -> str:
        """How it stands among the descriptors of a process."""
        return f"socket:[{self.inode}]"


NOBODYS: Final = End(0, 0)


def end_of(local: tuple[str, int], remote: tuple[str, int]) -> End | None:
    """Give the end ``local`` of a connection; one that is not there is as one that is closed.

    None says that the system does not tell. The kernel is asked for this one; where it does not answer,
    its table of all sockets is read, which takes some hundred times as long.
    """
    with contextlib.suppress(OSError):
        return _asked(local, remote)
    end: End | None = None
    for _ in range(ROUNDS):
        end = end_in(_table(), local, remote)
        if end is None or end.inode != 0:
            break
    return end


def end_in(table: str, local: tuple[str, int], remote: tuple[str, int]) -> End | None:
    """Give the end ``local`` of a connection, from the table of the system's TCP sockets. Pure.

    One that is not there is as one that is closed; None says that there is no table.
    """
    if not table:
        return None
    ends = [_in_table(local), _in_table(remote)]
    for line in table.splitlines():
        fields = line.split()
        if fields[1:3] == ends:
            return End(int(fields[9]), int(fields[7]))
    return NOBODYS


def _asked(local: tuple[str, int], remote: tuple[str, int]) -> End:
    """Ask the kernel by a netlink socket; raises OSError where there is none, or it does not say."""
    if sys.platform != "linux":
        raise OSError
    ends = _ENDS.pack(local[1], remote[1], socket.inet_aton(local[0]), socket.inet_aton(remote[0]))
    wanted = _WANTED.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0xFFFFFFFF) + ends + _ANY_DEVICE
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG) as asking:
        asking.setblocking(False)  # it has answered when the request is sent
        asking.send(_HEAD.pack(_HEAD.size + len(wanted), _BY_FAMILY, _REQUEST, 0, 0) + wanted)
        answer = asking.recv(4096)
    _, kind, _, _, _ = _HEAD.unpack_from(answer)
    body = answer[_HEAD.size :]
    if kind == _ERROR:
        number = -int.from_bytes(body[:4], sys.byteorder, signed=True)
        if number == errno.ENOENT:
            return NOBODYS
        raise OSError(number, os.strerror(number))
    if kind != _BY_FAMILY or len(body) < _FOUND.size:
        raise OSError(errno.EPROTO, "the kernel's answer has another form")
    found, user, inode = _FOUND.unpack_from(body)
    if not found.startswith(ends):
        return NOBODYS  # another one, that listens at the port of one that is gone
    return End(inode, user)


def _in_table(end: tuple[str, int]) -> str:
    address = bytes(map(int, end[0].split(".")))
    number = int.from_bytes(address, byteorder=sys.byteorder)
    return f"{number:08X}:{end[1]:04X}"


def _table() -> str:
    try:
        return TABLE.read_text(encoding="ascii")
    except OSError:
        return ""
