"""The program ``showcaller``: hands the command line what opens a relay."""

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from showcaller._version import VERSION
from showcaller.transport.doors.cli.group import run

if TYPE_CHECKING:
    from showcaller.transport.doors.cli.relay import LocalRelay


def main() -> None:
    """Carry out the command line of this process and end it with the exit code."""
    sys.exit(run(sys.argv[1:], _open_relay, VERSION))


def _open_relay(home: Path, *, read_only: bool) -> "AbstractContextManager[LocalRelay]":
    # Imported when a command needs a relay: help and usage errors must be quick.
    from showcaller.embedding import open_relay

    return open_relay(home, read_only=read_only)
