"""Who changes the owner's settings while the relay runs."""

from typing import Any, Final, NamedTuple

from showcaller.actors.contract.settings import Settings
from showcaller.actors.relay.answers import written
from showcaller.actors.relay.card_messages import AgentsShutOut
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_of
from showcaller.actors.relay.watch_messages import WakeUpsChanged
from showcaller.actors.runtime import Actor, ActorRef

OF_WAKE_UPS: Final = frozenset({"agent_sessions", "coalesce_seconds", "wakeups_per_hour"})
"""The settings by which wake-ups leave, or none do."""


class SetSetting(NamedTuple):
    """To the supervisor, and from it to the keeper: keep a checked value; the answer is what is in force."""

    name: str
    value: Any


class SettingsKeeper(Actor):
    """Stores one setting after the other, and has each in force once it is stored.

    When agents are shut out, what their calls wait for is withdrawn and forgotten with that, and the
    supervisor is told. It is told as well of what those who watch are to know.
    """

    registered = False

    def __init__(self, ports: Ports, writer: ActorRef[Any], supervisor: ActorRef[Any]) -> None:
        super().__init__()
        self._ports = ports
        self._writer = writer
        self._supervisor = supervisor

    async def on_receive(self, message: SetSetting) -> Settings:
        """Store a setting; raises the refusal of a store that does not take it."""
        shut_out_at = self._ports.clock.wall() if shuts_out(message) else None
        arguments = {**message._asdict(), "shut_out_at": shut_out_at}
        refusal = refusal_of(await written(self._writer, "set_setting", **arguments))
        if refusal is not None:
            raise refusal
        self._ports.in_force.change(message.name, message.value)
        if shut_out_at is not None:
            self._supervisor.tell(AgentsShutOut())
        if message.name in OF_WAKE_UPS:
            self._supervisor.tell(WakeUpsChanged())
        return self._ports.in_force.now


def shuts_out(message: SetSetting) -> bool:
    """Tell whether agents may do nothing any more when this is set. Pure."""
    return message.name == "agent_sessions" and not message.value
