"""What processes of functions write past their turns, in the worker's log."""

import asyncio
import logging
from collections import deque
from typing import Final

from showcaller.transport.worker.output import hidden_in

GATHERED: Final = 0.1
LINE_LIMIT: Final = 16 * 1024
TOTAL_LIMIT: Final = 256 * 1024
SECRETS: Final = 256
"""So many calls' tokens, the last ones, are kept out of the log."""

log = logging.getLogger("showcaller.worker")


class FunctionLog:
    """Gathers what one process writes and logs it, up to ``TOTAL_LIMIT`` characters; on the event loop."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._room = TOTAL_LIMIT
        self._text = ""
        self._timer: asyncio.TimerHandle | None = None
        self._secrets: deque[str] = deque(maxlen=SECRETS)

    def hide(self, secret: str) -> None:
        """Keep a secret out of the log from now on, until many others have come."""
        if secret:
            self._secrets.append(secret)

    def add(self, text: str) -> None:
        """Take the next piece."""
        if not text or self._room <= 0:
            return
        self._text += text[: self._room]
        self._room -= len(text)
        if len(self._text) >= LINE_LIMIT or self._room <= 0:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHERED, self.flush)

    def flush(self) -> None:
        """Log what has been gathered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        text, self._text = self._text.strip(), ""
        for secret in self._secrets:
            text = hidden_in(text, secret)
        if text:
            log.info("functions' process %d wrote: %s", self._pid, text)
            if self._room <= 0:
                log.warning("what else functions' process %d writes is left out", self._pid)
