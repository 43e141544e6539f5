"""Timers are looked at in time, however long the handlers of busy actors take."""

from typing import Any

from showcaller.actors.runtime import Actor, Dispatcher, Future
from showcaller.actors.runtime.testkit import ManualClock

TAKES = 0.008  # seconds that a handler of a busy actor takes
BUSY = 20  # actors that always have mail
ROUNDS = 10


class Busy(Actor):
    """Lets time pass, and tells itself to do it again."""

    registered = False

    def __init__(self, clock: ManualClock, stop: Future[float]) -> None:
        super().__init__()
        self.clock = clock
        self.stopped = stop

    def on_receive(self, message: int) -> None:
        self.clock.move_to(self.clock.monotonic() + TAKES)
        if message and not self.stopped.done:
            self.actor_ref.tell(message - 1)


def test_a_timer_is_late_by_one_round_of_the_others_at_most() -> None:
    clock = ManualClock()
    fired = Future[float]()

    class Timed(Actor):
        registered = False

        def on_receive(self, _: Any) -> None:
            fired.set(clock.monotonic())

    dispatcher = Dispatcher(name="busy", clock=clock, patience=60)
    with dispatcher:
        timed = Timed.start()
        timer = timed.tell_after(2.5 * TAKES, "due")
        for _ in range(BUSY):
            Busy.start(clock, fired).tell(ROUNDS)
        late = fired.get(timeout=30) - timer.due
    dispatcher.close()
    assert 0 <= late <= (BUSY + 1) * TAKES
