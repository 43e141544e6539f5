"""An actor takes mail before its ``__init__`` has returned, and who makes it cannot wait for its replies."""

from collections.abc import Callable
from threading import Thread
from typing import Any, ClassVar

import pytest

from showcaller.actors.runtime import Actor, ActorRef, AskCycle, Dispatcher, Future, NothingToRun, Timeout
from showcaller.actors.runtime.testkit import ManualDispatcher


class Eager(Actor):
    """Does in its ``__init__`` what it is given."""

    registered = False

    def __init__(self, early: Callable[[ActorRef[Any]], Any]) -> None:
        super().__init__()
        self.outcome = early(self.actor_ref)

    def on_receive(self, message: Any) -> Any:
        return message


class PinnedEager(Eager):
    pinned = True


class BoundedEager(Eager):
    mailbox_limit: ClassVar[int | None] = 3


WAITS = pytest.mark.parametrize(
    "wait",
    [
        lambda ref: ref.ask(1),
        lambda ref: ref.ask(1, timeout=1_000),
        lambda ref: ref.proxy().on_receive(1).get(),
        lambda ref: ref.ask(1, block=False).map(str).get(),
        lambda ref: ref.stop(),
    ],
    ids=["ask", "ask with a timeout", "proxy", "derived", "stop"],
)


@WAITS
@pytest.mark.parametrize("kind", [Eager, PinnedEager, BoundedEager])
def test_waiting_in_init_for_its_own_reply_raises(kind: type[Eager], wait: Callable[[Any], Any]) -> None:
    with Dispatcher(), pytest.raises(AskCycle, match=r"__init__ of \w*Eager .* waits for it") as raised:
        kind.start(wait)
    assert [ref.is_alive() for ref in raised.value.actors] == [False]


@WAITS
def test_a_handler_that_makes_such_an_actor_gets_the_error(wait: Callable[[Any], Any]) -> None:
    class Maker(Actor):
        def on_receive(self, _: Any) -> Any:
            return Eager.start(wait)

    with Dispatcher(), pytest.raises(AskCycle, match="__init__ of Eager"):
        Maker.start().ask(1)


@WAITS
def test_the_manual_dispatcher_has_nothing_to_run_for_it(
    wait: Callable[[Any], Any], manual: ManualDispatcher
) -> None:
    with pytest.raises((NothingToRun, Timeout)):
        Eager.start(wait)


def test_what_it_asks_itself_without_waiting_is_answered_when_it_is_made() -> None:
    with Dispatcher():
        early = Eager.start(lambda ref: ref.ask(1, block=False))
        assert early.proxy().outcome.get(timeout=10) is not None
        reply: Future[Any] = early.proxy().outcome.get(timeout=10)
        assert reply.get(timeout=10) == 1


def test_another_thread_may_wait_while_it_is_made() -> None:
    replies: list[Any] = []
    threads: list[Thread] = []

    def elsewhere(ref: ActorRef[Any]) -> None:
        threads.append(Thread(target=lambda: replies.append(ref.ask(7, timeout=10))))
        threads[0].start()

    with Dispatcher():
        Eager.start(elsewhere)
        threads[0].join(10)
        assert replies == [7]
