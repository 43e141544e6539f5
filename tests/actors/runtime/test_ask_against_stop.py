"""The race of an ask with a stop: in pykka 4.5 the ask can wait for ever, here it is always answered."""

import threading
from typing import Any

import pykka
import pytest

from showcaller.actors.runtime import Actor, ActorDeadError, Dispatcher, Future, StartChild, Supervisor
from showcaller.actors.runtime.child_spec import ChildSpec
from showcaller.actors.runtime.testkit import ManualDispatcher, Probe


class Theirs(pykka.ThreadingActor):
    """pykka's actor, held up between its liveness check and the end of its life."""


class _HeldUp:
    """pykka's inbox; the sender is stopped between the check that the actor lives and the put."""

    def __init__(self, inbox: Any, checked: threading.Event, ended: threading.Event) -> None:
        self._inbox = inbox
        self._checked = checked
        self._ended = ended

    def put(self, envelope: Any) -> None:
        self._checked.set()
        self._ended.wait(10)
        self._inbox.put(envelope)


def test_pykka_waits_for_ever() -> None:
    """An ask that has seen the actor alive puts its message into a mailbox that nobody empties any more."""
    ref = Theirs.start()
    checked, ended = threading.Event(), threading.Event()
    inbox = ref.actor_inbox
    ref.actor_inbox = _HeldUp(inbox, checked, ended)  # type: ignore[assignment]
    answers: list[Any] = []
    asking = threading.Thread(target=lambda: answers.append(ref.ask("hello", block=False)))
    asking.start()
    assert checked.wait(10)
    thread = next(thread for thread in threading.enumerate() if thread.name.startswith("Theirs"))
    inbox.put(_order_to_stop())
    thread.join(10)
    ended.set()
    asking.join(10)
    with pytest.raises(pykka.Timeout):
        answers[0].get(timeout=0.2)


def _order_to_stop() -> Any:
    from pykka._envelope import Envelope
    from pykka.messages import _ActorStop

    return Envelope(_ActorStop())


class HeldUpMail(list[Any]):
    """A mailbox whose sender is stopped between the check that the actor lives and the append."""

    def __init__(self, checked: threading.Event, ended: threading.Event) -> None:
        super().__init__()
        self._checked = checked
        self._ended = ended

    def append(self, message: Any) -> None:
        if threading.current_thread().name == "asking":
            self._checked.set()
            self._ended.wait(10)
        super().append(message)


def test_ours_is_answered_in_the_same_moment(threads: Dispatcher) -> None:
    ref = Probe.start()
    ref.ask("started", timeout=10)
    checked, ended = threading.Event(), threading.Event()
    ref._mail = HeldUpMail(checked, ended)
    answers: list[Future[Any]] = []
    asking = threading.Thread(target=lambda: answers.append(ref.ask("hello", block=False)), name="asking")
    asking.start()
    assert checked.wait(10)
    assert ref.stop(timeout=10) is True
    ended.set()
    asking.join(10)
    with pytest.raises(ActorDeadError):
        answers[0].get(timeout=10)


def test_a_thousand_asks_that_race_with_a_stop_are_all_answered(threads: Dispatcher) -> None:
    for _ in range(100):
        ref = Probe.start()
        answers: list[Future[Any]] = []
        asking = threading.Thread(
            target=lambda ref=ref, answers=answers: answers.extend(
                ref.ask(number, block=False) for number in range(10)
            )
        )
        asking.start()
        ref.stop(block=False)
        asking.join(10)
        for answer in answers:
            try:
                assert answer.get(timeout=10) is None
            except ActorDeadError:
                continue


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_told_after_asked_after_the_end_nothing_stays_in_the_mailbox(
    end: str, manual: ManualDispatcher
) -> None:
    ref = Probe.start()
    manual.settle()
    answers = []
    if end == "kill":
        ref.kill()
    else:
        ref.stop(block=False)
    for number in range(10):
        ref.tell(number)
        answers.append(ref.ask(number, block=False))
    manual.settle()
    assert all(answer.done for answer in answers)
    assert ref._mail == []


def test_asks_of_a_child_that_races_with_its_restarts_are_all_answered(threads: Dispatcher) -> None:
    class Failing(Actor):
        registered = False

        def on_receive(self, message: Any) -> Any:
            if message == "boom":
                raise ValueError
            return message

    from showcaller.actors.runtime import RestartIntensity

    supervisor = Supervisor.start([], intensity=RestartIntensity(1_000, 1))
    ref: Any = supervisor.ask(StartChild(ChildSpec("failing", Failing)), timeout=10)

    def disturb() -> None:
        for number in range(100):
            if number % 2:
                ref.kill()
            else:
                ref.tell("boom")

    disturbing = threading.Thread(target=disturb)
    disturbing.start()
    answers = [ref.ask(number, block=False) for number in range(1_000)]
    disturbing.join(10)
    assert [answer.get(timeout=20) for answer in answers] == list(range(1_000))
    assert supervisor.stop(timeout=10) is True
