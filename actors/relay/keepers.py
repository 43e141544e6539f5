"""The parts of a relay that there is one of each: started when a message comes for them, and ended."""

from typing import Any, get_args

from showcaller.actors.relay.event_feed import AwaitEvent, EndFeed, EventFeed
from showcaller.actors.relay.group_keeper import ChangeGroups, GroupKeeper
from showcaller.actors.relay.housekeeping import Housekeeper
from showcaller.actors.relay.listeners import tell_if_alive
from showcaller.actors.relay.log_reading import Bell
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.replies import Reply, answer
from showcaller.actors.relay.settings_keeper import SetSetting, SettingsKeeper
from showcaller.actors.relay.token_keeper import ForTokens, TokenKeeper
from showcaller.actors.relay.watch_feed import WatchFeed
from showcaller.actors.relay.watch_messages import ForWatcher, WakeUpsChanged
from showcaller.actors.runtime import Actor, ActorRef


class Keepers:
    """Which of them run; used by the supervisor alone."""

    def __init__(self, ports: Ports, bell: Bell, supervisor: ActorRef[Any]) -> None:
        self._ports = ports
        self._bell = bell
        self._supervisor = supervisor
        self._running: dict[type[Actor], ActorRef[Any]] = {}
        self._over: Exception | None = None
        self.housekeeper: ActorRef[Any] | None = None

    def begin(self, writer: ActorRef[Any]) -> None:
        """Start those that do something unasked, once the relay has recovered."""
        if self._over is None:
            self.housekeeper = Housekeeper.start(self._ports, writer)
            self._keeper(WatchFeed, writer)

    def takes(self, message: Any) -> bool:
        """Tell whether a message is for one of them."""
        return type(message) in _KINDS

    def take(self, message: Any, reply: Reply, writer: ActorRef[Any]) -> None:
        """Pass a message on to whom it is for, started if this is the first."""
        if self._over is not None:
            answer(reply, self._over)
            return
        keeper = self._keeper(_KINDS[type(message)], writer)
        if reply is None:
            tell_if_alive(keeper, message)
        else:
            keeper.forward(message, reply)

    def end(self, error: Exception) -> None:
        """Tidy up no more, without waiting for it, and wake nobody; who waits for events gets this."""
        self._over = error
        if self.housekeeper is not None:
            self.housekeeper.kill()
            self.housekeeper = None
        for kind in (EventFeed, WatchFeed):
            if kind in self._running:
                tell_if_alive(self._running[kind], EndFeed(error))

    def _keeper(self, kind: type[Actor], writer: ActorRef[Any]) -> ActorRef[Any]:
        running = self._running.get(kind)
        if running is None or not running.is_alive():
            running = self._running[kind] = kind.start(*self._parts(kind, writer))
        return running

    def _parts(self, kind: type[Actor], writer: ActorRef[Any]) -> tuple[Any, ...]:
        if kind is EventFeed:
            return (self._ports.reader, self._bell)
        if kind is SettingsKeeper:
            return (self._ports, writer, self._supervisor)
        if kind is WatchFeed:
            return (self._ports, writer, self._supervisor, self._bell)
        return (self._ports, writer)


_KINDS: dict[type, type[Actor]] = {
    SetSetting: SettingsKeeper,
    **dict.fromkeys(get_args(ForTokens), TokenKeeper),
    ChangeGroups: GroupKeeper,
    AwaitEvent: EventFeed,
    ForWatcher: WatchFeed,
    WakeUpsChanged: WatchFeed,
}
