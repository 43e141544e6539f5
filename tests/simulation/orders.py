"""What a session is ordered to do in a simulated world, and what its answer promises."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.messages import Archive, Delete, GoOn, Kill, PutAway, Stopped, StopRunning
from showcaller.store.errors import StoreError
from tests.simulation.books import Broken

if TYPE_CHECKING:
    from tests.simulation.world import World

USUAL = {Code.STORAGE, Code.UNAVAILABLE, Code.NOT_FOUND, Code.BUSY}
SLACK = 400.0  # seconds within which an order has its answer, however slow the store is


@dataclass(slots=True)
class Order:
    """One order under way."""

    session: str
    message: Any
    began: float
    at_work: set[str]  # turns of the session that a stop has to reach


@dataclass
class Orders:
    """The orders of a world; a stop that was answered holds the queue until somebody lets it go on."""

    world: "World"
    under_way: list[Order] = field(default_factory=list[Order])

    def stop(self, session: str) -> None:
        """End its turn and hold its queue."""
        self._give(session, StopRunning(), "stops")

    def kill(self, session: str) -> None:
        """End its agent at once."""
        self._give(session, Kill(), "kills")

    def go_on(self, session: str) -> None:
        """Let it go on."""
        self.world.books.held.discard(session)
        self._give(session, GoOn(), "lets go on")

    def archive(self, session: str) -> None:
        """Put it away."""
        self._give(session, Archive(), "archives")

    def delete(self, session: str) -> None:
        """Delete it for good."""
        self.world.books.being_deleted.add(session)
        self._give(session, Delete(), "deletes")

    def lose(self) -> None:
        """The relay died: no answer will come."""
        self.under_way.clear()

    def check_hanging(self) -> None:
        """Raise Broken when an order has had no answer for too long."""
        now = self.world.clock.monotonic()
        hanging = [order for order in self.under_way if now > order.began + SLACK]
        if hanging:
            raise Broken(f"{hanging[0]} has no answer")

    def _give(self, session: str, message: Any, told: str) -> None:
        world = self.world
        world.say("owner", f"{told} {session}")
        order = Order(session, message, world.clock.monotonic(), world.books.at_work(session))
        self.under_way.append(order)
        asked = world.life.request_session(session, message)
        asked.add_done_callback(lambda done: self._answered(order, _outcome(done)))

    def _answered(self, order: Order, outcome: Any) -> None:
        """Runs at the moment of the answer: what it promises holds from here on."""
        world, books = self.world, self.world.books
        if order in self.under_way:
            self.under_way.remove(order)
        world.say("owner", f"  {type(order.message).__name__} of {order.session}: {outcome!r}")
        if isinstance(outcome, Stopped) and not self._may_be_released(order.session):
            books.hold(order.session, order.at_work)
        elif isinstance(outcome, PutAway):
            (books.deleted if isinstance(order.message, Delete) else books.archived).add(order.session)
        elif isinstance(outcome, Exception) and not _is_usual(outcome):
            books.broken.append(f"{order} was answered {outcome!r}")

    def _may_be_released(self, session: str) -> bool:
        """Whether a prompt or an order under way may let the queue go on after the stop."""
        return self.world.callers.prompts(session) or any(
            isinstance(order.message, GoOn) and order.session == session for order in self.under_way
        )


def _outcome(done: Any) -> Any:
    get: Callable[[], Any] = done.get
    try:
        return get()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        return error


def _is_usual(error: Exception) -> bool:
    return isinstance(error, StoreError) or (isinstance(error, Refusal) and error.code in USUAL)
