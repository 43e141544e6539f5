"""How a command reaches the relay of a data folder: the one that runs, else one in its own process."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from showcaller.transport.doors.http.whereabouts import Whereabouts, running_relay
from showcaller.transport.doors.start_error import FolderInUse

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from showcaller.transport.doors.cli.relay import LocalRelay


@contextmanager
def open_connection(home: Path, *, read_only: bool) -> "Generator[LocalRelay]":
    """Open the relay of a data folder for the length of a ``with``; raises ``RelayStartError``."""
    with ExitStack() as opened:
        yield _enter(opened, home, read_only=read_only)


def _enter(opened: ExitStack, home: Path, *, read_only: bool) -> "LocalRelay":
    running = running_relay(home)
    if running is not None:
        return opened.enter_context(_running(home, running))
    try:
        return opened.enter_context(_embedded(home, read_only=read_only))
    except FolderInUse:
        running = running_relay(home)  # it may have been started just now
        if running is None:
            raise
    return opened.enter_context(_running(home, running))


def _embedded(home: Path, *, read_only: bool) -> "AbstractContextManager[LocalRelay]":
    from showcaller.embedding import open_relay

    return open_relay(home, read_only=read_only)


@contextmanager
def _running(home: Path, running: Whereabouts) -> "Generator[LocalRelay]":
    from showcaller.transport.doors.cli.output import note
    from showcaller.transport.doors.http.channel import Channel
    from showcaller.transport.doors.http.client import HttpRelay

    channel = Channel(home, running, note)
    try:
        yield HttpRelay(channel)
    finally:
        channel.close()
