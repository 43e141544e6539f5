"""What a fan-out is asked, and how it tells how it goes."""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from showcaller.actors.contract.fanout import FanoutSpec, ItemResult

if TYPE_CHECKING:
    from showcaller.actors.runtime import ActorRef


class FanoutListener(Protocol):
    """Who is told how a fan-out goes. Called on the dispatcher's thread: hand over, never block."""

    def ready(self, spec: FanoutSpec, name: str, total: int) -> None:
        """It is stored, or was found, and begins."""

    def moved(self, started: int, running: int) -> None:
        """So many items were started in this run, and so many run now."""

    def result(self, result: ItemResult) -> None:
        """An item has its end: one result for each of ``total`` items, recorded ones included."""

    def has_room(self) -> bool:
        """Tell whether results may be made that do not come of running items.

        After False the fan-out takes up nothing further until it is told ``Room``; a stop is not held up.
        """
        ...

    def finished(self, error: Exception | None) -> None:
        """Nothing more comes; ``error`` says why, when it is not the normal end."""


class FanoutRequest(NamedTuple):
    """To the supervisor: begin a fan-out, or go on with the one of ``group`` when ``items`` is None.

    ``jobs`` and ``rerun`` replace what is stored, when given. Answered with the fan-out's ref.
    """

    group: str
    name: str | None
    spec: FanoutSpec | None
    items: tuple[Any, ...] | None
    listener: FanoutListener
    jobs: int | None = None
    rerun: bool | None = None


class LeaveFanout(NamedTuple):
    """To a fan-out: the relay ends, and what runs goes on at workers that outlive it: end with this."""

    error: Exception


class StopFanout(NamedTuple):
    """To a fan-out: start no more, interrupt what runs, and give what is left as skipped."""


class Room(NamedTuple):
    """To a fan-out: its listener has room again."""


class FanoutOver(NamedTuple):
    """From a fan-out to the supervisor: it has ended, whatever the reason."""

    group: str
    ref: "ActorRef[Any]"
