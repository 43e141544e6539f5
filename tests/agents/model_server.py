"""A small model server on loopback that says what a test has written down, in the dialects of the agents."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.agents.model_anthropic import Anthropic
from tests.agents.model_chat import Chat
from tests.agents.model_dialects import Dialect, Stream, pieces
from tests.agents.model_responses import Responses
from tests.agents.model_script import Answer, Asked, CallTool, Cut, Fail, Hold, Say, Script

DIALECTS: tuple[Dialect, ...] = (Anthropic(), Chat(), Responses())
MODEL = "fake-model"
HELD = 120.0  # seconds after which a held answer ends by itself


class ModelServer:
    """Listens on a port of loopback that is free; used as a ``with`` block. Thread-safe."""

    def __init__(self, script: Script | None = None) -> None:
        self.script = script or Script()
        self.asked: list[Asked] = []
        self.unknown: list[str] = []
        self._changed = threading.Condition()
        self._held: list[Hold] = []
        model = self

        class Handler(_Handler):
            server_of_model = model

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, name="fake model", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for hold in self._held:
            hold.gate.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def about(self, word: str) -> list[Asked]:
        """Give the requests whose prompt holds the word, those for titles too."""
        with self._changed:
            return [asked for asked in self.asked if word in asked.prompt]

    def wait_for(self, found: Callable[[Asked], bool], within: float = 60.0) -> Asked:
        """Wait until a request of this kind has come, inside a limit, and give it."""
        with self._changed:
            assert self._changed.wait_for(lambda: any(map(found, self.asked)), within), (
                f"no such request within {within:g} s; there were {[one.prompt[:60] for one in self.asked]}"
            )
            return next(filter(found, self.asked))

    def take(self, asked: Asked) -> tuple[Asked, int]:
        """Note a request, with the prompt that it is about; gives its number."""
        placed = self.script.placed(asked)
        with self._changed:
            self.asked.append(placed)
            self._changed.notify_all()
            return placed, len(self.asked)

    def hold(self, hold: Hold) -> None:
        """Wait until a held answer is let go, or the server ends."""
        self._held.append(hold)
        hold.gate.wait(HELD)


class _Handler(BaseHTTPRequestHandler):
    server_of_model: ModelServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: agents ask for much that is not there."""

    def do_HEAD(self) -> None:
        self._json(200, {})

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/v1/models":
            self._json(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        else:
            self._nothing(path)

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        dialect = next((one for one in DIALECTS if one.path == path), None)
        if dialect is None:
            self._nothing(path)
            return
        asked, number = self.server_of_model.take(dialect.asked(body))
        answer = self.server_of_model.script.answer(asked)
        try:
            self._answer(dialect, asked, number, answer)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # whoever asked has gone, as the cancelled do

    def _answer(self, dialect: Dialect, asked: Asked, number: int, answer: Answer) -> None:
        if isinstance(answer, Fail):
            headers = {} if answer.retry else {"x-should-retry": "false"}
            self._json(answer.status, dialect.error(answer.status, answer.text), headers)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        stream = dialect.stream(asked, number)
        self._write(stream.begin())
        for part in self._parts(stream, asked, answer):
            self._write(part)
        if isinstance(answer, Cut):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _parts(self, stream: Stream, asked: Asked, answer: Answer) -> Iterator[bytes]:
        match answer:
            case Say(text, stop, count):
                for piece in pieces(text, count):
                    yield from stream.text(piece)
                yield from stream.end(stop)
            case CallTool(_, arguments):
                tool = answer.found(asked.tools)
                assert tool is not None
                yield from stream.call(tool, arguments)
                yield from stream.end("tool")
            case Cut(text):
                yield from stream.text(text)
            case Hold(text, rest):
                yield from stream.text(text)
                self.server_of_model.hold(answer)
                yield from stream.text(rest)
                yield from stream.end("end")
            case Fail():
                raise AssertionError("a refusal has no stream")

    def _write(self, part: bytes) -> None:
        self.wfile.write(part)
        self.wfile.flush()

    def _nothing(self, path: str) -> None:
        self.server_of_model.unknown.append(f"{self.command} {path}")
        self._json(404, {"error": {"type": "not_found_error", "message": f"There is nothing at {path}."}})

    def _json(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        written = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(written)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(written)
