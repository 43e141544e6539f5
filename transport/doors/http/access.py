"""Who is let in: the checks of Host, Origin and token that every request passes first, whatever its path."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

from starlette.types import Scope

from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.relay.calls import OWNER, Caller
from showcaller.transport.doors.http.callers import Callers
from showcaller.transport.doors.http.peers import Peers
from showcaller.transport.doors.http.server import KNOWN
from showcaller.transport.doors.http.sign_in import SignIns, check_write
from showcaller.transport.doors.http.sign_in_routes import SIGN_IN

Headers = Sequence[tuple[bytes, bytes]]
_BEARER: Final = b"bearer "
NOBODY: Final = Caller("external")
"""Who follows a link to sign in; no other path is for it."""
WAYS_IN: Final = (
    "Give a token: Authorization: Bearer TOKEN. The owner's is in the file 'token' of the data folder; one "
    "for another client is made by: showcaller tokens new. A browser signs in by the link of: showcaller open"
)


class Access:
    """The checks of a door that listens on a port of the loopback address."""

    def __init__(self, port: int, callers: Callers, sign_ins: SignIns, peers: Peers) -> None:
        self._hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}
        self._origins = {b"http://" + host for host in self._hosts}
        self._callers = callers
        self._sign_ins = sign_ins
        self._peers = peers

    async def admit(self, headers: Headers, method: str, path: str) -> Caller:
        """Let a request in by its headers, whose names are in small letters, and give who has sent it.

        Raises ``Refusal``.

        A page that a browser was lured to fails at its own Host (a name that was made to point here) or its
        Origin, before anything is said about the token.
        """
        if [host.lower() for host in _all(headers, b"host")] not in [[host] for host in self._hosts]:
            raise Refusal(Code.FORBIDDEN, "This relay answers only to its own address; the Host is another.")
        origins = _all(headers, b"origin")
        if origins and origins not in [[origin] for origin in self._origins]:
            raise Refusal(Code.FORBIDDEN, "This relay takes no requests from other sites' pages.")
        given = _all(headers, b"authorization")
        if not given:
            return self._signed_in(headers, method, path)
        if len(given) != 1 or given[0][: len(_BEARER)].lower() != _BEARER:
            raise Refusal(Code.UNAUTHENTICATED, WAYS_IN)
        token = given[0][len(_BEARER) :].strip().decode("latin-1")
        return await self._callers.caller_of(token)

    async def check_peer(self, caller: Caller, scope: Scope) -> None:
        """Refuse whoever is no agent over a connection of an agent's process; raises ``Refusal``."""
        await self._peers.check(caller, scope["client"], scope["state"][KNOWN])

    def check_room(self, caller: Caller) -> None:
        """Refuse one request too many that would be under way; raises ``Refusal``."""
        self._callers.open_requests.admit(caller.session)

    def request_of(self, caller: Caller) -> AbstractAsyncContextManager[None]:
        """Hold for the length of a request; raises ``ShutOut`` when the token is revoked meanwhile."""
        return self._callers.open_requests.hold(caller.session)

    def _signed_in(self, headers: Headers, method: str, path: str) -> Caller:
        """Give who comes without a token: a browser that has signed in, or one that is about to."""
        if method == "GET" and path == SIGN_IN:
            return NOBODY
        cookies = _all(headers, b"cookie")
        browser = self._sign_ins.browser_of(cookies[0].decode("latin-1")) if len(cookies) == 1 else None
        if browser is None:
            raise Refusal(Code.UNAUTHENTICATED, WAYS_IN)
        check_write(browser, method, [value.decode("latin-1") for value in _all(headers, b"x-csrf-token")])
        return OWNER


def check_protocol(headers: Headers) -> None:
    """Refuse a request that would go on as a WebSocket; raises ``Refusal``."""
    if any(value.strip().lower() == b"websocket" for value in _all(headers, b"upgrade")):
        raise invalid("This relay speaks no WebSocket. To follow what happens: GET /api/events/stream")


def _all(headers: Headers, name: bytes) -> list[bytes]:
    return [value for key, value in headers if key == name]
