"""What a process sets for itself that is a relay or a worker and nothing else, never somebody's program."""

import gc
import sys
from typing import Final

SWITCH_INTERVAL: Final = 0.0001
"""Seconds after which a thread that computes lets another have its turn."""
FIRST_THRESHOLD: Final = 50_000


def tune() -> None:
    """Trade a little throughput for quick turns, and spare the collector what is there to stay."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.collect()
    gc.freeze()
    gc.set_threshold(FIRST_THRESHOLD, *gc.get_threshold()[1:])
