"""What a life began ends with it, however it ends: the timers it set for itself, the replies it took over."""

import threading
from collections.abc import Callable
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
    RestartIntensity,
    Supervisor,
    hand_on,
    take_reply,
)
from showcaller.actors.runtime.testkit import ManualDispatcher, probe
from tests.actors.runtime.stage import Boom
from tests.actors.runtime.waiting import Waiting


class Lobby(Actor):
    """Beats every ten seconds, and takes over the replies to everything else; fails on demand."""

    registered = False

    def __init__(self, beats: list[float]) -> None:
        super().__init__()
        self.beats = beats
        self.kept: list[Future[Any] | None] = []

    def on_start(self) -> None:
        self.actor_ref.tell_every(10, "beat")
        self.actor_ref.tell_after(15, "beat")
        self.actor_ref.tell_at(self.actor_ref.dispatcher.clock.wall() + 16_000, "beat")

    def on_receive(self, message: Any) -> None:
        if message == "boom":
            raise Boom
        if message == "beat":
            self.beats.append(self.actor_ref.dispatcher.clock.monotonic())
        else:
            self.kept.append(take_reply())
            if isinstance(message, ActorRef):
                message.forward("forwarded", self.kept[-1])
            elif callable(message):
                message(self.kept[-1])


ENDS: dict[str, Callable[[ActorRef[Any]], object]] = {
    "stop": lambda ref: ref.stop(block=False),
    "kill": lambda ref: ref.kill(),
    "failure": lambda ref: ref.tell("boom"),
}


def supervised(beats: list[float]) -> ActorRef[Any]:
    """Start a lobby that lives again."""
    child: ActorRef[Any] = Supervisor.start([ChildSpec("lobby", Lobby, (beats,))]).ask(GetChild("lobby"))
    return child


class TestTimers:
    @pytest.mark.parametrize("end", ENDS)
    def test_those_an_actor_set_for_itself_end_with_it_and_leave_no_dead_letter(
        self, end: str, manual: ManualDispatcher
    ) -> None:
        beats: list[float] = []
        ref = Lobby.start(beats)
        manual.advance(12)
        ENDS[end](ref)
        manual.settle()
        assert (beats, manual.timers.next_due()) == ([10.0], None)
        manual.advance(50)
        assert (beats, manual.dead_letters) == ([10.0], 0)

    @pytest.mark.parametrize("end", ["kill", "failure"])
    def test_a_restarted_actor_has_only_those_of_its_new_life(
        self, end: str, manual: ManualDispatcher
    ) -> None:
        beats: list[float] = []
        ref = supervised(beats)
        for _ in range(2):
            ENDS[end](ref)
            manual.settle()
        manual.advance(40)
        assert beats == [10.0, 15.0, 16.0, 20.0, 30.0, 40.0]

    def test_those_that_others_set_stay_over_restarts_as_mail_does(self, manual: ManualDispatcher) -> None:
        beats: list[float] = []
        ref = supervised(beats)
        ref.tell_after(3, "beat")
        ref.tell("boom")
        manual.advance(5)
        assert beats == [3.0]

    def test_a_repeated_one_that_others_set_ends_with_the_ref_and_leaves_no_dead_letter(
        self, manual: ManualDispatcher
    ) -> None:
        ref = Waiting.start()
        timer = ref.tell_every(1, "tick")
        ref.stop()
        manual.advance(5)
        assert (timer.active, manual.dead_letters, len(manual.timers)) == (False, 0, 0)

    def test_those_that_have_fired_or_were_cancelled_are_not_kept(self, manual: ManualDispatcher) -> None:
        class Setting(Actor):
            registered = False

            def on_receive(self, message: int) -> None:
                self.actor_ref.tell_after(1_000, "later").cancel()
                if message > 0:
                    self.actor_ref.tell_after(0.001, message - 1)

        ref = Setting.start()
        ref.tell(50)
        manual.advance(1)
        assert ref.extras().timers == {}


