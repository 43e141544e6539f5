"""The one place of the runtime that reads the time."""

import time
from typing import Protocol


class Clock(Protocol):
    """What the runtime asks for the time. Thread-safe."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        raise NotImplementedError

    def wall(self) -> int:
        """Milliseconds since the Unix epoch, as the host believes it to be; may jump."""
        raise NotImplementedError


class SystemClock:
    """The host's clock."""

    __slots__ = ()

    monotonic = staticmethod(time.monotonic)  # as it is: read once per slice

    def wall(self) -> int:
        """Milliseconds since the Unix epoch."""
        return time.time_ns() // 1_000_000


SYSTEM_CLOCK = SystemClock()

# Seconds for which this thread had the processor: how much something costs, however busy the machine is.
processor_time = time.thread_time
