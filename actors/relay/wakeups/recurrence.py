"""When a schedule fires next, what becomes of times that were missed, and of a clock that was set. Pure.

Times are milliseconds since the epoch (UTC). A schedule has times, and of all that have come since its last
firing it fires once; the next is the first of its times that has not come yet.
"""

from typing import Final, NamedTuple

from showcaller.actors.contract.iso_times import milliseconds_at, moment_of
from showcaller.actors.contract.recurrence_rule import next_time
from showcaller.actors.contract.zones import find_zone

MINUTE: Final = 60_000
HELD_ASKS_AGAIN: Final = MINUTE
"""Between two looks whether a firing that is held may leave."""


class Rhythm(NamedTuple):
    """The times of a schedule, from what its call said and when it was made.

    ``at`` alone is one time; with ``every_minutes`` it is the first, else the first is so many minutes after
    ``made_at``; a rule has none before ``at``.
    """

    made_at: int
    at: int | None = None
    every_minutes: int | None = None
    rrule: str | None = None
    tz: str | None = None
    once: bool = False

    @property
    def repeats(self) -> bool:
        """Whether there is more than one firing."""
        return not self.once and (self.every_minutes is not None or self.rrule is not None)


class Fire(NamedTuple):
    """Fire now; then at ``next_at``, or never again."""

    next_at: int | None


class Skip(NamedTuple):
    """Leave this time out, because the message of the last one still waits."""

    next_at: int | None


class Hold(NamedTuple):
    """Keep the firing, due since ``since``, until the owner lets it leave; look again then."""

    since: int
    ask_again_at: int


class Wait(NamedTuple):
    """Nothing is due before ``until``, which is the schedule's next time from now on."""

    until: int


Due = Fire | Skip | Hold | Wait


def due(
    rhythm: Rhythm,
    next_at: int,
    now: int,
    *,
    last_fired_at: int | None = None,
    last_waits: bool = False,
    is_allowed: bool = True,
    held_since: int | None = None,
) -> Due:
    """Say what is due of a schedule whose next time is ``next_at``.

    Takes a tenth of a second at most, and most of it only for rules that hardly ever fire.

    Args:
        rhythm: its times.
        next_at: the next of them, as it is stored.
        now: the time.
        last_fired_at: when it last fired, if it has.
        last_waits: the message of that firing still waits in the queue.
        is_allowed: whether another prompt may leave; False when the count of those unasked is used up.
        held_since: since when this firing has been held, if it is.

    """
    if now < next_at:
        return Wait(_by_this_clock(rhythm, next_at, now, last_fired_at))
    if last_waits and rhythm.repeats:
        return Skip(next_after(rhythm, now))
    if not is_allowed:
        return Hold(now if held_since is None else held_since, now + HELD_ASKS_AGAIN)
    return Fire(next_after(rhythm, now) if rhythm.repeats else None)


def next_after(rhythm: Rhythm, moment: int) -> int | None:
    """Give the first time of a schedule after a moment; None when there is none within five years."""
    if rhythm.rrule is not None:
        return _next_of_rule(rhythm, rhythm.rrule, moment)
    if rhythm.every_minutes is None:
        return rhythm.at if rhythm.at is not None and rhythm.at > moment else None
    step = rhythm.every_minutes * MINUTE
    if rhythm.at is not None and moment < rhythm.at:
        return rhythm.at
    first = rhythm.made_at if rhythm.at is None else rhythm.at
    return first + ((moment - first) // step + 1) * step


def _next_of_rule(rhythm: Rhythm, rule: str, moment: int) -> int | None:
    zone = None if rhythm.tz is None else find_zone(rhythm.tz)
    if zone is None:  # the machine's zone database has changed since
        return None
    # A rule began when it was made, unless a clock that was set back says that this is still to come.
    start = min(rhythm.made_at, moment) if rhythm.at is None else rhythm.at
    after = max(moment, start - 1)
    try:
        return milliseconds_at(next_time(rule, moment_of(start), moment_of(after), zone), zone)
    except ValueError:
        return None


def _by_this_clock(rhythm: Rhythm, next_at: int, now: int, last_fired_at: int | None) -> int:
    """Give the next time, which comes sooner than planned where the clock has been set back since.

    What has fired does not fire again because the clock shows its time once more. But once a clock has been
    set back by more than an interval, its times are all to come: waiting for where it was would be a stop.
    """
    known = rhythm.made_at if last_fired_at is None else last_fired_at
    if now >= known or not rhythm.repeats:
        return next_at
    following = next_after(rhythm, now)
    if following is None:
        return next_at
    if last_fired_at is not None and following <= last_fired_at:
        second = next_after(rhythm, following)
        if second is not None and second > last_fired_at:
            following = second
    return min(next_at, following)
