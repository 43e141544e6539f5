"""Leaving at once: what a program that ends without its orderly way out must not leave behind."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

_TASKS = Path("/proc/self/task")


def kill_children() -> None:
    """Send SIGKILL to the process group of every child that leads one, as each command does.

    For the moment before ``os._exit``. Only children are found, and only where there is a /proc: a
    descendant that left its group stays behind.
    """
    for pid in _children():
        # It may be gone, or a program of somebody else (sudo), which may not be signalled.
        with contextlib.suppress(ChildProcessError, ProcessLookupError, PermissionError):
            # Raises unless the id is still our child's: nobody else may have it by now.
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if os.getpgid(pid) == pid:
                os.killpg(pid, signal.SIGKILL)


def _children() -> Iterator[int]:
    for listing in _TASKS.glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
            yield from map(int, listing.read_text().split())
