"""A watcher that is asked whenever something comes or is due, as an actor asks it."""

from showcaller.actors.contract.arguments import QuietHours
from showcaller.actors.contract.times import milliseconds_of
from showcaller.actors.relay.wakeups.release import (
    HOUR,
    MINUTE,
    SECOND,
    Key,
    Pace,
    Terms,
    Wakeup,
    Watcher,
    next_due,
    release,
    take,
)

MIDNIGHT = milliseconds_of("2026-11-30T00:00:00.000Z")
NOON = MIDNIGHT + 12 * HOUR
PACE = Pace(coalesce_seconds=30, wakeups_per_hour=20)
NIGHT = QuietHours(start="23:00", end="06:00", tz="UTC")


class Run:
    """A watcher that is asked whenever something comes or is due; its time is seconds from noon."""

    def __init__(self, pace: Pace = PACE, began: int = NOON, **terms: Terms) -> None:
        self.pace, self.began = pace, began
        self.watcher = Watcher(terms=terms)
        self.now = began
        self.left: list[tuple[float, Wakeup]] = []

    def at(self, second: float, cursor: int, *by: str, urgent: bool = False) -> None:
        """An event comes at that second, after all that was due before."""
        moment = self.began + int(second * SECOND)
        self.until(second, all_of_it=False)
        self.now = moment
        self.watcher = take(self.watcher, Key("", cursor), by, moment, self.pace, urgent=urgent)
        self.ask()

    def until(self, second: float, *, all_of_it: bool = True) -> None:
        """Let the time come at which something is due, again and again, up to that second."""
        end = self.began + int(second * SECOND)
        while (due := next_due(self.watcher, self.now)) is not None:
            if due > end or (due == end and not all_of_it):
                break
            self.now = due
            self.ask()
        self.now = max(self.now, end)

    def ask(self, *, extends: bool = False) -> Wakeup | None:
        self.watcher, wakeup = release(self.watcher, self.now, self.pace, extends=extends)
        if wakeup is not None:
            self.left.append(((self.now - self.began) / SECOND, wakeup))
        return wakeup

    @property
    def told(self) -> list[tuple[float, tuple[int, ...]]]:
        return [(second, tuple(key.cursor for key in wakeup.events)) for second, wakeup in self.left]


def digest(minutes: int, made: int = NOON, quiet: QuietHours | None = None) -> Terms:
    return Terms(digest_minutes=minutes, quiet=quiet, next_digest_at=made + minutes * MINUTE)
