"""What became of each prompt of a conversation: how it ended, why, and how long that took."""

from collections.abc import Mapping, Sequence
from typing import Any

from showcaller.transport.doors.cli.exits import checked
from showcaller.transport.doors.cli.relay import LocalRelay
from showcaller.transport.doors.cli.states import end_word
from showcaller.transport.doors.cli.times import seconds_between
from showcaller.transport.doors.cli.visible import readable

Messages = Sequence[Mapping[str, Any]]


def with_endings(relay: LocalRelay, session: str, messages: Messages) -> list[dict[str, Any]]:
    """Give the messages, and say of each prompt among them what became of it.

    It gets ``status``, ``stopReason`` and ``errorText`` as ``wait`` gives them, as far as it does, and
    ``seconds`` from the prompt to its reply.
    Raises ``CommandError`` when the relay refuses.
    """
    times = {message["id"]: str(message.get("at")) for message in messages}
    return [dict(message) | _ending(relay, session, message, times) for message in messages]


def _ending(
    relay: LocalRelay, session: str, message: Mapping[str, Any], times: Mapping[str, str]
) -> dict[str, Any]:
    if message.get("role") != "user":
        return {}
    question = {"action": "wait", "relay": "this", "session": session, "message_id": message["id"]}
    ended = checked(relay.call(question | {"wait_seconds": 0}))
    told = {name: ended[name] for name in ("status", "stopReason", "errorText") if ended.get(name)}
    reply = ended.get("reply") or {}
    seconds = seconds_between(times[message["id"]], times.get(str(reply.get("messageId")), ""))
    return told if seconds is None else told | {"seconds": seconds}


def ending_line(message: Mapping[str, Any]) -> str | None:
    """Give the line that tells a person how a prompt ended; None for what is no prompt with an ending."""
    if "status" not in message:
        return None
    reason = f": {readable(str(message['errorText']))}" if message.get("errorText") else ""
    took = f" (after {message['seconds']:,.2f} s)" if "seconds" in message else ""
    return f"→ {end_word(message)}{took}{reason}"
