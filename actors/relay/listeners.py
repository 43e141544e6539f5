"""Who waits for the end of which message of a session: calls by their replies, fan-outs by their refs."""

from typing import Any

from showcaller.actors.relay.messages import NotUnderWay, StoreTrouble, TurnOver
from showcaller.actors.runtime import ActorDeadError, ActorRef, Future


class Listeners:
    """Tells each of those who wait once, and forgets them. They may be gone; that is no error."""

    __slots__ = ("_refs", "_replies")

    def __init__(self) -> None:
        self._replies: dict[str, list[Future[Any]]] = {}
        self._refs: dict[str, list[ActorRef[Any]]] = {}

    def __bool__(self) -> bool:
        """Whether anybody still waits."""
        for message, replies in list(self._replies.items()):
            if all(reply.done for reply in replies):
                del self._replies[message]
        return bool(self._replies) or any(ref.is_alive() for refs in self._refs.values() for ref in refs)

    def add_reply(self, message: str, reply: "Future[Any]") -> None:
        """Answer this call at the message's end."""
        waiting = [other for other in self._replies.get(message, ()) if not other.done]
        self._replies[message] = [*waiting, reply]

    def add_ref(self, message: str, ref: ActorRef[Any]) -> None:
        """Tell this actor at the message's end; once, however often it was added."""
        refs = self._refs.setdefault(message, [])
        if ref not in refs:
            refs.append(ref)

    def over(self, over: TurnOver) -> None:
        """The message has its end."""
        self._tell(over.message, over, over)

    def look_up(self, message: str) -> None:
        """No end will come of the message here."""
        self._tell(message, None, NotUnderWay(message))

    def look_up_calls(self, message: str) -> None:
        """Its turn waits on a card: have calls see how it stands, and actors wait on for its end."""
        for reply in self._replies.pop(message, ()):
            reply.try_set(None)

    def trouble(self, message: str, error: Exception) -> None:
        """The store refuses what the message needs: actors hear of it, and of its end later; calls wait."""
        for ref in self._refs.get(message, ()):
            tell_if_alive(ref, StoreTrouble(message, error))

    def look_up_all(self) -> None:
        """No end will come of any message here."""
        for message in {*self._replies, *self._refs}:
            self.look_up(message)

    def _tell(self, message: str, answer: TurnOver | None, told: TurnOver | NotUnderWay) -> None:
        for reply in self._replies.pop(message, ()):
            reply.try_set(answer)
        for ref in self._refs.pop(message, ()):
            tell_if_alive(ref, told)


def tell_if_alive(ref: ActorRef[Any], message: Any) -> None:
    """Tell an actor that may have ended, in which case nobody wants to know any more."""
    try:  # noqa: SIM105 - for every message that the relay's actors send each other, so it should cost nothing
        ref.tell(message)
    except ActorDeadError:
        pass
