"""Which process is meant by an id: ids are given out again, and its start time tells one from the next."""

import os
import signal
from pathlib import Path
from typing import NamedTuple


class ProcessIdentity(NamedTuple):
    """A process, by its id and the time of its start in ticks since the machine's start, if that is known."""

    pid: int
    started: int | None


def identify(pid: int) -> ProcessIdentity:
    """Give the identity of a running process."""
    return ProcessIdentity(pid, _started(pid))


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
    started, state = _started(identity.pid), _state(identity.pid)
    return started is not None and started == identity.started and state not in {"Z", "X"}


def signal_process(identity: ProcessIdentity, number: int) -> bool:
    """Send a signal to this very process; False when it is gone. A stranger with its id gets nothing.

    Where processes have no descriptors, the id could change hands between the look and the signal.
    """
    try:
        descriptor = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return False
    except AttributeError:
        if not is_alive(identity):
            return False
        os.kill(identity.pid, number)
        return True
    try:
        if not is_alive(identity):  # looked at when its id can no longer change hands
            return False
        signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(descriptor)
    return True


def _fields(pid: int) -> list[str]:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    return stat.rpartition(")")[2].split()  # a program's name may hold spaces and brackets


def _started(pid: int) -> int | None:
    fields = _fields(pid)
    return int(fields[19]) if len(fields) > 19 else None


def _state(pid: int) -> str:
    fields = _fields(pid)
    return fields[0] if fields else "X"
