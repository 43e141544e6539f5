"""pykka's registry, with constant-time removal."""

from collections.abc import Iterator
from typing import Any

import pykka


class RefTable:
    """The refs of running actors in starting order, with as much of a list as pykka's registry uses.

    pykka keeps a list, in which removing one of 100,000 actors is linear. Every operation here is one
    operation on a dict; whoever iterates gets a snapshot.
    """

    __slots__ = ("_refs",)

    def __init__(self, refs: "list[pykka.ActorRef[Any]]") -> None:
        self._refs: dict[pykka.ActorRef[Any], None] = dict.fromkeys(refs)

    def append(self, ref: "pykka.ActorRef[Any]") -> None:
        """Add a ref at the end."""
        self._refs[ref] = None

    def remove(self, ref: "pykka.ActorRef[Any]") -> None:
        """Remove a ref, if it is still there."""
        self._refs.pop(ref, None)

    def discard(self, ref: "pykka.ActorRef[Any]") -> bool:
        """Remove a ref if it is there, and say whether it was."""
        return self._refs.pop(ref, self) is None

    def __contains__(self, ref: object) -> bool:
        return ref in self._refs

    def __len__(self) -> int:
        return len(self._refs)

    def __iter__(self) -> "Iterator[pykka.ActorRef[Any]]":
        return iter(list(self._refs))

    def __getitem__(self, part: slice) -> "list[pykka.ActorRef[Any]]":
        return list(self._refs)[part]


RUNNING = RefTable(pykka.ActorRegistry._actor_refs)
pykka.ActorRegistry._actor_refs = RUNNING  # type: ignore[assignment]
