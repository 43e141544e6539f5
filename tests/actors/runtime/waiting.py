"""Actors that await what they are sent, for the tests of coroutines as handlers."""

from typing import Any

from showcaller.actors.runtime import Actor, ActorRef, Future


class Waiting(Actor):
    """Awaits the future it is sent, notes what it does, and answers with the value."""

    registered = False

    def __init__(self) -> None:
        super().__init__()
        self.log: list[Any] = []

    async def on_receive(self, message: Any) -> Any:
        self.log.append("begin")
        try:
            return await message if isinstance(message, Future) else message
        finally:
            self.log.append("end")


class Reentrant(Waiting):
    """The same, and takes other messages meanwhile."""

    reentrant = True


def log_of(ref: ActorRef[Any]) -> list[Any]:
    """Look into an actor."""
    actor = ref._actor
    assert isinstance(actor, Waiting)
    return actor.log
