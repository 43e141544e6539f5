"""Opening a command's relay, with a start-up error told as what, which file, and the way out."""

import resource
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from showcaller.transport.doors.cli.exits import CommandError
from showcaller.transport.doors.cli.faults import check_descriptors
from showcaller.transport.doors.cli.relay import Door, LocalRelay
from showcaller.transport.doors.start_error import RelayStartError


@contextmanager
def opened(door: Door, *, read_only: bool) -> Generator[LocalRelay]:
    """Open the relay of the data folder for the length of a ``with``.

    Raises ``CommandError`` when it cannot be opened.
    """
    check_descriptors(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    with ExitStack() as stack:
        try:
            relay = stack.enter_context(door.open_relay(door.home, read_only=read_only))
        except RelayStartError as error:
            raise CommandError(error.message, error.way_out) from error
        yield relay
