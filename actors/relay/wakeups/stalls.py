"""Who gives no sign, when nothing is left to do, and who works: the events that the relay finds itself. Pure.

Times are milliseconds since the epoch (UTC). What is returned is to be kept, and stored with the events.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from showcaller.actors.contract.arguments import QuietHours
from showcaller.actors.relay.wakeups.quiet_hours import is_quiet

MINUTE: Final = 60_000


class Work(NamedTuple):
    """A turn or a background task that runs; ``id`` is the turn's message or the task.

    It began at ``since``; ``sign_at`` is when its agent last did something, its output grew, it called a
    tool, or a task of it ended. ``waits``: on a card, on a limit, in a call of our tool, or for its worker,
    which is away; ``waited_until`` is when it last did.
    """

    id: str
    session: str
    since: int
    sign_at: int | None = None
    waits: bool = False
    waited_until: int | None = None
    is_task: bool = False


class Stalled(NamedTuple):
    """Something that gave no sign for so many minutes."""

    work: Work
    minutes: int


class Stalls(NamedTuple):
    """What is stalled and was not told: ``found``; ``told`` is to be given the next time.

    ``told`` says of each that was told which sign was its last, so that another one makes it news again.
    ``look_at`` is when something of this can next be stalled.
    """

    found: tuple[Stalled, ...]
    told: Mapping[str, int]
    look_at: int | None


def stalls(works: Sequence[Work], told: Mapping[str, int], minutes: int, now: int) -> Stalls:
    """Find what is stalled for a subscription with these minutes.

    A turn is alive while a task of its session gives signs; who waits is not stalled, and is silent from the
    end of the wait on. What is not among ``works`` any more is forgotten.

    Args:
        works: all that runs in the watched sessions.
        told: what the time before gave.
        minutes: how long nothing may be heard.
        now: the time.

    """
    found: list[Stalled] = []
    kept: dict[str, int] = {}
    times: list[int] = []
    for work in works:
        heard = _heard(work, works)
        before = told.get(work.id)
        if before is not None and heard <= before:
            kept[work.id] = before
            continue
        if work.waits:
            continue
        stalled_at = heard + minutes * MINUTE
        if now < stalled_at:
            times.append(stalled_at)
            continue
        found.append(Stalled(work, (now - heard) // MINUTE))
        kept[work.id] = heard
    return Stalls(tuple(found), MappingProxyType(kept), min(times, default=None))


def _heard(work: Work, works: Iterable[Work]) -> int:
    """Give when something was last heard of a turn, its session's tasks included, or of a task."""
    own = max(work.since, work.sign_at or work.since, work.waited_until or work.since)
    if work.is_task:
        return own
    tasks = [_heard(each, ()) for each in works if each.is_task and each.session == work.session]
    return max([own, *tasks])


class Idle(NamedTuple):
    """Whether ``all_idle`` is to be told now, and whether it can be the next time that nothing is left."""

    tells: bool
    is_armed: bool


def all_idle(*, is_armed: bool, at_work: int) -> Idle:
    """Say whether nothing is left now in the watched sessions, once until something starts again.

    A new subscription is armed if something is at work; what ended before it is no news.

    Args:
        is_armed: whether something was at work since it was last told.
        at_work: how many turns run, messages wait and tasks run in the watched sessions.

    """
    if at_work:
        return Idle(tells=False, is_armed=True)
    return Idle(tells=is_armed, is_armed=False)


class Beat(NamedTuple):
    """Whether a heartbeat is to be told now, and when the next is due; None while nothing runs."""

    tells: bool
    next_at: int | None


def heartbeat(
    next_at: int | None, minutes: int, now: int, *, runs: bool, quiet: QuietHours | None = None
) -> Beat:
    """Say whether a heartbeat is due, every so many minutes from when something began to run.

    None comes inside quiet hours, and none for them when they have ended: the next comes in its turn.
    Those that were missed come once.
    """
    if not runs:
        return Beat(tells=False, next_at=None)
    step = minutes * MINUTE
    if next_at is None or next_at > now + step:  # nothing ran before, or the clock was set back
        return Beat(tells=False, next_at=now + step)
    if now < next_at:
        return Beat(tells=False, next_at=next_at)
    following = next_at + ((now - next_at) // step + 1) * step
    return Beat(tells=quiet is None or not is_quiet(quiet, now), next_at=following)
