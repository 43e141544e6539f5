"""Long waits from outside in pieces, so that nothing waits for long for who has gone."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from showcaller.actors.contract.outside import Monitor, Output
from showcaller.actors.relay.calls import OWNER, Caller
from showcaller.transport.doors.local import LocalDoor

PIECE_SECONDS: Final = 20.0


async def _never() -> bool:
    return False


async def watch_in_pieces(
    door: LocalDoor,
    asked: Monitor | Output,
    caller: Caller,
    now: Callable[[], float],
    *,
    most: float | None = None,
    is_gone: Callable[[], Awaitable[bool]] = _never,
) -> dict[str, Any]:
    """Ask the relay for a piece of the time at once, each from where the one before ended.

    Args:
        door: the relay.
        asked: what to wait for, and how long.
        caller: who asks.
        now: gives seconds of a steady clock.
        most: seconds that it takes at most, whatever was asked.
        is_gone: tells between two pieces whether nobody waits for the answer any more.

    """
    seconds = asked.timeout if isinstance(asked, Monitor) else asked.wait
    until = now() + (seconds if most is None else min(seconds, most))
    while True:
        left = max(0.0, until - now())
        answer = await door.watch_async(_for(asked, min(left, PIECE_SECONDS)), caller)
        if _is_over(asked, answer) or left <= PIECE_SECONDS or await is_gone():
            return answer
        asked = _after(asked, answer)
        caller = OWNER  # it was let in, and its later pieces are no further calls


def _for(asked: Monitor | Output, seconds: float) -> Monitor | Output:
    return asked.model_copy(update={"timeout" if isinstance(asked, Monitor) else "wait": seconds})


def _is_over(asked: Monitor | Output, answer: dict[str, Any]) -> bool:
    if not answer["ok"]:
        return True
    return not answer["timedOut"] if isinstance(asked, Monitor) else bool(answer["lines"])


def _after(asked: Monitor | Output, answer: dict[str, Any]) -> Monitor | Output:
    place: dict[str, Any] = {"since": answer["next"]}
    if isinstance(asked, Output):
        place["last"] = None
    return asked.model_copy(update=place)
