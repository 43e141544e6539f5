"""Watching a stage from outside."""

from typing import Any

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.outside import REQUESTS, read_request
from showcaller.actors.relay.calls import OWNER, Caller, WatchRequest
from showcaller.actors.runtime import Future
from tests.actors.relay.stage import Stage


def begin(stage: Stage, name: str, by: Caller = OWNER, **arguments: Any) -> "Future[Any]":
    """Ask for something by its name, and give the future of its answer."""
    return stage.door._request(WatchRequest(read_request(REQUESTS[name], arguments), by))


def ask(stage: Stage, name: str, by: Caller = OWNER, **arguments: Any) -> dict[str, Any]:
    """Ask for something and give its answer; time stands still, so nothing that waits for it ends."""
    try:
        answer = begin(stage, name, by, **arguments)
    except Refusal as refusal:
        return refusal.to_result()
    stage.settle()
    assert answer.done, f"{name} still waits"
    found: dict[str, Any] = answer.get()
    return found


def monitor(stage: Stage, **arguments: Any) -> "Future[Any]":
    """Begin to monitor."""
    begun = begin(stage, "session_monitor", **arguments)
    stage.settle()
    return begun


def kinds(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """The events that fired, with their sessions."""
    return [(event["event"], event["session"]) for event in answer["fired"]]
