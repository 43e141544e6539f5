"""How long a turn may run: its time, which stands still while its agent waits on a card."""

from collections.abc import Callable
from typing import Any, NamedTuple

from showcaller.actors.relay.ports import Ports
from showcaller.actors.runtime import Timer


class TimeIsUp(NamedTuple):
    """To the session itself: this turn has run as long as a turn may."""

    turn: str


class TurnTime:
    """The time of the turn that a session has with a worker; ``tell_after`` tells the session later."""

    def __init__(self, ports: Ports, tell_after: Callable[[float, Any], Timer]) -> None:
        self._ports = ports
        self._tell_after = tell_after
        self._turn: str | None = None
        self._since = 0
        self._timer: Timer | None = None

    def begin(self, turn: str, since: int) -> None:
        """This turn runs since then (milliseconds); have it end if it takes too long."""
        self._turn, self._since = turn, since
        self.go_on()

    def go_on(self, on_cards: int = 0) -> None:
        """Have the turn's time run; it has waited on cards for ``on_cards`` milliseconds of it so far."""
        self.stand_still()
        minutes, now = self._ports.settings.max_turn_minutes, self._ports.clock.wall()
        left = seconds_left(minutes, self._since + on_cards, now)
        if self._turn is not None and left is not None:
            self._timer = self._tell_after(left, TimeIsUp(self._turn))

    def stand_still(self) -> None:
        """Let the turn take its time: it waits for a person."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def over(self) -> None:
        """The turn is with no worker any more."""
        self._turn = None
        self.stand_still()


def seconds_left(minutes: int, since: int, now: int) -> float | None:
    """Say how long a turn that runs since then may still run, given the setting; None for ever. Pure."""
    return max(0.0, minutes * 60 - (now - since) / 1000) if minutes else None
