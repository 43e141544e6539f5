"""When events leave for a watcher, worked out second by second from what is promised; times are seconds."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Options(NamedTuple):
    """What a subscription was made with; ``quiet`` are two minutes of the day, in UTC."""

    digest_minutes: int | None = None
    quiet: tuple[int, int] | None = None

    def is_quiet(self, second: int) -> bool:
        if self.quiet is None:
            return False
        minute = second // 60 % 1440
        start, end = self.quiet
        return start <= minute < end if start < end else minute >= start or minute < end


class Arrival(NamedTuple):
    second: int
    cursor: int
    urgent: bool
    by: tuple[str, ...]


class Left(NamedTuple):
    """A message: when it left, and what is in it."""

    second: int
    urgent: tuple[int, ...]
    rest: tuple[int, ...]


@dataclass
class Waiting:
    event: Arrival
    let_go_by: set[str] = field(default_factory=set)
    came_free_by: frozenset[str] = frozenset()


class SlowWatcher:
    """Asks every second what of all that waits may leave."""

    def __init__(self, options: dict[str, Options], made: int, coalesce: int, cap: int) -> None:
        self.options = options
        self.next_digest = {
            name: made + each.digest_minutes * 60
            for name, each in options.items()
            if each.digest_minutes is not None
        }
        self.coalesce, self.cap = coalesce, cap
        self.waiting: list[Waiting] = []
        self.wakeups: list[int] = []
        self.window: int | None = None
        self.digest: int | None = None
        self.left: list[Left] = []

    def second(self, now: int, arrivals: list[Arrival]) -> None:
        fresh = [Waiting(each) for each in arrivals]
        self.waiting += fresh
        freed = self._let_go(now, fresh)
        urgent = any(each.event.urgent for each in self.waiting)
        if self.digest is not None:
            leaves = now >= self.digest
        else:
            leaves = freed or self._window_is_over(now)
            if leaves and not urgent and self._is_capped(now):
                self.digest, self.window = max(now, self.wakeups[-1] + 600), None
                leaves = now >= self.digest
        if leaves and not urgent:
            self._wait_for_the_end_of_quiet_hours(now)
        if leaves or urgent:
            self._leave(now)

    def _let_go(self, now: int, fresh: list[Waiting]) -> bool:
        """Let each subscription let go what it may; tells whether something is free that was held."""
        freed = False
        for each in self.waiting:
            was_held = not each.let_go_by
            for name in each.event.by:
                if now >= self.next_digest.get(name, 0) and not self.options[name].is_quiet(now):
                    each.let_go_by.add(name)
            if was_held and each.let_go_by and not each.event.urgent:
                each.came_free_by = frozenset(each.let_go_by if each in fresh else ())
                freed = freed or not each.came_free_by
                if each.came_free_by and self.window is None and self.digest is None:
                    self.window = now + self.coalesce
        return freed

    def _window_is_over(self, now: int) -> bool:
        if self.window is None:
            return False
        return now >= self.window or any(
            all(self.options[name].is_quiet(now + 1) for name in each.came_free_by)
            for each in self.waiting
            if each.came_free_by and each.let_go_by
        )

    def _is_capped(self, now: int) -> bool:
        return self.cap > 0 and sum(now - 3600 < each <= now for each in self.wakeups) >= self.cap

    def _wait_for_the_end_of_quiet_hours(self, now: int) -> None:
        for each in self.waiting:
            each.let_go_by = {name for name in each.let_go_by if not self.options[name].is_quiet(now)}

    def _leave(self, now: int) -> None:
        urgent = [each for each in self.waiting if each.event.urgent]
        rest = [each for each in self.waiting if each.let_go_by and not each.event.urgent]
        self.window = self.digest = None
        if not urgent and not rest:
            return
        for name in {name for each in rest for name in each.let_go_by} & self.next_digest.keys():
            minutes = self.options[name].digest_minutes
            assert minutes is not None
            self.next_digest[name] = now + minutes * 60
        self.waiting = [each for each in self.waiting if each not in urgent and each not in rest]
        self.wakeups.append(now)
        self.left.append(
            Left(now, *(tuple(sorted(each.event.cursor for each in part)) for part in (urgent, rest)))
        )
