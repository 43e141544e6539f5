"""Whether the other end of a connection is a process of an agent's tree, as far as Linux says it."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, MutableMapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.calls import Caller
from showcaller.transport.doors.http.whereabouts import HOST
from showcaller.transport.worker.process_table import process_ids, stat_of

TABLE: Final = Path("/proc/net/tcp")
ROUNDS: Final = 5
"""How often it is looked again: for processes that have come meanwhile, and for what the table left out."""
MOST_ANCESTORS: Final = 1024
PEER: Final = "peer"
"""What in the state of a request's scope remembers, for its connection, what was found."""
CLIENTS_INSIDE: Final = (
    "Another client's token is not taken from inside an agent's process tree: an agent uses its own "
    "session's, which is in SHOWCALLER_TOKEN of its environment."
)
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

    async def check(self, caller: Caller, client: tuple[str, int], known: MutableMapping[str, Any]) -> None:
        """Refuse whoever is no agent over a connection that comes from an agent's tree; raises ``Refusal``.

        ``known`` belongs to the connection: it is looked once for each.
        """
        if caller.kind == "agent":
            return
        if PEER not in known:
            known[PEER] = await asyncio.to_thread(self.is_agents, client)
        if known[PEER]:
            raise Refusal(Code.FORBIDDEN, INSIDE if caller.kind == "owner" else CLIENTS_INSIDE)

    def is_agents(self, client: tuple[str, int]) -> bool:
        """Tell whether a process of an agent's tree holds the other end, or it may be that one does.

        So it may where it has gone already, and where nobody is found that holds it: a connection can be
        under way from one process to another, and processes can come faster than they are looked at.
        """
        seen: set[int] = set()
        end: End | None = None
        for _ in range(ROUNDS):
            new = self._processes() - seen
            if not new:
                break
            if end is None:
                end = self._end(client)
                if end is None:
                    return False  # the system does not say
                if end.inode == 0:
                    return True  # nobody is there to read an answer, and who sent it may be of a tree
            if any(is_held_by(pid, end.name) for pid in new):
                return True
            seen |= new
        return end is not None and not self._is_held_outside(end, seen)

    def _is_held_outside(self, end: "End", inside: set[int]) -> bool:
        """Tell whether a process that hangs below no guardian holds it, or one that we may not look into."""
        us = os.geteuid()
        if us not in (0, end.user):
            return True
        pids = sorted(set(process_ids()) - inside, reverse=True)  # who has just connected is mostly new
        return any(self._holds_outside(pid, end.name) for pid in pids)

    def _holds_outside(self, pid: int, socket: str) -> bool:
        # It is looked again when its place is known: what has gone meanwhile could have been anywhere.
        return is_held_by(pid, socket) and self._is_outside(pid) and is_held_by(pid, socket)

    def _is_outside(self, pid: int) -> bool:
        """Tell whether no guardian is above a process; a worker itself counts as outside."""
        trees = list(self._trees())
        if any(pid == tree.worker for tree in trees):
            return True
        guardians = {tree.guardian for tree in trees}
        for _ in range(MOST_ANCESTORS):
            stat = stat_of(pid)
            if stat is None:
                return False  # one above has ended meanwhile
            pid = stat.parent
            if pid in guardians:
                return False
            if pid <= 1:
                return True
        return False

    def _end(self, client: tuple[str, int]) -> "End | None":
        """Look for the other end: the table changes while it is read, so one that is missing may be there."""
        end: End | None = None
        for _ in range(ROUNDS):
            end = socket_of(_table(), client, (HOST, self._port))
            if end is None or end.inode != 0:
                break
        return end

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


class End(NamedTuple):
    """An end of a connection: its inode, 0 if its process has closed it, and the user whose it is."""

    inode: int
    user: int

    @property
    def name(self) -> str:
        """How it stands among the descriptors of a process."""
        return f"socket:[{self.inode}]"


def socket_of(table: str, local: tuple[str, int], remote: tuple[str, int]) -> End | None:
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
    return End(0, 0)


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


def is_held_by(pid: int, socket: str) -> bool:
    """Tell whether a process holds a socket, by any of its threads: each can have descriptors of its own."""
    if _is_among(f"/proc/{pid}/fd", socket):
        return True
    tasks = f"/proc/{pid}/task"
    return any(_is_among(f"{tasks}/{thread}/fd", socket) for thread in _listed(tasks) if thread != str(pid))


def _is_among(folder: str, socket: str) -> bool:
    for name in _listed(folder):
        try:
            if os.readlink(f"{folder}/{name}") == socket:  # noqa: PTH115 - the hot path
                return True
        except OSError:
            continue
    return False


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - the hot path
    except OSError:
        return []
