"""One request carried to the relay and its answer back, though relays may come and go meanwhile."""

import json
import os
import threading
from collections.abc import Callable
from typing import Any, Final

from showcaller.transport.doors.stdio import retaking
from showcaller.transport.doors.stdio.caller import BridgeCaller, NoRelay, ShutOut
from showcaller.transport.doors.stdio.heads import agreed_version, client_name, head_of
from showcaller.transport.doors.stdio.posting import Post, RelayLost

Json = dict[str, Any]
Tell = Callable[[Json], None]

_UNAUTHENTICATED: Final = "REMOTE_RELAY_UNAUTHENTICATED"


class TakenBack(Exception):
    """The client waits for its request no longer."""


class Carried:
    """A request of the client's, until it has its answer. Thread-safe."""

    def __init__(self, message: Json, line: bytes, began: float) -> None:
        """``line`` is the message as it came, ``began`` when."""
        self.message = message
        self.line = line
        self.began = began
        self.told = 0.0
        self._gate = threading.Lock()
        self._post: Post | None = None
        self._taken_back = False

    def take_back(self) -> None:
        """End the waiting: the relay sees its client go, and takes nothing back of what it did."""
        with self._gate:
            self._taken_back = True
            if self._post is not None:
                self._post.close()

    @property
    def is_taken_back(self) -> bool:
        """Whether nobody waits for the answer any more."""
        return self._taken_back

    def over(self, post: Post) -> None:
        """Note over which connection it is waited for; raises ``TakenBack``."""
        with self._gate:
            self._post = post
            if self._taken_back:
                post.close()
                raise TakenBack


class Carrier:
    """Carries requests; each call of ``carry`` is in a thread of its own."""

    def __init__(self, caller: BridgeCaller, tell: Tell, now: Callable[[], float]) -> None:
        """``tell`` gets what comes before an answer; ``now`` gives seconds of a steady clock."""
        self._caller = caller
        self._tell = tell
        self._now = now
        self._connection = os.urandom(16).hex()  # secrets would load much more
        self._version: str | None = None
        self._has_called = False

    def carry(self, carried: Carried) -> Json:
        """Give the answer; raises ``TakenBack``."""
        self._caller.meet(client_name(carried.message))
        reply = self._until_answered(carried, carried.message)
        if carried.message.get("method") == "initialize":
            self._version = agreed_version(reply)
        return reply

    def _until_answered(self, carried: Carried, message: Json) -> Json:
        """Give the answer of whichever relay gives one; of a relay that has gone its return is waited for."""
        is_repeat, until = False, None
        while True:
            try:
                reply = self._posted(carried, message)
            except ShutOut as out:
                return retaking.refused(carried.message, _refusal(str(out)))
            except NoRelay as none:
                lost = none
            except RelayLost as gone:
                lost = NoRelay(f"The relay does not answer any more: {gone}.")
                self._has_called = True
            else:
                waits = retaking.to_wait_for(carried.message, reply, self._own_id(), self._passed(carried))
                if not is_repeat:
                    return reply
                if waits is None:
                    return retaking.with_way_on(carried.message, reply)
                return retaking.joined(carried.message, reply, self._until_answered(carried, waits))
            passed = self._passed(carried)
            if until is None:
                until = passed + retaking.seconds_to_return(carried.message, passed)
            may_return = self._has_called and passed < until
            if not may_return or not self._caller.await_return(until - passed, lambda: carried.is_taken_back):
                return self._given_up(carried, lost)
            is_repeat = True
            message = retaking.again(message, carried.message, self._passed(carried))

    def _given_up(self, carried: Carried, lost: NoRelay) -> Json:
        if carried.is_taken_back:
            raise TakenBack
        way_out = lost.way_out or "If it does not come back, start one with: showcaller serve"
        return retaking.failure(carried.message, lost.why, way_out, tried=self._has_called)

    def _posted(self, carried: Carried, message: Json) -> Json:
        """Post a message and give its answer.

        Raises ``NoRelay``, ``ShutOut``, ``RelayLost`` and ``TakenBack``.
        """
        access = self._caller.access()
        reply = self._answer(carried, message, access.port, access.token)
        if reply.get("code") == _UNAUTHENTICATED and self._caller.renewed(access.token):
            access = self._caller.access()
            reply = self._answer(carried, message, access.port, access.token)
        self._has_called = True
        result = retaking.result_of(reply) or reply
        if result.get("code") == retaking.UNAVAILABLE:
            raise NoRelay(str(result.get("error")))
        return reply if "jsonrpc" in reply else retaking.refused(carried.message, reply)

    def _answer(self, carried: Carried, message: Json, port: int, token: str) -> Json:
        body = carried.line if message is carried.message else _line(message)
        post = Post(port, body, head_of(message, token, self._connection, self._version))
        try:
            carried.over(post)
            for reply in post.messages():
                if "id" in reply or "jsonrpc" not in reply:
                    return reply
                self._told(carried, reply)
        except RelayLost as lost:
            if carried.is_taken_back:
                raise TakenBack from lost
            raise
        finally:
            post.close()
        raise RelayLost("it has ended")

    def _told(self, carried: Carried, message: Json) -> None:
        """Pass on what comes before the answer; progress only grows, though another relay counts anew."""
        params = message.get("params")
        if isinstance(params, dict) and isinstance(params.get("progress"), int | float):
            carried.told = max(carried.told + 1, float(int(self._passed(carried))))
            message = {**message, "params": {**params, "progress": carried.told}}
        if not carried.is_taken_back:
            self._tell(message)

    def _passed(self, carried: Carried) -> float:
        return self._now() - carried.began

    def _own_id(self) -> str:
        return f"showcaller-{os.urandom(6).hex()}"


def _refusal(why: str) -> Json:
    return {"ok": False, "code": _UNAUTHENTICATED, "error": why}


def _line(message: Json) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()
