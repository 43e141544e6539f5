"""Counters: messages, failures, restarts, high water and seconds of each class of actors."""

import time
from typing import Any

from showcaller.actors.runtime import Actor, ChildSpec, Dispatcher, GetChild, Supervisor
from showcaller.actors.runtime.testkit import ManualDispatcher, Probe, probe


class TestCounters:
    def test_each_class_is_counted_for_itself(self, manual: ManualDispatcher) -> None:
        class Failing(Probe):
            def on_receive(self, message: Any) -> None:
                raise ValueError(message)

        supervisor = Supervisor.start([ChildSpec("failing", Failing)])
        supervisor.ask(GetChild("failing")).tell("x")
        ref, _ = probe()
        for number in range(1_000):
            ref.tell(number)
        manual.settle()
        counters = manual.counters()
        assert counters[Probe].messages == 1_001
        assert counters[Probe].high_water == 1_001
        assert (counters[Failing].failures, counters[Failing].restarts) == (1, 1)
        assert counters[Failing].messages == 1

    def test_the_seconds_of_handlers_are_those_of_the_clock(self) -> None:
        class Busy(Actor):
            registered = False

            def on_receive(self, message: float) -> None:
                end = time.monotonic() + message
                while time.monotonic() < end:
                    pass

        with Dispatcher(name="counted") as dispatcher:
            ref = Busy.start()
            ref.ask(0.05)
            assert dispatcher.wait_quiet(10)
            assert dispatcher.counters()[Busy].seconds >= 0.05
        dispatcher.close()
