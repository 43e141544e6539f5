"""Asking the relay that runs on a data folder, and finding it again when it was started anew."""

import json
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from showcaller.actors.contract.errors import refusal_in
from showcaller.transport.doors.http.returning import Return
from showcaller.transport.doors.http.token import read_token
from showcaller.transport.doors.http.whereabouts import Whereabouts, running_relay
from showcaller.transport.doors.start_error import RelayStartError

CONNECT_SECONDS: Final = 5.0
RECONNECT_SECONDS: Final = 60.0
ANSWER_SECONDS: Final = 30.0
"""Seconds that a relay has for an answer that waits for nothing, until it counts as one that hangs."""

Tell = Callable[[str], None]


class RelayGone(Exception):
    """The relay has ended, or does not answer, so that nothing more came over the connection.

    ``ends``: it said itself that it ends.
    """

    def __init__(self, message: str, *, ends: bool = False) -> None:
        super().__init__(message)
        self.ends = ends


class Channel:
    """Requests to the relay on a data folder, as its owner. Thread-safe."""

    def __init__(self, home: Path, running: Whereabouts, tell: Tell) -> None:
        """``tell`` gets what a person should hear; raises ``RelayStartError`` for a token of no use."""
        self._home = home
        self._tell = tell
        self._gate = threading.Lock()
        self._running = running
        self._client = _client(home, running)

    def close(self) -> None:
        """Let go of the connections."""
        with self._gate:
            self._client.close()

    def asked(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """Ask something, as ``request`` does, and give the answer; raises ``Refusal`` and ``RelayGone``."""
        answer = self.request(method, path, body, key=key, seconds=seconds)
        if answer.get("ok"):
            return answer
        raise refusal_in(answer)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """Ask something and give what comes back; raises ``RelayGone``, also when it takes more ``seconds``.

        With a ``key``, which a text of ASCII is, a repeat of a write has no second effect.
        """
        content = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        headers = None if key is None else {"idempotency-key": key}
        with self._gate:
            client = self._client
        try:
            answer: dict[str, Any] = client.request(
                method, path, content=content, headers=headers, timeout=_patience(seconds)
            ).json()
        except httpx.TransportError as error:
            raise self._gone() from error
        return answer

    def texts(self, path: str) -> Iterator[str]:
        """Ask for a long text and give its pieces as they come; raises ``Refusal`` and ``RelayGone``."""
        with self._gate:
            client = self._client
        try:
            with client.stream("GET", path) as answer:
                if not answer.is_success:
                    answer.read()
                    raise refusal_in(answer.json())
                yield from answer.iter_text()
        except httpx.TransportError as error:
            raise self._gone() from error

    @contextmanager
    def lines(self, path: str) -> Generator[Iterator[dict[str, Any]]]:
        """Ask for lines of JSON and give them as they come; raises ``Refusal`` and ``RelayGone``."""
        with self._gate:
            client = self._client
        try:
            with client.stream("GET", path) as answer:
                if not answer.is_success:
                    answer.read()
                    raise refusal_in(answer.json())
                yield (json.loads(line) for line in answer.iter_lines())
        except httpx.TransportError as error:
            raise self._gone() from error

    def await_return(self, returning: Return, gone: RelayGone, seconds: float = RECONNECT_SECONDS) -> bool:
        """Use the relay that runs here now, or wait for one; False when none came in time.

        One that said that it ends is not used again. ``returning`` was made before ``gone`` came of the
        last request, so no start is missed.
        """
        found = running_relay(self._home)
        if found is None or (gone.ends and found == self._running):
            self._tell(f"{gone} Waiting until it is back, {seconds:g} s at most.")
            found = running_relay(self._home) if returning.wait(seconds) else None
        if found is None:
            return False
        with self._gate:
            before, self._client = self._client, _client(self._home, found)
            self._running = found
        before.close()
        return True

    @property
    def running(self) -> Whereabouts:
        """The relay that is asked."""
        with self._gate:
            return self._running

    @property
    def home(self) -> Path:
        """The data folder."""
        return self._home

    def _gone(self) -> RelayGone:
        pid = self._running.pid
        return RelayGone(f"The relay on {self._home} (process {pid}) does not answer any more.")


def _client(home: Path, running: Whereabouts) -> httpx.Client:
    try:
        token = read_token(home)
    except FileNotFoundError as error:
        raise RelayStartError(
            f"The owner's token is missing in {home}, so its relay (process {running.pid}) cannot be used.",
            f"End it with: kill {running.pid}, and start it again, which makes another.",
        ) from error
    return httpx.Client(
        base_url=running.address,
        headers={"authorization": f"Bearer {token}"},
        timeout=_patience(None),
        limits=httpx.Limits(max_keepalive_connections=0),
        trust_env=False,  # no proxy may stand between us and this very machine
    )


def _patience(seconds: float | None) -> httpx.Timeout:
    return httpx.Timeout(seconds, connect=CONNECT_SECONDS)
