"""Bounded mailboxes: each policy by itself, against a short list, and between threads."""

import contextlib
import threading
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    ActorRegistry,
    ChildSpec,
    Dispatcher,
    GetChild,
    MailboxFull,
    MailboxPolicy,
    RestartIntensity,
    StartChild,
    StartFailed,
    Supervisor,
    Terminated,
    ending,
)
from showcaller.actors.runtime.doubt import look_after
from showcaller.actors.runtime.exits import NORMAL
from showcaller.actors.runtime.testkit import ManualDispatcher, Probe


class Bounded(Probe):
    """Keeps what it gets; at most three messages wait."""

    mailbox_limit: ClassVar[int | None] = 3


class Newest(Bounded):
    """Drops what comes too late."""

    mailbox_policy: ClassVar[MailboxPolicy] = "drop_newest"


class Oldest(Bounded):
    """Drops what waits longest."""

    mailbox_policy: ClassVar[MailboxPolicy] = "drop_oldest"


def received(ref: ActorRef[Any]) -> list[Any]:
    """Look into a probe."""
    actor = ref._actor
    assert isinstance(actor, Probe)
    return actor.received


class TestBounded:
    def test_refuse_raises_in_the_sender(self, manual: ManualDispatcher) -> None:
        ref = Bounded.start()
        for number in range(3):
            ref.tell(number)
        with pytest.raises(MailboxFull, match="no more than 3 messages wait"):
            ref.tell(3)
        with pytest.raises(MailboxFull):
            ref.ask(4)
        manual.settle()
        ref.tell(5)
        manual.settle()
        assert received(ref) == [0, 1, 2, 5]
        assert manual.dead_letters == 0

    def test_drop_newest_keeps_what_is_there(self, manual: ManualDispatcher) -> None:
        ref = Newest.start()
        for number in range(5):
            ref.tell(number)
        with pytest.raises(MailboxFull):
            ref.ask("asked")
        manual.settle()
        assert received(ref) == [0, 1, 2]
        assert manual.dead_letters == 2

    def test_drop_oldest_makes_room(self, manual: ManualDispatcher) -> None:
        ref = Oldest.start()
        asked = ref.ask("asked", block=False)
        for number in range(5):
            ref.tell(number)
        assert asked.done
        with pytest.raises(MailboxFull):
            asked.get()
        manual.settle()
        assert received(ref) == [2, 3, 4]
        assert manual.dead_letters == 2

    def test_an_order_to_stop_always_finds_room(self, manual: ManualDispatcher) -> None:
        ref = Bounded.start()
        for number in range(3):
            ref.tell(number)
        got = received(ref)
        assert ref.stop() is True
        assert got == [0, 1, 2]

    @pytest.mark.parametrize("kind", [Bounded, Newest, Oldest])
    def test_a_dead_one_refuses_as_others_do(self, kind: type[Bounded], manual: ManualDispatcher) -> None:
        ref = kind.start()
        ref.stop()
        with pytest.raises(ActorDeadError):
            ref.tell("x")
        with pytest.raises(ActorDeadError):
            ref.ask("x")

    def test_a_limit_below_one_is_refused(self) -> None:
        with pytest.raises(ValueError, match="at least 1"):
            type("None", (Actor,), {"mailbox_limit": 0})

    def test_a_limit_that_is_no_number_is_refused(self) -> None:
        with pytest.raises(TypeError, match=r"Few\.mailbox_limit must be a whole number or None, not '5'"):
            type("Few", (Actor,), {"mailbox_limit": "5"})

    def test_a_policy_with_a_typo_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"Lossy\.mailbox_policy cannot be 'drop-oldest': choose"):
            type("Lossy", (Actor,), {"mailbox_limit": 5, "mailbox_policy": "drop-oldest"})

    def test_a_limit_is_no_truth_value(self) -> None:
        with pytest.raises(TypeError, match="must be a whole number or None, not True"):
            type("True", (Actor,), {"mailbox_limit": True})

    def test_a_class_that_was_changed_since_is_refused_at_the_start(self, manual: ManualDispatcher) -> None:
        changed = type("Changed", (Actor,), {"mailbox_limit": 5})
        changed.mailbox_limit = 0  # type: ignore[attr-defined]
        with pytest.raises(ValueError, match="must be at least 1"):
            changed.start()  # type: ignore[attr-defined]

    def test_a_mailbox_keeps_the_terms_that_it_was_made_with(self, manual: ManualDispatcher) -> None:
        changed: Any = type("Changed", (Actor,), {"mailbox_limit": 1})
        ref = changed.start()
        changed.mailbox_limit = None
        ref.tell("room")
        with pytest.raises(MailboxFull, match="no more than 1"):
            ref.tell("no room")

    @pytest.mark.parametrize("own", [{"mailbox_limit": 2}, {"mailbox_policy": "drop_newest"}])
    @pytest.mark.parametrize("early", [True, False])
    def test_terms_of_one_actor_alone_are_refused(
        self, own: dict[str, Any], early: bool, manual: ManualDispatcher
    ) -> None:
        class Own(Actor):
            def __init__(self) -> None:
                if early:
                    vars(self).update(own)
                super().__init__()
                vars(self).update(own)

        with pytest.raises(TypeError, match=r"Own sets self\.mailbox_.*declare it in the class"):
            Own.start()
        supervisor = Supervisor.start()
        with pytest.raises(StartFailed, match=r"Own sets self\.mailbox_"):
            supervisor.ask(StartChild(ChildSpec("own", Own)))
        assert ActorRegistry.get_by_class(Own) == []

    def test_a_supervised_one_is_bounded_too(self, manual: ManualDispatcher) -> None:
        ref: ActorRef[Any] = Supervisor.start([ChildSpec("bounded", Bounded)]).ask(GetChild("bounded"))
        for number in range(3):
            ref.tell(number)
        with pytest.raises(MailboxFull):
            ref.tell(3)

    @given(steps=st.lists(st.integers(-1, 3), max_size=60), policy=st.sampled_from([Bounded, Newest, Oldest]))
    def test_it_behaves_as_a_short_list(self, steps: list[int], policy: type[Bounded]) -> None:
        """A step below 0 lets the actor handle one message; another one tells a message."""
        with ManualDispatcher() as manual:
            ref = policy.start()
            manual.settle()
            waiting: list[int] = []
            handled: list[int] = []
            for number, step in enumerate(steps):
                if step < 0:
                    manual.step()
                    handled += waiting[:1]
                    waiting = waiting[1:]
                    continue
                refused = model_of(policy.mailbox_policy, waiting, number)
                with pytest.raises(MailboxFull) if refused else contextlib.nullcontext():
                    ref.tell(number)
            assert received(ref) == handled
            manual.settle()
            assert received(ref) == handled + waiting

    @pytest.mark.parametrize("kind", [Bounded, Newest, Oldest])
    def test_no_more_dead_letters_wait_than_messages_may(
        self, kind: type[Bounded], manual: ManualDispatcher
    ) -> None:
        watcher, dead = kind.start(), Newest.start()
        got = received(watcher)
        manual.settle()
        manual.watch_dead_letters(watcher)
        for number in range(20):
            dead.tell(number)
        assert manual.dead_letters == 17
        watcher.tell("beside them")
        stopped = watcher.stop(block=False)
        manual.settle()
        assert [letter.message for letter in got[:-1]] == [3, 4, 5]
        assert got[-1] == "beside them"
        assert stopped.get() is True

    @pytest.mark.parametrize("kind", [Newest, Oldest])
    def test_threads_lose_no_message_without_a_dead_letter(
        self, kind: type[Bounded], threads: Dispatcher
    ) -> None:
        ref = kind.start()
        got = received(ref)

        def tell() -> None:
            for number in range(2_000):
                ref.tell(number)

        senders = [threading.Thread(target=tell) for _ in range(3)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        ref.stop()
        assert threads.wait_quiet(10)
        assert len(got) + threads.dead_letters == 6_000


@pytest.mark.parametrize("kind", [Bounded, Newest, Oldest])
def test_a_full_mailbox_is_not_looked_through(
    kind: type[Bounded], manual: ManualDispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_own(mail: Any) -> bool:
        looked_at.append(mail)
        return of_the_runtime(mail)

    class Large(kind):  # type: ignore[valid-type,misc]
        mailbox_limit = 10_000

    looked_at: list[Any] = []
    of_the_runtime = ending.is_own
    ref = Large.start()
    manual.settle()
    for number in range(10_000):
        ref.tell(number)
    monkeypatch.setattr(ending, "is_own", is_own)
    for number in range(100):
        with contextlib.suppress(MailboxFull):
            ref.tell(number)
    assert len(looked_at) <= 200


class TestDropOldestBehindOwnMail:
    """News of ends, which are the runtime's own, wait in front of the messages."""

    def test_news_are_not_looked_through_at_every_drop(
        self, manual: ManualDispatcher, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def is_own(mail: Any) -> bool:
            looked_at.append(mail)
            return of_the_runtime(mail)

        looked_at: list[Any] = []
        of_the_runtime = ending.is_own
        ref, news = Oldest.start(), Terminated(Bounded.start(), NORMAL)
        manual.settle()
        for _ in range(3_000):
            ref.post(news)
        monkeypatch.setattr(ending, "is_own", is_own)
        for number in range(1_000):
            ref.tell(number)
        assert len(looked_at) <= 3_000 + 2 * 1_000
        manual.settle()
        assert received(ref) == [news] * 3_000 + [997, 998, 999]

    def test_an_interrupted_start_is_still_seen_behind_it(self, manual: ManualDispatcher) -> None:
        ref = Oldest.start()
        for number in range(5):
            ref.tell(number)
        look_after(ref)
        manual.settle()
        assert received(ref) == [2, 3, 4]

    @given(steps=st.lists(st.sampled_from(["news", "tell", "handle"]), max_size=60))
    def test_nothing_else_changes_its_place(self, steps: list[str]) -> None:
        with ManualDispatcher() as manual:
            ref = Oldest.start()
            manual.settle()
            waiting: list[Any] = []
            handled: list[Any] = []
            for number, step in enumerate(steps):
                if step == "news":
                    waiting.append(Terminated(number, NORMAL))
                    ref.post(waiting[-1])
                elif step == "tell":
                    messages = [mail for mail in waiting if type(mail) is int]
                    if len(messages) == 3:
                        waiting.remove(messages[0])
                    waiting.append(number)
                    ref.tell(number)
                else:
                    handled += waiting[:1]
                    waiting = waiting[1:]
                    manual.step()
            assert received(ref) == handled
            manual.settle()
            assert received(ref) == handled + waiting

    def test_a_dead_one_has_answered_all_of_it(self, manual: ManualDispatcher) -> None:
        ref, asked = Oldest.start(), Oldest.start().ask("x", block=False)
        stopped = [ref.stop(block=False) for _ in range(3)]
        for number in range(5):
            ref.tell(number)
        manual.settle()
        assert [answer.get() for answer in stopped] == [True, True, True]
        assert asked.done
        assert manual.dead_letters == 5


def test_a_kill_that_puts_mail_back_leaves_the_limit_as_it_was(manual: ManualDispatcher) -> None:
    supervisor = Supervisor.start([ChildSpec("bounded", Bounded)], intensity=RestartIntensity(100, 1.0))
    ref = supervisor.ask(GetChild("bounded"))
    for lives in range(3):
        for number in range(3):
            ref.tell(number)
        with pytest.raises(MailboxFull):
            ref.tell(3)
        ref.kill()
        ref.stop(block=False)
        ref.kill()
        manual.settle()
        assert ref.is_alive(), lives
        assert ref._own == 0


def model_of(policy: MailboxPolicy, waiting: list[int], number: int) -> bool:
    """Do to a list what the policy does to a mailbox of three; True when the sender is refused."""
    if len(waiting) < 3:
        waiting.append(number)
    elif policy == "drop_oldest":
        waiting[:] = [*waiting[1:], number]
    return len(waiting) == 3 and policy == "refuse" and waiting[-1] != number