class TestRepliesTakenOver:
    @pytest.mark.parametrize("end", ENDS)
    def test_who_waits_gets_an_end_when_the_life_has_one(self, end: str, manual: ManualDispatcher) -> None:
        ref = Lobby.start([])
        answers = [ref.request(number) for number in range(3)]
        manual.settle()
        ENDS[end](ref)
        manual.settle()
        for answer in answers:
            with pytest.raises(ActorDeadError, match="ended before it answered"):
                answer.get()

    @pytest.mark.parametrize("end", ["kill", "failure"])
    def test_a_restart_is_an_end(self, end: str, manual: ManualDispatcher) -> None:
        ref = supervised([])
        answer, queued = ref.request(1), None
        manual.settle()
        ENDS[end](ref)
        queued = ref.request(2)
        manual.settle()
        with pytest.raises(ActorDeadError, match="ended before it answered"):
            answer.get()
        assert (ref.is_alive(), queued.done) == (True, False)

    def test_the_error_tells_why(self, manual: ManualDispatcher) -> None:
        ref = Lobby.start([])
        answer = ref.request(1)
        ref.tell("boom")
        with pytest.raises(ActorDeadError, match=r"failed \(Boom\(\)\)") as caught:
            answer.get()
        assert isinstance(caught.value.__cause__, Boom)

    def test_a_closed_dispatcher_is_an_end(self) -> None:
        with Dispatcher(name="test") as dispatcher:
            answer = Lobby.start([]).request(1)
            assert dispatcher.wait_quiet(10)
            dispatcher.close()
            with pytest.raises(ActorDeadError, match="killed"):
                answer.get(timeout=10)

    def test_one_that_was_forwarded_is_the_others(self, manual: ManualDispatcher) -> None:
        ref, other, until = Lobby.start([]), Lobby.start([]), Waiting.start()
        answers = [ref.request(other), ref.request(until)]
        manual.settle()
        ref.stop()
        assert [answer.done for answer in answers] == [False, True]
        other.stop()
        with pytest.raises(ActorDeadError, match=other.actor_urn):
            answers[0].get()

    def test_one_that_was_handed_on_ends_with_whom_it_was_handed_to(self, manual: ManualDispatcher) -> None:
        ref, other = Lobby.start([]), Lobby.start([])
        answer = ref.request(lambda reply: hand_on(reply, other))
        manual.settle()
        ref.stop()
        assert not answer.done
        other.stop()
        with pytest.raises(ActorDeadError, match=other.actor_urn):
            answer.get()

    def test_one_that_was_handed_to_a_dead_actor_ends_at_once(self, manual: ManualDispatcher) -> None:
        ref, other = Lobby.start([]), Lobby.start([])
        other.stop()
        answer = ref.request(lambda reply: hand_on(reply, other))
        with pytest.raises(ActorDeadError, match=other.actor_urn):
            answer.get()

    def test_one_that_was_handed_on_to_nobody_known_waits_for_whoever_has_it(
        self, manual: ManualDispatcher
    ) -> None:
        kept: list[Future[Any]] = []

        def keep(reply: Future[Any]) -> None:
            hand_on(reply)
            kept.append(reply)

        ref = Lobby.start([])
        answer = ref.request(keep)
        manual.settle()
        ref.stop()
        kept[0].set("late, and right")
        assert answer.get() == "late, and right"

    def test_a_told_message_has_no_reply_to_hand_on(self, manual: ManualDispatcher) -> None:
        ref = Lobby.start([])
        ref.tell(hand_on)
        manual.settle()
        assert ref.is_alive()

    def test_who_answers_after_the_end_is_only_counted(self, manual: ManualDispatcher) -> None:
        kept: list[Future[Any]] = []
        ref = Lobby.start([])
        answer = ref.request(kept.append)
        manual.settle()
        ref.stop()
        kept[0].set("too late")
        kept[0].set_exception(Boom())
        assert manual.late_replies == 2
        with pytest.raises(ActorDeadError):
            answer.get()

    def test_who_answers_in_on_stop_or_on_failure_is_in_time(self, manual: ManualDispatcher) -> None:
        class Polite(Lobby):
            def on_stop(self) -> None:
                for reply in self.kept:
                    assert reply is not None
                    reply.set("sorry")

            def on_failure(self, *_: Any) -> None:
                self.on_stop()

        for end in ("stop", "failure"):
            ref = Polite.start([])
            answer = ref.request(1)
            ENDS[end](ref)
            assert answer.get() == "sorry"

    def test_answered_ones_are_not_kept(self, manual: ManualDispatcher) -> None:
        ref = Lobby.start([])
        for _ in range(3):
            assert ref.ask(lambda reply: reply.set("at once")) == "at once"
            ref.ask(Waiting.start())
        assert (ref.extras().owed, manual.owing) == ({}, {})

    def test_a_coroutine_may_take_its_reply_too(self, manual: ManualDispatcher) -> None:
        class Late(Actor):
            registered = False

            async def on_receive(self, message: Future[None]) -> None:
                await message
                self.reply = take_reply()

        ref, until = Late.start(), Future[None]()
        answer = ref.request(until)
        manual.settle()
        until.set(None)
        ref.stop()
        with pytest.raises(ActorDeadError, match="ended before it answered"):
            answer.get()

    def test_of_answering_and_ending_at_once_exactly_one_wins(self, threads: Dispatcher) -> None:
        for _ in range(200):
            kept: list[Future[Any]] = []
            ref = Lobby.start([])
            answer = ref.request(kept.append)
            assert threads.wait_quiet(10)
            answering = threading.Thread(target=kept[0].set, args=("in time",))
            answering.start()
            ref.stop(block=False)
            try:
                assert answer.get(timeout=10) == "in time"
            except ActorDeadError:
                assert not ref.is_alive()
            answering.join()


class TestTooManyRestarts:
    @pytest.mark.parametrize("end", ["kill", "failure"])
    def test_the_watchers_of_the_child_that_fails_too_often_get_its_error(
        self, end: str, manual: ManualDispatcher
    ) -> None:
        specs = [ChildSpec("lobby", Lobby, ([],)), ChildSpec("other", Waiting)]
        supervisor = Supervisor.start(specs, intensity=RestartIntensity(0, 1.0))
        child, other = (supervisor.ask(GetChild(name)) for name in ("lobby", "other"))
        watcher, told = probe()
        for ref in (child, other):
            ref.add_watcher(watcher)
        ENDS[end](child)
        manual.settle()
        reasons = {news.ref: news.reason for news in told}
        assert reasons[child].kind == {"kill": "killed", "failure": "failed"}[end]
        assert isinstance(reasons[child].error, Boom) is (end == "failure")
        assert reasons[other].kind == "shutdown"
        assert not supervisor.is_alive()
