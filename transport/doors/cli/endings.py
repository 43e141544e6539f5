"""What became of each prompt of a conversation: how it ended, why, and how long that took."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from showcaller.transport.doors.cli.exits import checked
from showcaller.transport.doors.cli.relay import LocalRelay
from showcaller.transport.doors.cli.states import end_word
from showcaller.transport.doors.cli.visible import readable
from showcaller.transport.doors.export.form import after

_TOLD: Final = ("status", "stopReason", "errorText", "seconds")
Messages = Sequence[Mapping[str, Any]]


def with_endings(relay: LocalRelay, session: str, messages: Messages) -> list[dict[str, Any]]:
    """Give the messages, and say of each prompt among them what became of it.

    It gets ``status``, ``stopReason``, ``errorText`` and ``seconds``, as far as ``wait`` gives them, and how
    much it has left running in the background.
    Raises ``CommandError`` when the relay refuses.
    """
    return [dict(message) | _ending(relay, session, message) for message in messages]


def _ending(relay: LocalRelay, session: str, message: Mapping[str, Any]) -> dict[str, Any]:
    if message.get("role") != "user":
        return {}
    question = {"action": "wait", "relay": "this", "session": session, "message_id": message["id"]}
    ended = checked(relay.call(question | {"wait_seconds": 0}))
    told = {name: ended[name] for name in _TOLD if ended.get(name)}
    background = ended.get("background")
    return told if background is None else told | {"background": {"running": background["running"]}}


def ending_line(message: Mapping[str, Any]) -> str | None:
    """Give the line that tells a person how a prompt ended; None for what is no prompt with an ending."""
    if "status" not in message:
        return None
    reason = f": {readable(str(message['errorText']))}" if message.get("errorText") else ""
    took = f" ({after(message['seconds'])})" if "seconds" in message else ""
    left = f", {message['background']['running']} in the background" if "background" in message else ""
    return f"→ {'answered' if left else end_word(message)}{took}{left}{reason}"
