"""A shutdown time is kept, whatever the child does when it is killed."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    ChildSpec,
    Dispatcher,
    Future,
    GetChild,
    ListChildren,
    StopChild,
    Supervisor,
    child,
)
from tests.actors.runtime.stage import Failing, Waiter
from tests.actors.runtime.test_blocking import until

SHORT = 0.05
LIMIT = 30.0


@pytest.fixture
def never(threads: Dispatcher) -> ActorRef[Any]:
    """Give an actor whose answer does not come."""
    ref = Waiter.start()
    ref.tell("wait")
    return ref


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look after killed children early."""
    monkeypatch.setattr(child, "GRACE", SHORT)


@pytest.fixture
def hall() -> Iterator[threading.Event]:
    """Give something to be stuck at that is no future, and open it when the test is over."""
    event = threading.Event()
    yield event
    event.set()


class Finally(Actor):
    """Waits for ever, and does what it is made for when it is ended."""

    registered = False

    def __init__(self, do: Callable[[], object]) -> None:
        super().__init__()
        self.do = do

    async def on_receive(self, message: Any) -> Any:
        if message != "wait":
            return message
        try:
            await Future()
        finally:
            self.do()


class Plain(Finally):
    """Does it in a plain handler."""

    def on_receive(self, message: Any) -> Any:
        return self.do() if message == "wait" else message


def play(kind: type[Finally], do: Callable[[], object], shutdown: Any = SHORT, **kwargs: Any) -> Any:
    """Start a supervisor with two children, of which the first waits; gives it and that child."""
    specs = [ChildSpec("stuck", kind, (do,), shutdown=shutdown), ChildSpec("other", Failing)]
    supervisor = Supervisor.start(specs, **kwargs)
    ref = supervisor.ask(GetChild("stuck"))
    ref.tell("wait")
    assert until(lambda: not ref._mail)
    return supervisor, ref


@pytest.mark.parametrize("shutdown", [SHORT, 0, "kill"])
@pytest.mark.parametrize("kind", [Finally, Plain])
class TestWaiting:
    def test_a_wait_for_an_answer_that_never_comes_is_broken_off(
        self, kind: type[Finally], shutdown: Any, never: ActorRef[Any]
    ) -> None:
        broken: list[str] = []

        def ask() -> None:
            for _ in range(3):  # it is stubborn
                with pytest.raises(ActorDeadError, match="its shutdown time is over") as error:
                    never.ask("anything", timeout=LIMIT)
                broken.append(str(error.value))

        supervisor, ref = play(kind, ask, shutdown)
        assert supervisor.stop(timeout=LIMIT) is True
        assert until(lambda: len(broken) == 3)
        assert not ref.is_alive()

    def test_so_is_that_of_a_child_that_was_killed_before(
        self, kind: type[Finally], shutdown: Any, never: ActorRef[Any]
    ) -> None:
        begun = threading.Event()

        def ask() -> None:
            begun.set()
            never.ask("anything", timeout=LIMIT)

        supervisor, ref = play(kind, ask, shutdown)
        assert until(lambda: ref._hold is not None)
        ref.kill()
        assert begun.wait(LIMIT)
        assert supervisor.ask(StopChild("stuck"), timeout=LIMIT) is None
        assert supervisor.stop(timeout=LIMIT) is True

    def test_an_answer_that_comes_in_time_is_taken(
        self, kind: type[Finally], shutdown: Any, threads: Dispatcher
    ) -> None:
        other = Failing.start()
        got: list[Any] = []
        supervisor, ref = play(kind, lambda: got.append(other.ask("answer", timeout=LIMIT)), 5.0)
        assert until(lambda: ref._hold is not None or got == ["answer"])
        ref.kill()
        assert until(lambda: got == ["answer"])
        assert supervisor.stop(timeout=LIMIT) is True


@pytest.mark.parametrize("shutdown", ["infinity", SHORT, "kill"])
@pytest.mark.parametrize("kind", [Finally, Plain])
class TestSupervisorKilled:
    """A killed supervisor takes with it also children that wait in ``get()``."""

    def test_a_child_that_waits_is_broken_off_at_once(
        self, kind: type[Finally], shutdown: Any, never: ActorRef[Any], threads: Dispatcher
    ) -> None:
        broken: list[BaseException] = []
        supervisor, ref = play(kind, lambda: broken.extend(refused(never) for _ in range(3)), shutdown)
        assert until(lambda: ref._hold is not None)
        supervisor.kill()
        assert until(lambda: len(broken) == 3)
        assert "its supervisor was killed" in str(broken[0])
        assert until(lambda: not ref.is_alive())
        assert until(lambda: not threads._blocked)

    def test_so_is_that_of_a_supervisor_whose_shutdown_time_is_over(
        self, kind: type[Finally], shutdown: Any, never: ActorRef[Any], threads: Dispatcher
    ) -> None:
        broken: list[BaseException] = []
        stuck = ChildSpec("stuck", kind, (lambda: broken.append(refused(never)),), shutdown="infinity")
        top = Supervisor.start([ChildSpec("middle", Supervisor, ([stuck],), shutdown=SHORT)])
        ref = top.ask(GetChild("middle")).ask(GetChild("stuck"))
        ref.tell("wait")
        assert until(lambda: ref._hold is not None)
        assert top.stop(timeout=LIMIT) is True
        assert until(lambda: len(broken) == 1)
        assert until(lambda: not ref.is_alive())


def refused(never: ActorRef[Any]) -> BaseException:
    """Wait for an answer that does not come, and give what breaks the wait off."""
    with pytest.raises(ActorDeadError, match="was killed while it waited") as error:
        never.ask("anything", timeout=LIMIT)
    return error.value


class TestStuck:
    @pytest.mark.parametrize("shutdown", [SHORT, "kill"])
    def test_a_finally_that_does_not_end_holds_nobody_up(
        self, shutdown: Any, hall: threading.Event, threads: Dispatcher
    ) -> None:
        supervisor, ref = play(Finally, hall.wait, shutdown)
        assert supervisor.stop(timeout=LIMIT) is True
        assert not hall.is_set()
        hall.set()
        assert until(lambda: not ref.is_alive())

    def test_nor_does_one_of_a_child_that_was_killed_before(
        self, hall: threading.Event, threads: Dispatcher
    ) -> None:
        supervisor, ref = play(Finally, hall.wait)
        assert until(lambda: ref._hold is not None)
        ref.kill()
        assert supervisor.stop(timeout=LIMIT) is True
        answer = ref.request("late")
        hall.set()
        with pytest.raises(ActorDeadError):
            answer.get(timeout=LIMIT)

    def test_its_siblings_are_restarted_and_it_gets_a_new_ref(
        self, hall: threading.Event, threads: Dispatcher
    ) -> None:
        supervisor, ref = play(Finally, hall.wait, strategy="one_for_all")
        answer = ref.request("kept back")
        supervisor.ask(GetChild("other")).tell("boom")
        assert until(
            lambda: all(
                info.state == "running" and info.ref is not ref
                for info in supervisor.ask(ListChildren())
                if info.name == "stuck"
            )
        )
        assert supervisor.ask(GetChild("stuck")).ask("hello", timeout=LIMIT) == "hello"
        hall.set()
        with pytest.raises(ActorDeadError):
            answer.get(timeout=LIMIT)
        assert supervisor.stop(timeout=LIMIT) is True
