"""How much memory this process holds."""

import os
import resource
import sys
from pathlib import Path

STATM = Path("/proc/self/statm")


def resident() -> int:
    """Give the bytes in physical memory: now, or the highest so far where the system does not say."""
    if STATM.exists():
        return int(STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
