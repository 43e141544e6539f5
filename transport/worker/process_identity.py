"""Which process is meant by an id: ids are given out again, and its start time tells one from the next."""

import os
import signal
from collections.abc import Callable
from typing import NamedTuple

from showcaller.transport.worker.process_table import stat_of


class ProcessIdentity(NamedTuple):
    """A process, by its id and the time of its start in ticks since the machine's start, if that is known."""

    pid: int
    started: int | None


def identify(pid: int) -> ProcessIdentity:
    """Give the identity of a running process."""
    stat = stat_of(pid)
    return ProcessIdentity(pid, None if stat is None else stat.started)


def is_alive(identity: ProcessIdentity) -> bool:
    """Tell whether this very process is there and has not ended.

    Where start times cannot be read, an id that somebody has counts as alive: nothing is run a second time
    because of a guess.
    """
    try:
        os.kill(identity.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    if identity.started is None:
        return True
    stat = stat_of(identity.pid)
    return stat is not None and stat.started == identity.started and not stat.has_ended


def signal_process(identity: ProcessIdentity, number: int) -> bool:
    """Send a signal to this very process; False when it is gone. A stranger with its id gets nothing.

    Where processes have no descriptors, the id could change hands between the look and the signal.
    """
    try:
        return signal_if(identity.pid, number, lambda: is_alive(identity))
    except AttributeError:
        if not is_alive(identity):
            return False
        os.kill(identity.pid, number)
        return True


def signal_if(pid: int, number: int, is_meant: Callable[[], bool]) -> bool:
    """Signal a process if it is the one that is meant when its id can no longer change hands; False if not.

    Raises PermissionError for one that is not ours to signal, AttributeError where processes have no
    descriptors.
    """
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        if not is_meant():
            return False
        signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(descriptor)
    return True
