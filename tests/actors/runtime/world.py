"""A small world of actors beside a model of it: what must hold whatever happens, in whatever order."""

import itertools
from typing import Any, ClassVar

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    ChildSpec,
    DeadLetter,
    Future,
    GetChild,
    MailboxFull,
    MailboxPolicy,
    RestartIntensity,
    Supervisor,
    Terminated,
    Timeout,
    Timer,
    take_reply,
)
from showcaller.actors.runtime.lineage import Restart
from showcaller.actors.runtime.strategy import Strategy
from showcaller.actors.runtime.testkit import ManualDispatcher, Probe

OFTEN = RestartIntensity(1_000_000, 1.0)


class Ledger:
    """What the actors have done, for all lives of an actor together."""

    def __init__(self) -> None:
        self.handled: dict[str, list[int]] = {}
        self.kept: list[tuple[Future[Any], int]] = []
        self.gates: list[Future[None]] = []


class Member(Actor):
    """Handles a number as its kind says: ``plain``, ``waits`` (a coroutine), or ``later`` (a late reply)."""

    registered = False

    def __init__(self, name: str, kind: str, ledger: Ledger) -> None:
        super().__init__()
        self.name = name
        self.kind = kind
        self.ledger = ledger

    def on_receive(self, message: Any) -> Any:
        number, what = message
        if what == "boom":
            raise ValueError(f"{self.name} fails at {number}")
        self.ledger.handled.setdefault(self.name, []).append(number)
        if self.kind == "waits":
            gate: Future[None] = Future()
            self.ledger.gates.append(gate)
            return self._answer(gate, number)
        if self.kind == "later":
            reply = take_reply()
            if reply is not None:
                self.ledger.kept.append((reply, number))
            return None
        return number

    async def _answer(self, gate: "Future[None]", number: int) -> int:
        await gate
        return number


class Reentrant(Member):
    """The same, and takes other mail while it waits."""

    reentrant = True


class Bounded(Member):
    """The same with little room."""

    mailbox_limit: ClassVar[int | None] = 2
    mailbox_policy: ClassVar[MailboxPolicy] = "drop_oldest"


class Narrow(Member):
    """The same, and refuses."""

    mailbox_limit: ClassVar[int | None] = 2


CAST: dict[str, tuple[type[Member], str, Restart | None]] = {
    "plain": (Member, "plain", None),
    "waits": (Member, "waits", None),
    "later": (Member, "later", None),
    "reentrant": (Reentrant, "waits", None),
    "oldest": (Bounded, "plain", None),
    "narrow": (Narrow, "waits", None),
    "permanent": (Member, "plain", "permanent"),
    "transient": (Member, "waits", "transient"),
    "temporary": (Reentrant, "waits", "temporary"),
    "permanent-oldest": (Bounded, "waits", "permanent"),
}


