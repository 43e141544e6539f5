"""Watching a running relay from a command: asked again when it dies, and the next one is there in time."""

from typing import Any

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.transport.doors.http.channel import RECONNECT_SECONDS, Channel, RelayGone
from showcaller.transport.doors.http.returning import Return

_PAUSE = 0.2
"""Seconds until a relay is asked again that is there and did not answer, such as one that is ending."""


def ask_until_answered(
    channel: Channel, method: str, path: str, body: Any = None, *, reconnect: float = RECONNECT_SECONDS
) -> dict[str, Any]:
    """Ask something that only looks, and give the answer, a refusal too.

    While the relay is gone it waits for the next, ``reconnect`` seconds at most; then the answer is the
    refusal ``REMOTE_RELAY_OFFLINE``.
    """
    with Return(channel.home) as returning:
        tries = max(1, round(reconnect / _PAUSE))
        while True:
            try:
                answer = channel.request(method, path, body)
            except RelayGone as gone:
                trouble = gone
            else:
                if answer.get("code") != Code.UNAVAILABLE.value:
                    return answer
                trouble = RelayGone(str(answer.get("error")), ends=True)
            before = channel.running
            if not tries or not channel.await_return(returning, trouble, reconnect):
                return Refusal(Code.OFFLINE, f"{trouble} None was there within {reconnect:g} s.").to_result()
            if channel.running == before:
                tries -= 1
                returning.wait(_PAUSE)
