"""What the figures were measured on."""

import os
import platform
from pathlib import Path

from bench.peer import Peer


def facts(peers: list[Peer]) -> dict[str, str]:
    """Name the machine, the interpreter, how busy it is, and the versions of the peers."""
    return {
        "system": f"{platform.system()} {platform.machine()}, {_processor()}, {os.cpu_count()} cores",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load": f"{os.getloadavg()[0]:.2f} before the first run",
        **{peer.name: peer.version() for peer in peers},
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"
