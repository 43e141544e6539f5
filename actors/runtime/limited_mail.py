"""The mail of an actor whose mailbox is bounded."""

from collections import deque
from collections.abc import Callable, Iterable
from itertools import repeat, starmap
from typing import Any


class LimitedMail(deque[Any]):
    """Mail of which the oldest message can be dropped from behind mail that stays, however much that is.

    What a drop has passed over is older than the rest, and lies in ``passed``: so it is passed over once.
    While something lies there, something lies here, too: who asks whether there is mail looks only here.
    """

    __slots__ = ("passed",)

    def __init__(self, mail: Iterable[Any]) -> None:
        super().__init__(mail)
        self.passed: deque[Any] = deque()

    def drop_oldest(self, stays: Callable[[Any], bool]) -> Any:
        """Take out the oldest message that does not stay: there must be one that is not the last."""
        passing = next(index for index, mail in enumerate(self) if not stays(mail))
        if passing:  # one call, so that no signal handler's exception comes between taking out and putting in
            self.passed.extend(starmap(self.popleft, repeat((), passing)))
        return self.popleft()

    def take_oldest(self) -> Any:
        """Take out what has waited longest."""
        return (self.passed or self).popleft()

    def put_back(self, mail: list[Any]) -> None:
        """Put mail in front of all the rest, in the order it has."""
        if mail and self.passed:
            mail, self.passed = [*mail, *self.passed], deque()
        self.extendleft(reversed(mail))

    def waiting(self) -> int:
        """Give how much mail there is."""
        return len(self.passed) + len(self)

    def copy(self) -> "deque[Any]":  # type: ignore[override]
        """Give all of it, the oldest first. Thread-safe: what is passed over just then is there twice."""
        rest = deque(self)
        return self.passed + rest