class World:
    """Ten actors, five of them supervised, a watcher, and the books about all mail."""

    def __init__(self, seed: int, strategy: Strategy = "one_for_one") -> None:
        self.dispatcher = ManualDispatcher(seed=seed)
        self.ledger = Ledger()
        self.numbers = itertools.count()
        self.told: dict[str, set[int]] = {name: set() for name in CAST}
        self.asked: dict[int, Future[Any]] = {}
        self.overdue_at: dict[int, float] = {}
        self.timers: dict[int, tuple[str, Timer]] = {}
        self.cancelled: set[int] = set()
        self.watched: set[str] = set()
        self.booms: set[int] = set()
        with self.dispatcher:
            self.watcher = Probe.start()
            self.undertaker = Probe.start()
            self.dispatcher.watch_dead_letters(self.undertaker)
            specs = [
                ChildSpec(name, actor_class, (name, kind, self.ledger), restart=restart)
                for name, (actor_class, kind, restart) in CAST.items()
                if restart is not None
            ]
            self.supervisor = Supervisor.start(specs, strategy=strategy, intensity=OFTEN)
            self.refs: dict[str, ActorRef[Any]] = {
                name: actor_class.start(name, kind, self.ledger)
                if restart is None
                else self.supervisor.ask(GetChild(name))
                for name, (actor_class, kind, restart) in CAST.items()
            }
            self.dispatcher.settle()

    # -- what may happen ---------------------------------------------------------------------------

    def tell(self, name: str) -> None:
        number = next(self.numbers)
        try:
            self.refs[name].tell((number, "told"))
        except (ActorDeadError, MailboxFull):
            return
        self.told[name].add(number)

    def boom(self, name: str) -> None:
        number = next(self.numbers)
        try:
            self.refs[name].tell((number, "boom"))
        except (ActorDeadError, MailboxFull):
            return
        self.booms.add(number)

    def ask(self, name: str) -> None:
        number = next(self.numbers)
        self.asked[number] = self.refs[name].ask((number, "asked"), block=False)

    def request(self, name: str, seconds: float) -> None:
        number = next(self.numbers)
        self.asked[number] = self.refs[name].request((number, "asked"), timeout=seconds)
        self.overdue_at[number] = self.dispatcher.clock.monotonic() + seconds

    def stop(self, name: str) -> None:
        self.refs[name].stop(block=False)

    def kill(self, name: str) -> None:
        self.refs[name].kill()

    def watch(self, name: str) -> None:
        if name not in self.watched:
            self.refs[name].add_watcher(self.watcher)
            self.watched.add(name)

    def timer(self, name: str, seconds: float) -> None:
        number = next(self.numbers)
        self.timers[number] = (name, self.refs[name].tell_after(seconds, (number, "timed")))

    def cancel(self, which: int) -> None:
        if self.timers:
            number = list(self.timers)[which % len(self.timers)]
            if self.timers[number][1].cancel():
                self.cancelled.add(number)

    def open_gate(self, which: int) -> None:
        if self.ledger.gates:
            self.ledger.gates.pop(which % len(self.ledger.gates)).set(None)

    def reply_late(self, which: int) -> None:
        if self.ledger.kept:
            reply, number = self.ledger.kept.pop(which % len(self.ledger.kept))
            reply.set(number)

    def step(self) -> None:
        self.dispatcher.step()

    def settle(self) -> None:
        self.dispatcher.settle()

    def advance(self, seconds: float) -> None:
        self.dispatcher.advance(seconds)

    # -- what must hold ----------------------------------------------------------------------------

    def check(self) -> None:
        """Check what holds at every moment."""
        for name, numbers in self.ledger.handled.items():
            timed = set(self.timers)
            told = [number for number in numbers if number not in timed]
            assert told == sorted(told), f"{name} handled out of order: {numbers}"
            assert len(numbers) == len(set(numbers)), f"{name} handled twice: {numbers}"
        now = self.dispatcher.clock.monotonic()
        for number, due in self.overdue_at.items():
            if due < now:
                assert self.asked[number].done, f"request {number} was due at {due}, it is {now}"
        for name in CAST:
            if CAST[name][2] == "permanent":
                assert self.refs[name].is_alive(), f"{name} is permanent"

    def end(self) -> None:
        """Let the play end, and check that all mail is accounted for."""
        self.settle()
        self.check()
        self.advance(1_000)
        alive = {name for name in CAST if self.refs[name].is_alive()}
        for name in CAST:
            if CAST[name][2] is None:
                self.stop(name)
        stopping = self.supervisor.stop(block=False)
        for _ in range(10_000):
            self.settle()
            if not self.ledger.gates:
                break
            self.open_gate(0)
        self.advance(100)
        self.settle()
        assert stopping.get() is True
        while self.ledger.kept:
            self.reply_late(0)
        self._check_asks()
        self._check_told()
        self._check_timers(alive)
        terminated = sorted(
            item.ref.urn() for item in self._got(self.watcher) if isinstance(item, Terminated)
        )
        assert terminated == sorted(self.refs[name].urn() for name in self.watched)
        assert self.dispatcher.suspended == {}
        assert not any(ref._mail or ref._system for ref in self.refs.values())

    def _got(self, ref: ActorRef[Any]) -> list[Any]:
        actor = ref._actor
        assert isinstance(actor, Probe)
        return actor.received

    def _check_asks(self) -> None:
        for number, answer in self.asked.items():
            assert answer.done, f"ask {number} was never answered"
            try:
                assert answer.get() == number
            except (ActorDeadError, MailboxFull):
                continue
            except Timeout:
                assert number in self.overdue_at

    def _check_told(self) -> None:
        letters = [item.message for item in self._got(self.undertaker) if isinstance(item, DeadLetter)]
        dead = {number for number, _ in letters}
        assert len(dead) == len(letters) == self.dispatcher.dead_letters
        for name, told in self.told.items():
            handled = set(self.ledger.handled.get(name, ()))
            assert not handled & dead
            assert told <= handled | dead, f"{name} lost {told - handled - dead}"

    def _check_timers(self, alive: set[str]) -> None:
        for number, (name, timer) in self.timers.items():
            handled = number in self.ledger.handled.get(name, ())
            assert not timer.active
            assert not (handled and number in self.cancelled), f"timer {number} fired after it was cancelled"
            if name in alive and number not in self.cancelled and CAST[name][0] in (Member, Reentrant):
                assert handled or not self.refs[name].is_alive()
