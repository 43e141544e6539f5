"""Watching actors: who is told of an end, when, and with which reason."""

from typing import Any

import pykka
import pytest

from showcaller.actors.runtime import Actor, ActorRef, Exit, Terminated
from showcaller.actors.runtime.testkit import ManualDispatcher, Probe, probe
from tests.actors.runtime.stage import Boom, Failing, Troupe


class TestWatch:
    def test_a_watcher_is_told_once_how_it_ended(self, manual: ManualDispatcher) -> None:
        watcher, got = probe()
        ref = Failing.start()
        ref.add_watcher(watcher)
        ref.add_watcher(watcher)
        ref.tell("boom")
        manual.settle()
        (terminated,) = got
        assert isinstance(terminated, Terminated)
        assert terminated.ref is ref
        assert terminated.reason.kind == "failed"
        assert isinstance(terminated.reason.error, Boom)

    @pytest.mark.parametrize("ending", ["normal", "killed"])
    def test_the_reason_says_which_end_it_was(self, ending: str, manual: ManualDispatcher) -> None:
        watcher, got = probe()
        ref = Failing.start()
        ref.add_watcher(watcher)
        if ending == "normal":
            ref.stop()
        else:
            ref.kill()
        manual.settle()
        assert got == [Terminated(ref, Exit(ending))]  # type: ignore[arg-type]

    def test_who_watches_a_dead_actor_is_told_at_once(self, manual: ManualDispatcher) -> None:
        watcher, got = probe()
        ref = Failing.start()
        ref.kill()
        manual.settle()
        ref.add_watcher(watcher)
        manual.settle()
        assert got == [Terminated(ref, Exit("killed"))]

    def test_who_no_longer_watches_is_not_told(self, manual: ManualDispatcher) -> None:
        watcher, got = probe()
        ref = Failing.start()
        ref.add_watcher(watcher)
        ref.remove_watcher(watcher)
        ref.stop()
        manual.settle()
        assert got == []

    def test_a_restart_is_not_the_end(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        watcher, got = probe()
        troupe["b"].add_watcher(watcher)
        troupe["b"].tell("boom")
        manual.settle()
        assert got == []
        troupe.supervisor.stop()
        manual.settle()
        assert [item.reason.kind for item in got] == ["shutdown"]

    def test_an_actor_watches_by_its_own_method(self, manual: ManualDispatcher) -> None:
        seen: list[Any] = []

        class Watcher(Actor):
            def __init__(self, ref: ActorRef[Any]) -> None:
                super().__init__()
                self.watch(ref)

            def on_receive(self, message: Any) -> None:
                seen.append(message)

        ref = Failing.start()
        Watcher.start(ref)
        ref.stop()
        manual.settle()
        assert [item.ref for item in seen] == [ref]

    def test_a_watcher_that_has_ended_is_forgotten(self, manual: ManualDispatcher) -> None:
        watched, others = Failing.start(), [probe()[0] for _ in range(3)]
        for watcher in others:
            watched.add_watcher(watcher)
        others[0].stop()
        others[1].kill()
        manual.settle()
        assert list(watched.extras().watchers or ()) == [others[2]]
        others[2].stop()
        watched.add_watcher(others[2])
        assert watched.extras().watchers is None

    def test_a_watched_actor_that_has_ended_is_forgotten(self, manual: ManualDispatcher) -> None:
        watcher, _ = probe()
        ended, dropped = Failing.start(), Failing.start()
        ended.add_watcher(watcher)
        dropped.add_watcher(watcher)
        ended.stop()
        dropped.remove_watcher(watcher)
        assert watcher.extras().watches is None

    def test_a_watcher_that_is_restarted_watches_on(self, manual: ManualDispatcher) -> None:
        troupe = Troupe(manual)
        watched = Failing.start()
        watched.add_watcher(troupe["a"])
        troupe["a"].tell("boom")
        troupe.news()
        watched.stop()
        assert [line.split("(")[0] for line in troupe.news()] == ["a gets Terminated"]


class OldKind(pykka.ThreadingActor):
    """An actor of pykka's own kind."""

    use_daemon_thread = True


class TestForeign:
    """Actors of pykka's own classes do not tell when they end."""

    def test_a_ref_of_pykka_cannot_be_watched(self, manual: ManualDispatcher) -> None:
        class Watching(Probe):
            def on_receive(self, message: Any) -> None:
                self.watch(message)

        old: Any = OldKind.start()
        with pytest.raises(
            TypeError, match="can neither watch nor be watched: base its actor on showcaller's"
        ):
            Watching.start().ask(old)
        old.stop()

    def test_a_ref_of_pykka_cannot_watch(self, manual: ManualDispatcher) -> None:
        old: Any = OldKind.start()
        for change in (Probe.start().add_watcher, Probe.start().remove_watcher, manual.watch_dead_letters):
            with pytest.raises(TypeError, match="can neither watch nor be watched"):
                change(old)
        old.stop()
