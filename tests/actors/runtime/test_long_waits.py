"""Long chains of actors that wait: looking for cycles stays cheap, and long cycles are found all the same."""

from typing import Any

import pytest

from showcaller.actors.runtime import Actor, ActorRef, AskCycle, Dispatcher, Future, waits
from showcaller.actors.runtime.cycles import AT_ONCE
from showcaller.actors.runtime.long_waits import LATEST, SOONEST, LongWaits, knots, pause_after
from showcaller.actors.runtime.testkit import ManualDispatcher
from showcaller.actors.runtime.waits import MOST_NAMED


class Member(Actor):
    """Told "wait", it waits until the one before it has answered; asked anything else, it answers."""

    registered = False

    def __init__(self, before: Any) -> None:
        super().__init__()
        self.before = before

    async def on_receive(self, message: Any) -> Any:
        if isinstance(message, ActorRef):
            self.before = message
        elif message == "wait":
            return await (self.before if isinstance(self.before, Future) else self.before.request("then"))
        return 1


class Taking(Actor):
    """Waits for a gate, and then for the one that it was told; takes other mail meanwhile."""

    registered = False
    reentrant = True

    def __init__(self, gate: Future[None]) -> None:
        super().__init__()
        self.gate = gate
        self.last: ActorRef[Any] | None = None

    async def on_receive(self, message: Any) -> Any:
        if isinstance(message, ActorRef):
            self.last = message
            return None
        await self.gate
        assert self.last is not None
        return await self.last.request("then")


def chain_of(count: int, end: Any, kind: type[Member] = Member) -> list[ActorRef[Any]]:
    """Start actors that each wait for the one before; the first for ``end``."""
    chain: list[ActorRef[Any]] = []
    for _ in range(count):
        chain.append(kind.start(chain[-1] if chain else end))
    return chain


def let_wait(chain: list[ActorRef[Any]], manual: ManualDispatcher) -> list[Future[Any]]:
    """Let each wait in turn, the first one first; gives the answers."""
    answers: list[Future[Any]] = []
    for ref in chain:
        answers.append(ref.request("wait"))
        manual.settle()
    return answers


def looks_at(count: int, manual: ManualDispatcher, monkeypatch: pytest.MonkeyPatch) -> int:
    """Count the futures looked at while a chain comes to wait, its last member first."""
    looked = 0
    look = waits.owner_of

    def counting(future: Future[Any]) -> Any:
        nonlocal looked
        looked += 1
        return look(future)

    end = Future[int]()
    with monkeypatch.context() as patch:
        patch.setattr(waits, "owner_of", counting)
        answers = let_wait(chain_of(count, end), manual)
        manual.advance(1)
    assert not answers[-1].done
    end.set(1)
    manual.settle()
    assert answers[-1].get() == 1
    return looked


