"""As whom the bridge calls, and where the relay is that it calls."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Final, NamedTuple

from showcaller.actors.contract.token_names import check_token_name
from showcaller.transport.doors.client_token import (
    TokenRefused,
    external_token,
    relay_port,
    renew_external_token,
    told_token,
)
from showcaller.transport.doors.start_error import RelayStartError

DEFAULT_NAME: Final = "mcp"
PAUSE_SECONDS: Final = 0.5
"""Seconds between two looks for a relay whose start is not heard of, and whether it is waited for."""


class NoRelay(Exception):
    """No relay can be called now: why, and the way out."""

    def __init__(self, why: str, way_out: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.way_out = way_out


class ShutOut(Exception):
    """The relay that runs lets this client in no more, whose owner may let it in again: why, and how."""


class Access(NamedTuple):
    """Where a relay listens, and the token that it takes."""

    port: int
    token: str


class BridgeCaller:
    """An agent with the token of its environment, or a client with a conversation of its own. Thread-safe."""

    def __init__(self, home: Path, name: str | None, token: str | None) -> None:
        """``name`` is the client's, None for how it calls itself; with ``token`` it is not needed."""
        self._home = home
        self._name = name
        self._token = token

    def meet(self, client: str | None) -> None:
        """Take the client's own name for its conversation, if no other was given and it can be one."""
        if self._name is None and client is not None:
            try:
                self._name = check_token_name(client.strip())
            except ValueError:
                self._name = DEFAULT_NAME

    def access(self) -> Access:
        """Give how to call the relay that runs now; raises ``NoRelay`` and ``ShutOut``."""
        port = relay_port(self._home)
        if port is None:
            raise NoRelay(f"No relay runs on {self._home}.", "Start one with: showcaller serve")
        try:
            if self._token is not None:
                return Access(port, told_token(self._token))
            return Access(port, external_token(self._home, self._name or DEFAULT_NAME))
        except TokenRefused as refused:
            raise ShutOut(str(refused)) from refused
        except RelayStartError as error:
            raise NoRelay(error.message, error.way_out) from error

    def renewed(self, refused: str) -> bool:
        """Have another token made in the place of one that the relay refused; False when there is no other.

        An agent has the one token that it was given. Raises ``NoRelay`` and ``ShutOut``.
        """
        if self._token is not None:
            return False
        try:
            return renew_external_token(self._home, self._name or DEFAULT_NAME, refused) != refused
        except TokenRefused as error:
            raise ShutOut(str(error)) from error
        except RelayStartError as error:
            raise NoRelay(error.message, error.way_out) from error

    def await_return(self, seconds: float, is_over: Callable[[], bool]) -> bool:
        """Wait until a relay runs that may be called again; False when none came in time, or it is over."""
        from showcaller.transport.doors.http.returning import Return  # loaded only when a relay has gone

        until = monotonic() + seconds
        with Return(self._home) as returning:
            while not is_over() and (left := until - monotonic()) > 0:
                returning.wait(min(PAUSE_SECONDS, left))
                if relay_port(self._home) is not None:
                    return True
        return False
