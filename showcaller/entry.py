"""The program ``showcaller``: hands the command line what opens a relay."""

import os
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from showcaller._version import VERSION
from showcaller.transport.doors.cli.signals import Endings
from showcaller.transport.doors.stdio.program import bridge_of, run_bridge

if TYPE_CHECKING:
    from showcaller.actors.contract.handshakes import Handshake
    from showcaller.transport.doors.cli.relay import Farewell, LeftWorker, LocalRelay, ServeOptions


def main() -> None:
    """Carry out the command line of this process and end it with the exit code.

    A signal that asks it to end is heard from here on, and so while the modules load.
    """
    with Endings():
        try:
            bridge = bridge_of(sys.argv[1:], os.environ)
            code = _run() if bridge is None else run_bridge(*bridge)
        except KeyboardInterrupt as error:
            code = _say_interrupted(error)
    sys.exit(code)


def _run() -> int:
    from showcaller.transport.doors.cli.group import run

    return run(
        sys.argv[1:], _open_relay, VERSION, _serve, _end_workers, _restore, _check_agent, _left_workers
    )


def _say_interrupted(error: KeyboardInterrupt) -> int:
    from showcaller.transport.doors.cli.failures import interrupted
    from showcaller.transport.doors.cli.group import COMMANDS

    return interrupted(error, sys.argv[1:], COMMANDS)


def _open_relay(home: Path, *, read_only: bool) -> "AbstractContextManager[LocalRelay]":
    # Imported when a command needs a relay: help and usage errors must be quick.
    from showcaller.connection import open_connection

    return open_connection(home, read_only=read_only)


def _serve(home: Path, options: "ServeOptions") -> None:
    from showcaller.daemon import serve

    serve(home, options)


def _end_workers(home: Path) -> "Farewell":
    from showcaller.workers import end_workers

    return end_workers(home)


def _left_workers(home: Path) -> "list[LeftWorker]":
    from showcaller.workers import left_workers

    return left_workers(home)


def _check_agent(home: Path, provider: str) -> "Handshake":
    from showcaller.agent_check import check_agent

    return check_agent(home, provider)


def _restore(home: Path, backup: Path) -> Path | None:
    from showcaller.embedding import Relay

    return Relay.restore(backup, home)
