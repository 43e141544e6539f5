"""One message posted to the relay on this machine, and the messages that come back, as they come."""

import json
import socket
from collections.abc import Iterator, Mapping
from typing import IO, Any, Final

HOST: Final = "127.0.0.1"
CONNECT_SECONDS: Final = 5.0
_HEAD: Final = 64 * 1024


class RelayLost(Exception):
    """The relay does not answer, or has ended before its answer did."""


class Post:
    """One request over a connection of its own. ``close`` may be called from any thread, and ends it."""

    def __init__(
        self,
        port: int,
        body: bytes,
        headers: Mapping[str, str],
        *,
        path: str = "/mcp",
        seconds: float | None = None,
    ) -> None:
        """Send it; raises ``RelayLost``. ``seconds``: how long each piece of the answer is waited for."""
        try:
            self._socket = socket.create_connection((HOST, port), CONNECT_SECONDS)
        except OSError as error:
            raise RelayLost("it takes no connection") from error
        self._socket.settimeout(seconds)
        self._file: IO[bytes] = self._socket.makefile("rb")
        named = {"host": f"{HOST}:{port}", "content-length": str(len(body)), "connection": "close", **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        try:
            self._socket.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body)
        except OSError as error:
            self.close()
            raise RelayLost("it takes no request") from error

    def close(self) -> None:
        """End it: whoever waits for the answer gets none."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:  # it has ended already
            pass
        finally:
            self._socket.close()

    def messages(self) -> Iterator[dict[str, Any]]:
        """Give what comes back: messages of JSON-RPC, or the refusal of a relay; raises ``RelayLost``."""
        try:
            kind = self._head()
            pieces = self._chunks() if kind.get("transfer-encoding") == "chunked" else self._rest(kind)
            if kind.get("content-type", "").startswith("text/event-stream"):
                yield from (_object(data) for data in _events(pieces))
            else:
                body = b"".join(pieces)
                if body:
                    yield _object(body)
        except (OSError, ValueError) as error:
            raise RelayLost("it has ended") from error
        finally:
            self._file.close()

    def _head(self) -> dict[str, str]:
        lines: list[bytes] = []
        while (line := self._file.readline(_HEAD)) not in {b"\r\n", b"\n"}:
            if not line or len(lines) > 100:
                raise ValueError("no whole head of an answer")
            lines.append(line)
        fields = (line.decode("latin-1").partition(":") for line in lines[1:])
        return {name.strip().lower(): value.strip() for name, _, value in fields}

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self._file.readline(_HEAD).partition(b";")[0], 16):
            yield self._exactly(size)
            self._file.readline(_HEAD)

    def _rest(self, kind: Mapping[str, str]) -> Iterator[bytes]:
        yield self._exactly(int(kind.get("content-length", "0")))

    def _exactly(self, size: int) -> bytes:
        content = self._file.read(size)
        if len(content) < size:
            raise ValueError("the answer was cut")
        return content


def _events(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Give the data of each event in a stream."""
    left = b""
    data: list[bytes] = []
    for piece in pieces:
        *lines, left = (left + piece).split(b"\n")
        for line in (line.rstrip(b"\r") for line in lines):
            if line.startswith(b"data:"):
                data.append(line[len(b"data:") :].strip())
            elif not line and data:
                yield b"\n".join(data)
                data = []


def _object(text: bytes) -> dict[str, Any]:
    value: Any = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("no message of JSON-RPC")  # noqa: TRY004 - whatever it is, it is no answer
    return value
