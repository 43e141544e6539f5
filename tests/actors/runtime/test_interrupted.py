"""A sender that is interrupted anywhere leaves an actor that still runs, and a dispatcher that does."""

import threading
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from showcaller.actors.runtime import Actor, ActorDeadError, ActorRef, ActorRegistry, Dispatcher, Future
from showcaller.actors.runtime.doubt import look_after
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.interrupting import Interrupter
from tests.actors.runtime.waiting import Waiting

PATIENCE = 5.0  # seconds; what is not there by then never comes
MOST = 2_000  # places in one call


class Echo(Actor):
    """Answers what it gets."""

    registered = False

    def on_receive(self, message: Any) -> Any:
        return message


class PinnedEcho(Echo):
    pinned = True


class BoundedEcho(Echo):
    mailbox_limit: ClassVar[int | None] = 100


def ask_and_get(ref: ActorRef[Any]) -> None:
    assert ref.ask("asked", timeout=PATIENCE) == "asked"


SENDING: dict[str, Callable[[ActorRef[Any]], object]] = {
    "tell": lambda ref: ref.tell("told"),
    "ask": lambda ref: ref.ask("asked", block=False),
    "ask and get": ask_and_get,
    "request": lambda ref: ref.request("asked", timeout=60.0),
}


@pytest.mark.parametrize("sending", SENDING)
@pytest.mark.parametrize("kind", [Echo, PinnedEcho, BoundedEcho])
@pytest.mark.parametrize("begun", [False, True])
def test_an_actor_runs_on_wherever_its_sender_was_interrupted(
    sending: str, kind: type[Echo], begun: bool
) -> None:
    for place in range(1, MOST):
        dispatcher = Dispatcher(name="test")
        with dispatcher:
            ref = kind.start()
            if begun:
                ref.ask("first", timeout=PATIENCE)
            interrupted = Interrupter(place).interrupts(lambda: SENDING[sending](ref))  # noqa: B023
            assert ref.ask("later", timeout=PATIENCE) == "later", place
            assert Echo.start().ask("other", timeout=PATIENCE) == "other", place
        dispatcher.close()
        if not interrupted:
            assert place > 2
            return
    pytest.fail("the call has no end")


@pytest.mark.parametrize("sending", SENDING)
@pytest.mark.parametrize("kind", [Echo, PinnedEcho, BoundedEcho])
@pytest.mark.parametrize("begun", [False, True])
def test_a_signal_handler_may_send_wherever_it_interrupts_a_sender(
    sending: str, kind: type[Echo], begun: bool
) -> None:
    for place in range(1, MOST):
        dispatcher = Dispatcher(name="test")
        with dispatcher:
            ref, other = kind.start(), Echo.start()
            if begun:
                ref.ask("first", timeout=PATIENCE)
            handled: list[Future[Any]] = []

            def handle() -> None:
                handled.extend(to.request("handled") for to in (ref, other))  # noqa: B023

            interrupted = Interrupter(place, handle).interrupts(lambda: SENDING[sending](ref))  # noqa: B023
            for reply in handled:
                assert reply.get(timeout=PATIENCE) == "handled", place
            assert ref.ask("later", timeout=PATIENCE) == "later", place
        dispatcher.close()
        if not interrupted:
            return
    pytest.fail("the call has no end")


@pytest.mark.parametrize("order", ["kill", "stop"])
def test_an_actor_ends_or_runs_on_wherever_its_order_to_end_was_interrupted(order: str) -> None:
    for place in range(1, MOST):
        dispatcher = Dispatcher(name="test")
        with dispatcher:
            ref = Echo.start()
            ref.ask("first", timeout=PATIENCE)
            call = ref.kill if order == "kill" else lambda: ref.stop(block=False)  # noqa: B023
            interrupted = Interrupter(place).interrupts(call)
            try:
                assert ref.ask("later", timeout=PATIENCE) == "later", place
            except ActorDeadError:
                assert not ref.is_alive()
            else:
                assert ref.stop(timeout=PATIENCE)
        dispatcher.close()
        if not interrupted:
            assert not ref.is_alive()
            return
    pytest.fail("the call has no end")


def test_a_registered_actor_runs_wherever_its_start_was_interrupted() -> None:
    class Listed(Echo):
        registered = True

    for place in range(1, MOST):
        dispatcher = Dispatcher(name="test")
        with dispatcher:
            interrupted = Interrupter(place).interrupts(Listed.start)
            for ref in ActorRegistry.get_by_class(Listed):
                assert ref.ask("later", timeout=PATIENCE) == "later", place
                assert ref.stop(timeout=PATIENCE), place
        dispatcher.close()
        if not interrupted:
            return
    pytest.fail("the call has no end")


class TestADoubt:
    """What is left behind for a dispatcher to look at."""

    def test_schedules_a_cell_whose_gate_was_lost(self, manual: ManualDispatcher) -> None:
        ref = Echo.start()
        manual.settle()
        ref._mail.append("lost")
        assert ref._gate.acquire(False)
        look_after(ref)
        assert ref.ask("later") == "later"
        assert not ref._gate.locked()

    @pytest.mark.parametrize("begun", [False, True])
    def test_lets_a_cell_alone_that_is_ready_or_not_begun(
        self, manual: ManualDispatcher, begun: bool
    ) -> None:
        ref = Echo.start() if begun else Echo().actor_ref
        look_after(ref)
        steps = manual.settle()
        assert steps == (3 if begun else 1)
        assert ref._gate.locked() is not begun

    def test_lets_a_cell_alone_whose_handler_waits(self, threads: Dispatcher) -> None:
        class Blocking(Echo):
            def on_receive(self, message: Any) -> Any:
                entered.set()
                return message.get()

        entered: Future[None] = Future()
        until: Future[str] = Future()
        ref = Blocking.start()
        answer = ref.request(until)
        entered.get(timeout=PATIENCE)
        look_after(ref)
        assert Echo.start().ask("the doubt has looked", timeout=PATIENCE)
        assert ref._gate.locked()
        until.set("done")
        assert answer.get(timeout=PATIENCE) == "done"

    def test_ends_the_actor_of_a_closed_dispatcher(self) -> None:
        with Dispatcher(name="test-closed") as dispatcher:
            ref = Echo.start()
        ref.ask("first", timeout=PATIENCE)
        assert ref._gate.acquire(False)
        dispatcher.close()
        for thread in threading.enumerate():
            if thread.name == dispatcher.name:
                thread.join(PATIENCE)
        lost = ref.ask("lost", block=False)
        look_after(ref)
        with pytest.raises(ActorDeadError):
            lost.get(timeout=PATIENCE)

    def test_of_a_woken_coroutine_wakes_it(self) -> None:
        for place in range(1, MOST):
            dispatcher = Dispatcher(name="test")
            with dispatcher:
                until: Future[str] = Future()
                ref: ActorRef[Any] = Waiting.start()
                answer = ref.request(until)
                while ref._hold is None:
                    assert Echo.start().ask("turn", timeout=PATIENCE)
                interrupted = Interrupter(place).interrupts(lambda: ref._hold.wake(until))  # noqa: B023
                if not until.done:
                    until.set("woken")
                assert answer.get(timeout=PATIENCE) == "woken", place
            dispatcher.close()
            if not interrupted:
                return
        pytest.fail("the call has no end")
