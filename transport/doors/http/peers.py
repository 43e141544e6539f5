"""Whether the other end of a connection is a process of an agent's tree, as far as Linux says it."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, MutableMapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.transport.doors.http.whereabouts import HOST

TABLE: Final = Path("/proc/net/tcp")
ROUNDS: Final = 5
"""How often it is looked again: for processes that have come meanwhile, and for what the table left out."""
PEER: Final = "peer"
"""What in the state of a request's scope remembers, for its connection, what was found."""
INSIDE: Final = (
    "The owner's token is not taken from inside an agent's process tree: an agent uses its own, which is in "
    "SHOWCALLER_TOKEN of its environment."
)


class WorkerTree(NamedTuple):
    """Where the processes of a worker's agents hang: below its guardian, which adopts those that are left."""

    guardian: int
    worker: int


class Peers:
    """Looks who is at the other end of connections to a port of the loopback address.

    A process is of an agent's tree when a worker's guardian is above it: whatever a worker starts is, in
    whichever session or group, and with whatever environment. Where the system has no ``/proc`` nothing is
    found, and whoever gets another program outside of the tree to connect is not found either.
    """

    def __init__(self, port: int, trees: Callable[[], Iterable[WorkerTree]]) -> None:
        """``trees`` gives the workers that are there; it may block for as long as a small file is read."""
        self._port = port
        self._trees = trees

    async def check_owner(self, client: tuple[str, int], known: MutableMapping[str, Any]) -> None:
        """Refuse a request of the owner's whose connection comes from an agent's tree; raises ``Refusal``.

        ``known`` belongs to the connection: it is looked once for each.
        """
        if PEER not in known:
            known[PEER] = await asyncio.to_thread(self.is_agents, client)
        if known[PEER]:
            raise Refusal(Code.FORBIDDEN, INSIDE)

    def is_agents(self, client: tuple[str, int]) -> bool:
        """Tell whether a process of an agent's tree holds the other end, or one that has gone already."""
        seen: set[int] = set()
        socket: str | None = None
        for _ in range(ROUNDS):
            new = self._processes() - seen
            if not new:
                return False
            if socket is None:
                inode = self._inode(client)
                if inode is None:
                    return False  # the system does not say
                if inode == 0:
                    return True  # nobody is there to read an answer, and who sent it may be of a tree
                socket = f"socket:[{inode}]"
            if any(_holds(pid, socket) for pid in new):
                return True
            seen |= new
        return False

    def _inode(self, client: tuple[str, int]) -> int | None:
        """Look for the other end: the table changes while it is read, so one that is missing may be there."""
        inode: int | None = 0
        for _ in range(ROUNDS):
            inode = socket_of(_table(), client, (HOST, self._port))
            if inode != 0:
                break
        return inode

    def _processes(self) -> set[int]:
        """Give the processes that workers have started, and what these have."""
        found: set[int] = set()
        for tree in self._trees():
            left = [tree.guardian]
            while left:
                for child in _children(left.pop()):
                    if child not in found:
                        found.add(child)
                        left.append(child)
            found.discard(tree.worker)
        return found


def socket_of(table: str, local: tuple[str, int], remote: tuple[str, int]) -> int | None:
    """Give the inode of the end ``local`` of a connection, from the table of the system's TCP sockets. Pure.

    0 is one whose process has closed it, or that is not there any more; None says that there is no table.
    """
    if not table:
        return None
    ends = [_in_table(local), _in_table(remote)]
    for line in table.splitlines():
        fields = line.split()
        if fields[1:3] == ends:
            return int(fields[9])
    return 0


def _in_table(end: tuple[str, int]) -> str:
    address = bytes(map(int, end[0].split(".")))
    number = int.from_bytes(address, byteorder=sys.byteorder)
    return f"{number:08X}:{end[1]:04X}"


def _table() -> str:
    try:
        return TABLE.read_text(encoding="ascii")
    except OSError:
        return ""


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_bytes().split())
    except OSError:  # it has ended: what it had is its guardian's now
        pass
    return found


def _holds(pid: int, socket: str) -> bool:
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)  # noqa: PTH208 - the hot path
    except OSError:
        return False
    for name in names:
        try:
            if os.readlink(f"{folder}/{name}") == socket:  # noqa: PTH115 - the hot path
                return True
        except OSError:
            continue
    return False
