"""A signal handler that makes and cancels timers while its thread is at them, wherever it comes in."""

from collections.abc import Callable
from typing import Any

import pytest

from showcaller.actors.runtime import ActorRef, Timer, timers
from showcaller.actors.runtime.testkit import ManualDispatcher, probe
from tests.actors.runtime.interrupting import Interrupter

MOST = 500

CALLS: dict[str, Callable[[ActorRef[Any], list[Timer]], object]] = {
    "tell_after": lambda ref, _: ref.tell_after(3, "new"),
    "tell_at": lambda ref, _: ref.tell_at(ref.dispatcher.clock.wall() + 3_000, "new"),
    "cancel": lambda ref, made: made[0].cancel(),
    "cancel on the wall clock": lambda ref, made: made[1].cancel(),
    "next_due": lambda ref, _: ref.dispatcher.timers.next_due(),
}


@pytest.mark.parametrize("call", CALLS)
def test_each_timer_fires_once_unless_it_was_cancelled(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timers, "INBOX", 2)
    for place in range(1, MOST):
        with ManualDispatcher() as manual:
            ref, got = probe()
            wall = manual.clock.wall()
            made = [ref.tell_after(1, "a"), ref.tell_at(wall + 2_000, "b")]
            others = [ref.tell_after(1, "c"), ref.tell_at(wall + 2_000, "d"), ref.tell_after(9, "e")]
            others[-1].cancel()

            def handle() -> None:
                for other in others:  # noqa: B023
                    other.cancel()
                ref.tell_after(4, "handled")  # noqa: B023
                ref.tell_at(wall + 5_000, "handled")  # noqa: B023

            interrupted = Interrupter(place, handle).interrupts(lambda: CALLS[call](ref, made))  # noqa: B023
            manual.advance(10)
            expected = {"cancel": ["b"], "cancel on the wall clock": ["a"]}.get(call, ["a", "b"])
            expected += ["new"] if call.startswith("tell") else []
            expected += ["handled", "handled"] if interrupted else ["c", "d"]
            assert sorted(got) == sorted(expected), place
            assert manual.timers.next_due() is None
            assert not manual.timers.follow_wall
        if not interrupted:
            assert place > 2
            return
    pytest.fail("the call has no end")
