"""What is due for an item of a fan-out, given what the store knows of it: pure decisions."""

from typing import Any, NamedTuple

from showcaller.actors.contract.fanout import FanoutSpec, ItemStatus
from showcaller.actors.contract.worker import TurnEnded
from showcaller.actors.relay.fanout_items import Attempt


class Start(NamedTuple):
    """Make the item's session with its first prompt."""


class Take(NamedTuple):
    """Its prompt is stored and no worker has had it: wake the session and wait for the end."""

    session: str
    message: str


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


Due = Start | Take | Retry | Record


def on_resume(attempt: Attempt, message: dict[str, Any] | None, spec: FanoutSpec) -> Due:
    """Say what is due for an item without a result, when a fan-out finds it.

    ``message`` is the row of its latest attempt with the reply, None when there was none. An item that
    was cut in the middle starts again, unless the fan-out was told not to.
    """
    if attempt.session is None or message is None:
        return Start()
    if message["status"] in {"queued", "handed"}:
        return Take(attempt.session, message["id"])
    if message["status"] == "cancelled":
        return Retry(attempt.session)
    end = stored_end(message)
    if _was_cut(end) and spec.rerun:
        return Retry(attempt.session)
    return on_end(end, attempt.attempts, spec)


def stored_end(message: dict[str, Any]) -> TurnEnded:
    """Give the end of a turn as its worker told it, from the message's row with its reply."""
    reply = message["reply"] or {"text": "", "truncated": False}
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


def on_end(end: TurnEnded, attempts: int, spec: FanoutSpec) -> Retry | Record:
    """Say what is due when an attempt has ended; a failed one is repeated while retries are left."""
    if end.outcome == "failed" and not _was_cut(end) and attempts <= spec.retries:
        return Retry(end.session)
    status: ItemStatus = "interrupted" if _was_cut(end) else end.outcome
    return Record(status, end.exit_code, end.reply, end.seconds, end.error_text)


def _was_cut(end: TurnEnded) -> bool:
    return end.outcome == "failed" and end.stop_reason == "interrupted"
