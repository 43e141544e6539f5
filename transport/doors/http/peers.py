"""Whether the other end of a connection is a process of an agent's tree, as far as Linux says it."""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.calls import Caller
from showcaller.transport.doors.http.holders import (
    below,
    children_of,
    has_descriptors_under_way,
    holds,
    is_held_by,
    is_hidden,
)
from showcaller.transport.doors.http.socket_ends import End, end_of
from showcaller.transport.doors.http.whereabouts import HOST
from showcaller.transport.worker.process_table import process_ids, stat_of

ROUNDS: Final = 5
"""How often it is looked again, for what has come or changed its place meanwhile."""
MOST_ANCESTORS: Final = 1024
MOST_KNOWN: Final = 16
INIT: Final = 1
"""The process above all, which connects to nobody for others."""
PEER: Final = "peer"
"""What in the state of a request's scope remembers, for its connection, what was found."""
OWNERS_INSIDE: Final = (
    "The owner's token is not taken from inside an agent's process tree: an agent uses its own, which is in "
    "SHOWCALLER_TOKEN of its environment."
)
CLIENTS_INSIDE: Final = (
    "Another client's token is not taken from inside an agent's process tree: an agent uses its own "
    "session's, which is in SHOWCALLER_TOKEN of its environment."
)
UNKNOWN: Final = (
    "No process is seen to hold this connection while agents run here, so it may be one of theirs. Connect "
    "by a program that this relay can see: of the same user, and in the same container."
)


class Place(StrEnum):
    """Where the process is that holds the other end of a connection."""

    OUTSIDE = "outside"
    INSIDE = "inside"
    UNKNOWN = "unknown"


class WorkerTree(NamedTuple):
    """Where the processes of a worker's agents hang: below its guardian, which adopts those that are left."""

    guardian: int
    worker: int

    @property
    def has_processes(self) -> bool:
        """Whether anything hangs there but the worker."""
        # In this order: what is left by its parent meanwhile moves up, from the worker's to the guardian's.
        return bool(children_of(self.worker)) or children_of(self.guardian) not in ([], [self.worker])


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
        self._holders: deque[int] = deque(maxlen=MOST_KNOWN)

    async def check(self, caller: Caller, client: tuple[str, int], known: MutableMapping[str, Any]) -> None:
        """Refuse whoever is no agent over a connection that may come from an agent's tree.

        ``known`` belongs to the connection: it is looked once for each. Raises ``Refusal``.
        """
        if caller.kind == "agent":
            return
        if PEER not in known:
            known[PEER] = await asyncio.to_thread(self.place_of, client)
        if known[PEER] is Place.UNKNOWN:
            raise Refusal(Code.FORBIDDEN, UNKNOWN)
        if known[PEER] is Place.INSIDE:
            raise Refusal(Code.FORBIDDEN, OWNERS_INSIDE if caller.kind == "owner" else CLIENTS_INSIDE)

    def place_of(self, client: tuple[str, int]) -> Place:
        """Look where the process is that holds the other end.

        It is not known where that end has gone already, and where nobody is found that holds it: a connection
        can be under way from one process to another, and processes can come faster than they are looked at.
        """
        trees = list(self._trees())
        if not trees:
            return Place.OUTSIDE
        agents_run = any(tree.has_processes for tree in trees)
        end = end_of(client, (HOST, self._port))
        if end is None:
            return Place.OUTSIDE  # the system does not say
        if end.inode == 0:
            return Place.UNKNOWN  # nobody is there to read an answer, and who sent it may be of a tree
        if not agents_run:
            return Place.OUTSIDE
        found = self._place_of_holder(end.name) if os.geteuid() in (0, end.user) else None
        if found is None and self._is_hidden_outside(end):
            found = Place.OUTSIDE
        return found or Place.UNKNOWN

    def _place_of_holder(self, socket: str) -> Place | None:
        """Look at all processes until one holds it: mostly who held one before, or who has just come."""
        looked: set[int] = set()
        for _ in range(ROUNDS):
            new = [pid for pid in self._likely() if pid not in looked]
            if not new:
                break
            looked.update(new)
            place = self._place_of_one(new, socket, holds)
            if place is not None:
                return place
        else:
            return Place.UNKNOWN  # there have always been new ones
        # Threads with descriptors of their own take long to look at, and are looked for in agents alone.
        return self._place_of_one(self._inside(), socket, is_held_by)

    def _likely(self) -> Iterator[int]:
        yield from list(self._holders)
        yield from sorted(process_ids(), reverse=True)

    def _place_of_one(
        self, pids: Iterable[int], socket: str, held: Callable[[int, str], bool]
    ) -> Place | None:
        for pid in pids:
            if held(pid, socket):
                place = Place.OUTSIDE if self._is_outside(pid) else Place.INSIDE
                # Looked again when its place is known: what has gone meanwhile could have been anywhere.
                if held(pid, socket):
                    if pid not in self._holders:
                        self._holders.appendleft(pid)
                    return place
        return None

    def _is_outside(self, pid: int) -> bool:
        """Tell whether no guardian is above a process; a worker itself counts as outside."""
        trees = list(self._trees())
        if any(pid == tree.worker for tree in trees):
            return True
        guardians = {tree.guardian for tree in trees}
        for _ in range(ROUNDS):
            above = _ancestors(pid)
            if not guardians.isdisjoint(above):
                return False
            if above[-1:] == [0]:
                return True
        return False

    def _inside(self) -> set[int]:
        """Give all processes that hang in the trees, but the workers."""
        trees = list(self._trees())
        return below(tree.guardian for tree in trees) - {tree.worker for tree in trees}

    def _is_hidden_outside(self, end: End) -> bool:
        """Tell whether only a process outside of the trees can hold an end that nobody is seen to hold.

        A daemon for logins is one: it connects as the user whom it has let in, and lets nobody look into it.
        """
        inside = self._inside()
        if any(is_hidden(pid, end.user) or has_descriptors_under_way(pid) for pid in inside):
            return False
        if os.geteuid() not in (0, end.user):
            return True
        return any(is_hidden(pid, end.user) for pid in process_ids() if pid not in inside | {INIT})


def _ancestors(pid: int) -> list[int]:
    """Give the processes above one, at last 0; without it where one of them has ended meanwhile."""
    found: list[int] = []
    for _ in range(MOST_ANCESTORS):
        stat = stat_of(pid)
        if stat is None:
            break
        pid = stat.parent
        found.append(pid)
        if pid == 0:
            break
    return found
