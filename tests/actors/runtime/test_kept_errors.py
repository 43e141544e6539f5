"""An error keeps what its own rounds were about, and nothing of those before and after it."""

import gc
import weakref
from typing import Any

import pytest

from showcaller.actors.runtime import Actor, ActorRef, AskCycle, Future
from showcaller.actors.runtime.cycles import AT_ONCE
from showcaller.actors.runtime.testkit import ManualDispatcher

ROUNDS = 8


class Round:
    """The message that goes round; the last one of the ring begins the next round with a new one."""

    def __init__(self, number: int) -> None:
        self.number = number


class Member(Actor):
    """Asks the next one, and counts in the last round what is left of those before."""

    registered = False

    def __init__(self, ring: "Ring") -> None:
        super().__init__()
        self.ring = ring

    async def on_receive(self, message: Round) -> Any:
        following = self.ring.take(self.actor_ref, message)
        return None if following is None else await following[0].request(following[1])


class Blocking(Member):
    """Blocks for the reply instead of awaiting it."""

    def on_receive(self, message: Round) -> Any:
        following = self.ring.take(self.actor_ref, message)
        return None if following is None else following[0].ask(following[1])


class Ring:
    """Actors of which each asks the next one: closed again by the mail that each refusal leaves."""

    def __init__(self, kind: type[Member], count: int) -> None:
        self.members: list[ActorRef[Any]] = [kind.start(self) for _ in range(count)]
        self.rounds: weakref.WeakSet[Round] = weakref.WeakSet()
        self.left = 0

    def take(self, member: ActorRef[Any], message: Round) -> tuple[ActorRef[Any], Round] | None:
        """Give whom a member is to ask, and what; None when there were enough rounds."""
        at = self.members.index(member)
        self.rounds.add(message)
        if message.number == ROUNDS:
            gc.collect()
            self.left = len(self.rounds)
            return None
        last = at == len(self.members) - 1
        return self.members[(at + 1) % len(self.members)], Round(message.number + 1) if last else message

    def go_round(self) -> Future[Any]:
        """Begin; gives the answer to the first."""
        return self.members[0].request(Round(0))


@pytest.mark.parametrize("kind", [Member, Blocking])
@pytest.mark.parametrize("count", [3, AT_ONCE + 2])
def test_a_ring_that_closes_itself_over_and_over_keeps_no_old_rounds(
    kind: type[Member], count: int, manual: ManualDispatcher
) -> None:
    ring = Ring(kind, count)
    answer = ring.go_round()
    manual.advance(ROUNDS)
    assert answer.done
    assert 0 < ring.left <= 4  # this one, the one before, and what frames under way may hold


@pytest.mark.parametrize("kind", [Member, Blocking])
@pytest.mark.parametrize("count", [3, AT_ONCE + 2])
def test_an_error_that_is_kept_keeps_no_later_rounds(
    kind: type[Member], count: int, manual: ManualDispatcher
) -> None:
    ring = Ring(kind, count)
    answer = ring.go_round()
    manual.advance(ROUNDS)
    gc.collect()
    assert isinstance(answer.error, AskCycle)
    assert len(ring.rounds) <= 2


def test_an_error_tells_during_which_other_one_it_was_raised(manual: ManualDispatcher) -> None:
    class Introvert(Actor):
        registered = False

        def on_receive(self, message: Any) -> Any:
            try:
                raise LookupError(message)
            except LookupError:
                return self.actor_ref.ask("again")

    with pytest.raises(AskCycle) as caught:
        Introvert.start().ask("first")
    assert isinstance(caught.value.__context__, LookupError)
    assert not caught.value.__suppress_context__


def test_an_error_keeps_its_own_message_and_not_its_actors_mail(manual: ManualDispatcher) -> None:
    class Failing(Actor):
        registered = False

        def on_receive(self, message: Round) -> None:
            if message.number == 50:
                raise LookupError

    ref, messages = Failing.start(), weakref.WeakSet[Round]()

    def ask(message: Round) -> Future[Any]:
        messages.add(message)
        return ref.request(message)

    answers = [ask(Round(number)) for number in range(100)]
    manual.settle()
    failed = answers[50].error
    answers.clear()
    gc.collect()
    assert isinstance(failed, LookupError)
    assert {each.number for each in messages} <= {50, 99}  # its own, and the last of the slice
