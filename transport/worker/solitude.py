"""How long a worker goes on without its relay."""

import asyncio
from collections.abc import Callable
from typing import Final

from showcaller.transport.links.conversation import News

FIRST_MEETING: Final = 60.0
"""Seconds after which a worker ends that its relay, which has died at once, has never met."""


class Solitude:
    """Calls ``end`` once the relay has been away for ``longest`` seconds, or was never met. Not thread-safe.

    Begins alone. A relay that refuses the worker is as good as none.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, longest: float, end: Callable[[], None]) -> None:
        self._loop = loop
        self._longest = longest
        self._end = end
        self._timer: asyncio.TimerHandle | None = None
        self._begin(min(longest, FIRST_MEETING))

    @property
    def is_alone(self) -> bool:
        """Whether no relay is there."""
        return self._timer is not None

    def heard(self, news: News) -> None:
        """The link has news of the relay."""
        if news in {"away", "refused"}:
            self._begin(self._longest)
        elif self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _begin(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(seconds, self._end)
