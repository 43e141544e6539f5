"""Who is awake: the sessions' actors by id, for whoever must reach one without asking the supervisor."""

from typing import Any

from showcaller.actors.runtime import ActorRef


class Directory:
    """The refs of the sessions that are awake.

    Only the supervisor changes it; anybody may look, from any thread, because each operation is one
    operation on a dict. A session with a turn under way is always in it.
    """

    __slots__ = ("_awake",)

    def __init__(self) -> None:
        self._awake: dict[str, ActorRef[Any]] = {}

    def find(self, session: str) -> ActorRef[Any] | None:
        """The session's ref, or None when it sleeps or does not exist."""
        return self._awake.get(session)

    def add(self, session: str, ref: ActorRef[Any]) -> None:
        """Note that a session is awake."""
        self._awake[session] = ref

    def remove(self, session: str) -> None:
        """Note that a session sleeps."""
        self._awake.pop(session, None)

    def __len__(self) -> int:
        return len(self._awake)

    def items(self) -> list[tuple[str, ActorRef[Any]]]:
        """Give everybody who is awake at this moment."""
        return list(self._awake.items())
