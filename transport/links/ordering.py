"""What a receiver does with numbers: drop what it has seen, put in order what overtook, report gaps."""

from typing import Final, NamedTuple

from showcaller.transport.wire.frames import Frame

HELD_LIMIT: Final = 1024


class Gap(NamedTuple):
    """Frames ``first`` to ``last`` have not come, although a later one has."""

    first: int
    last: int


class Arrivals:
    """The receiving end of one direction: gives every frame once, in the order of its numbers.

    A frame that comes early waits for those before it, at most ``held_limit`` of them; one that finds no
    room is dropped as if it had never come, and belongs to the next gap. Not thread-safe.
    """

    def __init__(self, held_limit: int = HELD_LIMIT) -> None:
        self._next = 1
        self._highest = 0
        self._held: dict[int, Frame] = {}
        self._held_limit = held_limit

    def take(self, frame: Frame) -> tuple[list[Frame], Gap | None]:
        """Give the frames that are due now, and the gap that this frame opened, if it did."""
        number = frame.number
        if number < self._next or number in self._held:
            return [], None
        if number > self._next:
            return [], self._hold(frame)
        self._highest = max(self._highest, number)
        return self._due(frame), None

    def _hold(self, frame: Frame) -> Gap | None:
        expected = max(self._highest + 1, self._next)
        if len(self._held) >= self._held_limit:
            return Gap(expected, frame.number) if frame.number >= expected else None
        self._held[frame.number] = frame
        self._highest = max(self._highest, frame.number)
        return Gap(expected, frame.number - 1) if frame.number > expected else None

    def _due(self, frame: Frame) -> list[Frame]:
        due = [frame]
        self._next = frame.number + 1
        while self._held and (held := self._held.pop(self._next, None)) is not None:
            due.append(held)
            self._next += 1
        return due
