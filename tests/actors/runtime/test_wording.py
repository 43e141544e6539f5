"""What errors and values say of themselves: to which actor it happened, how much, and the way out."""

import asyncio
from typing import Any, ClassVar

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    AskCycle,
    Dispatcher,
    Future,
    MailboxFull,
    Timeout,
    on_loop,
    take_reply,
)
from showcaller.actors.runtime.testkit import ManualDispatcher


class Forgetful(Actor):
    """Takes the reply, and never gives it."""

    registered = False

    def on_receive(self, message: Any) -> None:
        if message == "boom":
            raise ValueError("at work")
        take_reply()


class Introvert(Actor):
    """Asks itself."""

    registered = False

    async def on_receive(self, message: Any) -> Any:
        return await self.actor_ref.request("and now?")


class Narrow(Forgetful):
    """Has room for two."""

    mailbox_limit: ClassVar[int | None] = 2


class Passing(Actor):
    """Asks the next one for one less than it is asked for."""

    registered = False
    following: ActorRef[Any]

    async def on_receive(self, message: Any) -> Any:
        if isinstance(message, ActorRef):
            self.following = message
            return None
        return await self.following.request(message - 1) if message else None


def _cycle_of(count: int, seed: int) -> str:
    """Let so many wait for one another, and give what is told of that."""
    with ManualDispatcher(seed=seed) as manual:
        ring = [Passing.start() for _ in range(count)]
        for ref, following in zip(ring, ring[1:] + ring[:1], strict=True):
            ref.tell(following)
        manual.settle()
        answer = ring[0].request(count)
        manual.advance(1)
        return str(answer.error)


class TestErrors:
    def test_a_reply_that_is_overdue_names_who_was_asked(self, manual: ManualDispatcher) -> None:
        ref = Forgetful.start()
        with pytest.raises(Timeout) as caught:
            ref.request("well?", timeout=5).get()
        assert str(caught.value) == f"no reply from {ref} within 5 seconds"

    def test_a_full_mailbox_tells_its_limit(self, manual: ManualDispatcher) -> None:
        ref = Narrow.start()
        ref.tell(1)
        ref.tell(2)
        with pytest.raises(MailboxFull) as caught:
            ref.tell(3)
        assert (
            str(caught.value) == f"{ref} lets no more than 2 messages wait (mailbox_limit; policy 'refuse')"
        )

    def test_who_awaits_itself_is_told_of_reentrant(self, manual: ManualDispatcher) -> None:
        with pytest.raises(AskCycle, match=r"call the method itself.*`reentrant = True`"):
            Introvert.start().ask("x")

    @pytest.mark.parametrize("count", [2, 3, 40])
    def test_a_cycle_is_told_in_the_same_words_in_every_run_with_one_seed(self, count: int) -> None:
        told = [_cycle_of(count, seed=7) for _ in range(2)]
        assert told[0] == told[1]
        assert told[0].startswith("no reply can come while each waits for the next: ")

    def test_several_of_one_class_are_told_apart(self) -> None:
        assert _cycle_of(2, seed=0).endswith(": Passing #1 → Passing #2 → Passing #1")

    def test_who_blocks_the_loop_that_is_to_answer_is_told(self, threads: Dispatcher) -> None:
        async def answer() -> int:
            return 7

        async def main() -> int:
            bridged = on_loop(asyncio.get_running_loop(), answer())
            with pytest.raises(AskCycle, match="blocks the loop that is to run the coroutine: await it"):
                bridged.get(timeout=60)
            return await bridged

        assert asyncio.run(main()) == 7

    def test_mail_that_an_actor_ended_before_tells_how_it_ended(self, manual: ManualDispatcher) -> None:
        ref = Forgetful.start()
        ref.tell("boom")
        answer = ref.request("well?")
        with pytest.raises(ActorDeadError) as caught:
            answer.get()
        assert (
            str(caught.value) == f"{ref} ended before it handled the message: failed (ValueError('at work'))"
        )
        assert isinstance(caught.value.__cause__, ValueError)

    def test_mail_behind_a_stop_tells_that_it_was_stopped(self, manual: ManualDispatcher) -> None:
        ref = Forgetful.start()
        ref.stop(block=False)
        answer = ref.request("well?")
        with pytest.raises(ActorDeadError, match="stopped before handling the message"):
            answer.get()


def test_a_future_tells_how_far_it_is(manual: ManualDispatcher) -> None:
    ref = Forgetful.start()
    waiting, done, failed = ref.request("well?"), Future[int](), Future[int]()
    done.set(5)
    failed.set_exception(KeyError("which"))
    assert repr(waiting) == f"<Future: {ref} has not replied>"
    assert repr(done) == "<Future: 5>"
    assert repr(failed) == "<Future: raised KeyError('which')>"
    assert repr(Future[int]()) == "<Future: not done>"


class Exhausted(Actor):
    registered = False

    def on_receive(self, message: Any) -> None:
        raise StopIteration("nothing left")


class TestStopIteration:
    def test_an_await_says_that_it_cannot_raise_it(self, manual: ManualDispatcher) -> None:
        class Awaits(Actor):
            registered = False

            async def on_receive(self, message: Any) -> Any:
                return await message

        with pytest.raises(RuntimeError, match=r"ended in StopIteration.*or get\(\) the future") as told:
            Awaits.start().ask(Exhausted.start().request("more"))
        assert isinstance(told.value.__cause__, StopIteration)

    def test_a_get_raises_it(self, manual: ManualDispatcher) -> None:
        with pytest.raises(StopIteration, match="nothing left"):
            Exhausted.start().ask("more")
