"""Supervisors that stop: the order of their children, and the time that each is given."""

from showcaller.actors.runtime import Actor, ActorRegistry, ChildSpec, Supervisor
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.stage import Troupe, stubborn


class TestShutdown:
    def test_children_stop_in_reverse_order_of_start(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        troupe.news()
        assert troupe.supervisor.stop() is True
        assert troupe.log == ["c stops", "b stops", "a stops"]
        assert not troupe.supervisor.is_alive()

    def test_a_child_handles_the_mail_that_is_there_before_it_stops(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        troupe.news()
        troupe["c"].tell("one")
        troupe["c"].tell("two")
        troupe.supervisor.stop()
        assert troupe.log == ["c gets one", "c gets two", "c stops", "b stops", "a stops"]

    def test_a_child_that_does_not_stop_in_time_is_killed(self, manual: ManualDispatcher) -> None:
        supervisor, child = stubborn(shutdown=2.0)
        stopping = supervisor.stop(block=False)
        manual.advance(1.9)
        assert not stopping.done
        assert child.is_alive()
        manual.advance(0.2)
        assert stopping.get() is True
        assert not child.is_alive()

    def test_infinity_waits_as_long_as_it_takes(self, manual: ManualDispatcher) -> None:
        supervisor, child = stubborn(shutdown="infinity")
        stopping = supervisor.stop(block=False)
        manual.advance(100_000)
        assert child.is_alive()
        assert not stopping.done
        child.kill()
        manual.settle()
        assert stopping.get() is True

    def test_kill_does_not_wait(self, manual: ManualDispatcher) -> None:
        supervisor, child = stubborn(shutdown="kill")
        assert supervisor.stop() is True
        assert manual.clock.monotonic() == 0
        assert not child.is_alive()

    def test_killing_a_supervisor_kills_its_children(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        troupe.news()
        troupe.supervisor.kill()
        assert troupe.news() == []
        assert not any(troupe[name].is_alive() for name in "abc")

    def test_two_stops_are_both_answered(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        stops = [troupe.supervisor.stop(block=False) for _ in range(2)]
        manual.settle()
        assert [stop.get() for stop in stops] == [True, True]

    def test_the_registry_knows_supervisors_but_not_their_children(self, manual: ManualDispatcher) -> None:
        class Known(Actor):
            registered = True

        supervisor = Supervisor.start([ChildSpec("known", Known)])
        manual.settle()
        assert ActorRegistry.get_by_class(Known) == []
        assert supervisor in ActorRegistry.get_all()
        ActorRegistry.stop_all(block=False)
        manual.settle()
        assert not supervisor.is_alive()
