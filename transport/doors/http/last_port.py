"""The port that a relay listened on last: the next takes it again, for agents go on that know its address."""

from pathlib import Path
from typing import Final

from showcaller.transport.doors.http.whereabouts import write_private
from showcaller.transport.ordinary_files import read_ordinary

FILE: Final = "port"
LIMIT: Final = 16
HIGHEST: Final = 65_535


def last_port(home: Path) -> int:
    """Give the port of the relay before on this data folder; 0 when none is known."""
    try:
        port = int(read_ordinary(home / FILE, LIMIT))
    except (OSError, ValueError):
        return 0
    return port if 0 < port <= HIGHEST else 0


def remember_port(home: Path, port: int) -> None:
    """Keep the port for the next relay; raises OSError."""
    write_private(home / FILE, f"{port}\n")
