"""The bridge: each line of standard input goes to the relay, and what comes back to standard output."""

import json
import threading
from collections.abc import Callable
from typing import IO, Any, Final

from showcaller.transport.doors.stdio import retaking
from showcaller.transport.doors.stdio.carrying import Carried, Carrier, TakenBack
from showcaller.transport.doors.stdio.heads import params_of
from showcaller.transport.doors.stdio.output import Output

LINE_BYTES: Final = 1024 * 1024
MOST_AT_ONCE: Final = 256
_STACK: Final = 512 * 1024
_INVALID: Final = -32600
_NO_JSON: Final = -32700
_BUSY: Final = -32000


class Bridge:
    """Takes messages, and has each request carried in a thread of its own."""

    def __init__(self, carrier: Carrier, output: Output, now: Callable[[], float]) -> None:
        """``now`` gives seconds of a steady clock."""
        self._carrier = carrier
        self._output = output
        self._now = now
        self._gate = threading.Lock()
        self._under_way: dict[str | int, Carried] = {}

    def run(self, lines: IO[bytes]) -> None:
        """Take messages until there are no more, and wait for the answers as long as anybody reads them."""
        threading.stack_size(_STACK)
        while line := lines.readline(LINE_BYTES + 1):
            if len(line) > LINE_BYTES:
                while line and not line.endswith(b"\n"):
                    line = lines.readline(LINE_BYTES)
                self._refuse(None, _INVALID, f"A message is longer than {LINE_BYTES} bytes.")
            elif line.strip():
                self._take(line.strip())
        self._output.wait_until_unneeded()

    def _take(self, line: bytes) -> None:
        try:
            message: Any = json.loads(line)
        except (ValueError, RecursionError):
            self._refuse(None, _NO_JSON, "This is no JSON.")
            return
        if not isinstance(message, dict):
            self._refuse(None, _INVALID, "A message of JSON-RPC is an object; a batch is not taken.")
        elif "id" in message and "method" in message:
            self._begin(message, line)
        elif message.get("method") == "notifications/cancelled":
            self._take_back(params_of(message).get("requestId"))

    def _begin(self, message: dict[str, Any], line: bytes) -> None:
        request = message["id"]
        if not isinstance(request, str | int) or isinstance(request, bool):
            self._refuse(None, _INVALID, "id must be text or a whole number.")
            return
        carried = Carried(message, line, self._now())
        with self._gate:
            is_twice, are_many = request in self._under_way, len(self._under_way) >= MOST_AT_ONCE
            if not is_twice and not are_many:
                self._under_way[request] = carried
        if is_twice:
            self._refuse(request, _INVALID, "A request of this id is under way.")
        elif are_many:
            self._refuse(request, _BUSY, f"{MOST_AT_ONCE} requests are under way: wait for an answer.")
        else:
            self._output.expect()
            threading.Thread(target=self._serve, args=(request, carried), daemon=True).start()

    def _take_back(self, request: Any) -> None:
        with self._gate:
            carried = self._under_way.get(request) if isinstance(request, str | int) else None
        if carried is not None:
            carried.take_back()

    def _serve(self, request: str | int, carried: Carried) -> None:
        try:
            answer = self._carrier.carry(carried)
        except TakenBack:
            answer = None
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets an answer
            why = f"The bridge made a mistake ({type(error).__name__}: {error})."
            answer = retaking.failure(carried.message, why, "", tried=True)
        with self._gate:
            del self._under_way[request]
        if answer is not None and not carried.is_taken_back:
            self._output.write({**answer, "id": request})
        self._output.done()

    def _refuse(self, request: str | int | None, code: int, error: str) -> None:
        self._output.write({"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": error}})
