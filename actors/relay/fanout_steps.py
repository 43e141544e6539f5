"""What is due for an item of a fan-out, given what the store knows of it: pure decisions."""

from typing import Any, NamedTuple

from showcaller.actors.contract.fanout import FanoutSpec, ItemStatus
from showcaller.actors.contract.worker import TurnEnded
from showcaller.actors.relay.fanout_items import Attempt

LOSSES = 5  # times that a session may fail over one attempt, or know nothing of it, before it is left alone
LOST = "its session failed again and again; the relay's log says why"


class Start(NamedTuple):
    """Make the item's session with its first prompt."""


class Take(NamedTuple):
    """Its prompt is stored and has no end yet: let the session go on with it, and wait for the end.

    ``handed``: a worker may have had it; else it only waits.
    """

    session: str
    message: str
    handed: bool = False


class Retry(NamedTuple):
    """Prompt the item's session once more."""

    session: str


class Record(NamedTuple):
    """Record this as the item's one result."""

    status: ItemStatus
    exit_code: int | None
    reply: str
    seconds: float
    error: str | None


class Leave(NamedTuple):
    """Report it as it stands and record nothing, so that a later run takes it up where it is."""

    status: ItemStatus
    exit_code: int | None = None
    reply: str = ""
    seconds: float = 0.0
    error: str | None = None


Due = Start | Take | Retry | Record | Leave


def on_resume(
    attempt: Attempt, message: dict[str, Any] | None, spec: FanoutSpec, *, first_look: bool = True
) -> Due:
    """Say what is due for an item without a result, when a fan-out finds it.

    ``message`` is the row of its latest attempt with the reply, None when there was none. An item that
    was cut in the middle starts again, unless the fan-out was told not to, or it was cut in this very run
    (``first_look`` is false).
    """
    if attempt.session is None or message is None:
        return Start()
    if message["status"] in {"queued", "handed"}:
        return Take(attempt.session, message["id"], handed=message["status"] == "handed")
    if message["status"] == "cancelled":
        return Retry(attempt.session)
    end = stored_end(message)
    if _was_cut(end) and spec.rerun and first_look:
        return Retry(attempt.session)
    return on_end(end, attempt.attempts, spec)


def stored_end(message: dict[str, Any]) -> TurnEnded:
    """Give the end of a turn as its worker told it, from the message's row with its reply."""
    reply: dict[str, Any] = message["reply"] or {"text": "", "truncated": False}
    return TurnEnded(
        session=message["session"],
        turn=message["id"],
        outcome=message["status"],
        stop_reason=message["stop_reason"] or "end",
        reply=reply["text"],
        truncated=reply["truncated"],
        error_text=message["error_text"],
        error_class=message["error_class"],
        exit_code=message["exit_code"],
        seconds=message["seconds"] or 0.0,
    )


def on_end(end: TurnEnded, attempts: int, spec: FanoutSpec) -> Retry | Record | Leave:
    """Say what is due when an attempt has ended.

    A failed one is repeated while retries are left. One that was cut in the middle is not repeated by
    itself: a later run decides about it, if the fan-out wants that.
    """
    if _was_cut(end):
        if spec.rerun:
            return Leave("interrupted", end.exit_code, end.reply, end.seconds, end.error_text)
        return Record("interrupted", end.exit_code, end.reply, end.seconds, end.error_text)
    if end.outcome == "failed" and attempts <= spec.retries:
        return Retry(end.session)
    return Record(end.outcome, end.exit_code, end.reply, end.seconds, end.error_text)


def when_stopping(due: Due, attempt: Attempt, end: TurnEnded | None = None) -> Record | Leave:
    """Say what a fan-out that starts nothing more makes of what would be due: it records what has ended."""
    match due:
        case Record(status="interrupted"):
            return Leave("interrupted", due.exit_code, due.reply, due.seconds, due.error)
        case Record() | Leave():
            return due
        case Retry() if end is not None:
            return Leave("failed", end.exit_code, end.reply, end.seconds, end.error_text)
        case Take(handed=False):
            return left_waiting(attempt)
        case Start():
            return Leave("skipped")
        case _:
            return Leave("interrupted")


def when_lost_again(attempt: Attempt) -> Leave | None:
    """Give up on an attempt whose session has lost it as often as that; None to look once more."""
    if attempt.losses <= LOSSES:
        return None
    return Leave("interrupted", error=LOST)


def left_waiting(attempt: Attempt) -> Leave:
    """Report an attempt that no worker has had."""
    return Leave("skipped" if attempt.attempts <= 1 else "interrupted")


def _was_cut(end: TurnEnded) -> bool:
    return end.outcome == "failed" and end.stop_reason == "interrupted"