def test_a_chain_whose_last_member_waits_first_is_looked_at_in_linear_time(
    manual: ManualDispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    for count in (250, 500, 1_000):
        assert looks_at(count, manual, monkeypatch) <= (AT_ONCE + 2) * count


LENGTHS = [2, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 300]


def ring_of(count: int, kind: type[Member] = Member) -> list[ActorRef[Any]]:
    """Start actors that each wait for the one before, the first one for the last."""
    first = kind.start(None)
    ring = [first, *chain_of(count - 1, first, kind)]
    first.tell(ring[-1])
    return ring


def refused(answers: list[Future[Any]]) -> list[str]:
    """Give what the answers say that were refused."""
    return [str(answer.error) for answer in answers if isinstance(answer.error, AskCycle)]


@pytest.mark.parametrize("count", LENGTHS)
def test_a_cycle_of_any_length_is_refused_once(count: int, manual: ManualDispatcher) -> None:
    answers = [ref.request("wait") for ref in ring_of(count)]
    manual.advance(1)
    assert all(answer.done for answer in answers)
    (said,) = refused(answers)
    assert said.count("→") == min(count, 2 * MOST_NAMED)
    assert manual.suspended == {}


@pytest.mark.parametrize("count", LENGTHS)
def test_so_is_one_that_a_handler_of_a_reentrant_actor_closes(count: int, manual: ManualDispatcher) -> None:
    gate = Future[None]()
    taking = Taking.start(gate)
    chain = chain_of(count, taking)
    taking.tell(chain[-1])
    answers = let_wait(chain, manual)
    gate.set(None)
    manual.advance(1)
    assert all(answer.done for answer in answers)
    assert len(refused(answers)) == 1
    assert manual.suspended == {}


def test_a_long_cycle_of_blocked_handlers_is_refused(threads: Dispatcher) -> None:
    class Blocking(Member):
        def on_receive(self, message: Any) -> Any:
            if isinstance(message, ActorRef):
                self.before = message
                return None
            return 1 if message == "then" else self.before.ask("then")

    ring = ring_of(2 * AT_ONCE, Blocking)
    for answer in [ref.request("wait") for ref in ring]:
        try:
            assert answer.get(timeout=30) == 1
        except AskCycle:
            ring.clear()
    assert ring == []


def test_of_two_long_cycles_each_is_refused_once(manual: ManualDispatcher) -> None:
    rings = [[ref.request("wait") for ref in ring_of(2 * AT_ONCE)] for _ in range(2)]
    manual.advance(1)
    assert [len(refused(answers)) for answers in rings] == [1, 1]


def test_a_wait_that_ends_before_the_late_look_is_left_alone(manual: ManualDispatcher) -> None:
    end = Future[int]()
    answers = let_wait(chain_of(2 * AT_ONCE, end), manual)
    end.set(1)
    manual.settle()
    manual.advance(1)
    assert [answer.get() for answer in answers] == [1] * len(answers)


def test_a_very_long_cycle_is_told_in_few_words(manual: ManualDispatcher) -> None:
    answers = [ref.request("wait") for ref in ring_of(2_000)]
    manual.advance(1)
    (said,) = refused(answers)
    assert " → Member #10 → (1981 more) → Member #1992 → " in said
    assert said.endswith(" → Member #2000 → Member #1")
    assert len(said) < 400
    (error,) = [answer.error for answer in answers if isinstance(answer.error, AskCycle)]
    assert len(error.actors) == 2_000


@pytest.mark.parametrize(
    ("cost", "pause"), [(0.0, SOONEST), (0.002, SOONEST), (0.1, 0.4), (0.3, LATEST), (60.0, LATEST)]
)
def test_the_next_look_comes_when_four_times_its_cost_has_passed_but_soon(cost: float, pause: float) -> None:
    assert pause_after(cost) == pytest.approx(pause)


class Busy:
    """A clock by which everything takes a minute, as on a machine that has no time."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """Give a minute more than before."""
        self.now += 60
        return self.now

    def wall(self) -> int:
        """Give no time in particular."""
        return 0


def test_a_busy_machine_does_not_put_off_the_next_look() -> None:
    dispatcher = Dispatcher(clock=Busy())
    waits_long = LongWaits(dispatcher)
    waits_long.tell(None)
    assert waits_long._pause < 1
    dispatcher.close()


def derived(*sources: Future[Any]) -> Future[Any]:
    """Give a future made of others, as far as the look is concerned."""
    return Future(sources)


class TestKnots:
    def test_what_comes_after_one_another_is_no_knot(self) -> None:
        end = derived()
        left, right = derived(end), derived(end)
        assert list(knots([derived(left, right), end])) == []

    def test_a_future_that_comes_after_itself_is_one(self) -> None:
        loop = derived()
        loop.answerer = (loop,)
        assert list(knots([derived(loop)])) == [[loop]]

    def test_two_circles_that_share_a_future_are_one(self) -> None:
        shared = derived()
        left, right = derived(shared), derived(shared)
        shared.answerer = (left, right)
        (knot,) = knots([left])
        assert set(knot) == {shared, left, right}

    def test_two_circles_apart_are_two_whatever_leads_to_them(self) -> None:
        one, two = derived(), derived()
        one.answerer, two.answerer = (derived(one),), (derived(two), one)
        assert sorted(map(len, knots([derived(two, one), one]))) == [2, 2]
