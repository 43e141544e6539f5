"""A close that lets the other end read the answer first, though it still sends."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

LINGER_SECONDS: Final = 2.0


class LingeringTransport:
    """A connection's transport whose ``close`` waits, as RFC 9112, section 9.6, wants, for who still sends.

    Were a socket closed while more comes in, the system would reset the connection, and the other end lose
    the answer that it has not read yet. So after the answer nothing more is written, what comes is thrown
    away, and the end is the other one's, or after two seconds ours. Everything else is the transport's.
    """

    def __init__(self, transport: asyncio.Transport, still_sends: Callable[[], bool]) -> None:
        self._transport = transport
        self._still_sends = still_sends
        self._end: asyncio.TimerHandle | None = None

    @property
    def is_lingering(self) -> bool:
        """True when all has been said, and what comes is of no interest."""
        return self._end is not None

    def is_closing(self) -> bool:
        """True from ``close`` on."""
        return self.is_lingering or self._transport.is_closing()

    def close(self) -> None:
        """Write what is written, and close as soon as nobody sends."""
        if self.is_closing():
            return
        if not self._still_sends():
            self._transport.close()
            return
        self._end = asyncio.get_running_loop().call_later(LINGER_SECONDS, self._transport.abort)
        self._transport.write_eof()
        self._transport.resume_reading()

    def lost(self) -> None:
        """Linger no more: the connection is gone."""
        if self._end is not None:
            self._end.cancel()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
