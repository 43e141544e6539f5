"""The context that a function gets beside its item."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType

from showcaller.transport.worker.text import BothEnds, joined
from showcaller.transport.worker.work import OUTPUT_LIMIT


class Context:
    """How a function in a turn says what it is doing and learns that it should end. Thread-safe.

    ``environment`` holds what a command would find in its environment: whom the prompt is from, and so on.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, write: Callable[[str], None], environment: Mapping[str, str]
    ) -> None:
        self.environment = MappingProxyType(dict(environment))
        self._loop = loop
        self._write = write
        self._lock = threading.Lock()
        self._waiting = BothEnds("".join, OUTPUT_LIMIT // 4, OUTPUT_LIMIT * 3 // 4)
        self._cancelled = False
        self._ended = False

    @property
    def cancelled(self) -> bool:
        """Whether the turn was asked to end; a function that runs for long should look now and then."""
        return self._cancelled

    def progress(self, text: str) -> None:
        """Show a line to whoever watches the session; it is no part of the reply. Ignored after the end."""
        with self._lock:
            first = not self._waiting
            if not self._ended:
                self._waiting.add(text if text.endswith("\n") else text + "\n")
        if first:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody watches any more
                self._loop.call_soon_threadsafe(self._pass_on)

    def cancel(self) -> None:
        """Ask the function to end."""
        self._cancelled = True

    def end(self) -> None:
        """Pass on what waits, and ignore what comes later; on the loop's thread."""
        self._pass_on()
        self._ended = True

    def _pass_on(self) -> None:
        with self._lock:
            text, _ = joined(self._waiting)
            self._waiting.clear()
        if text and not self._ended:
            self._write(text)
