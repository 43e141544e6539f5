"""Which run of the machine this is, from its start to its end or its loss of power."""

from functools import cache
from pathlib import Path
from typing import Final

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


@cache
def machine_run() -> str | None:
    """Give the name of this run, which no other has, or None (Linux: boot_id of random(4)). Thread-safe."""
    try:
        return _BOOT.read_text(encoding="ascii").strip() or None
    except OSError:
        return None
