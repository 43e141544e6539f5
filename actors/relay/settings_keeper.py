"""Who changes the owner's settings while the relay runs."""

from typing import Any, NamedTuple

from showcaller.actors.contract.settings import Settings
from showcaller.actors.relay.answers import written
from showcaller.actors.relay.refusals import refusal_of
from showcaller.actors.relay.settings_in_force import SettingsInForce
from showcaller.actors.runtime import Actor, ActorRef


class SetSetting(NamedTuple):
    """To the supervisor, and from it to the keeper: keep a checked value; the answer is what is in force."""

    name: str
    value: Any


class SettingsKeeper(Actor):
    """Stores one setting after the other, and has each in force once it is stored."""

    registered = False

    def __init__(self, in_force: SettingsInForce, writer: ActorRef[Any]) -> None:
        super().__init__()
        self._in_force = in_force
        self._writer = writer

    async def on_receive(self, message: SetSetting) -> Settings:
        """Store a setting; raises the refusal of a store that does not take it."""
        refusal = refusal_of(await written(self._writer, "set_setting", **message._asdict()))
        if refusal is not None:
            raise refusal
        self._in_force.change(message.name, message.value)
        return self._in_force.now
