"""Who has the owner's changes of groups stored while the relay runs."""

from typing import Any, NamedTuple

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.answers import written
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_of
from showcaller.actors.runtime import Actor, ActorRef
from showcaller.store.batch import Answer


class ChangeGroups(NamedTuple):
    """To the supervisor, and from it to the keeper: a command about groups by its name in the store.

    Answered with what that gives, or with a Refusal; ``nothing`` says what did not happen then.
    """

    command: str
    arguments: dict[str, Any]
    nothing: str


class GroupKeeper(Actor):
    """Stores one change of groups after the other."""

    registered = False

    def __init__(self, ports: Ports, writer: ActorRef[Any]) -> None:
        super().__init__()
        self._ports = ports
        self._writer = writer

    async def on_receive(self, message: ChangeGroups) -> Any:
        """Carry out one change; raises the refusal of a store that does not take it."""
        arguments = dict(message.arguments)
        if message.command == "create_group":
            arguments["at"] = self._ports.clock.wall()
        answer: Answer = await written(self._writer, message.command, **arguments)
        if answer.error == "conflict" and answer.value == "fanout":
            raise Refusal(
                Code.INVALID_INPUT,
                f"{message.nothing} {answer.detail}: it keeps the fan-out's results, and goes with it.",
            )
        refusal = refusal_of(answer)
        if refusal is not None:
            raise refusal
        return answer.value
