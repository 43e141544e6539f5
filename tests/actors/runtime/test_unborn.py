"""An actor that was not made is dead, and so is the ref that its ``__init__`` has handed out."""

from typing import Any, ClassVar

import pytest

from showcaller.actors.runtime import Actor, ActorDeadError, ActorRef, Dispatcher, Terminated
from showcaller.actors.runtime.testkit import ManualDispatcher, probe


class Unborn(Actor):
    """Hands out its ref, has mail, and fails to be made."""

    registered = False
    handed_out: ClassVar[list[ActorRef[Any]]] = []

    def __init__(self) -> None:
        super().__init__()
        self.handed_out.append(self.actor_ref)
        raise ValueError("not made")


class PinnedUnborn(Unborn):
    pinned = True


class BoundedUnborn(Unborn):
    mailbox_limit: ClassVar[int | None] = 3


KINDS = pytest.mark.parametrize("kind", [Unborn, PinnedUnborn, BoundedUnborn])


def ref_of(kind: type[Unborn]) -> ActorRef[Any]:
    with pytest.raises(ValueError, match="not made"):
        kind.start()
    return kind.handed_out.pop()


class TestUnborn:
    @KINDS
    def test_it_is_dead_at_once(self, kind: type[Unborn], manual: ManualDispatcher) -> None:
        ref = ref_of(kind)
        assert not ref.is_alive()
        assert ref.stop() is False
        with pytest.raises(ActorDeadError):
            ref.ask(1)

    def test_who_asked_and_who_watches_it_meanwhile_is_told(self, manual: ManualDispatcher) -> None:
        watcher, heard = probe()
        asked: list[Any] = []

        class Known(Unborn):
            def __init__(self) -> None:
                asked.append(self.early())
                super().__init__()

            def early(self) -> Any:
                Actor.__init__(self)
                self.actor_ref.add_watcher(watcher)
                return self.actor_ref.request("early")

        ref = ref_of(Known)
        manual.settle()
        with pytest.raises(ActorDeadError, match="not made"):
            asked[0].get()
        (terminated,) = heard
        assert isinstance(terminated, Terminated)
        assert terminated.ref is ref
        assert terminated.reason.kind == "unstarted"

    def test_the_error_keeps_its_traceback(self, manual: ManualDispatcher) -> None:
        with pytest.raises(ValueError, match="not made") as failed:
            Unborn.start()
        assert failed.traceback[-1].name == "__init__"

    def test_a_pinned_one_leaves_no_thread_behind(self, threads: Dispatcher) -> None:
        ref_of(PinnedUnborn)
        assert not threads._pinned

    def test_a_metaclass_that_makes_actors_its_own_way_still_does(self, manual: ManualDispatcher) -> None:
        made: list[Any] = []

        class Counting(type(Actor)):  # type: ignore[misc]
            def __call__(cls, *args: Any) -> Any:
                made.append(super().__call__(*args))
                return made[-1]

        class Counted(Actor, metaclass=Counting):
            registered = False

        assert Counted.start()._actor is made[0]
