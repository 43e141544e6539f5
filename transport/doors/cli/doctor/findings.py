"""What is to be said of each thing that a relay needs. Pure: what was measured comes as arguments."""

import os
import shlex
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from showcaller.transport.doors.cli.left_workers import told_of
from showcaller.transport.doors.cli.relay import LeftWorker

State = Literal["good", "note", "warn", "mend"]
OLDEST_PYTHON: Final = (3, 11)
LONGEST_SOCKET: Final = 107
"""Bytes of the path of a socket in a folder at most."""
SOCKET: Final = "links"
SCARCE_BYTES: Final = 1024**3
TOO_FEW_BYTES: Final = 64 * 1024**2
FEW_DESCRIPTORS: Final = 1024


class Finding(NamedTuple):
    """One thing: what it is, whether there is something to mend, what was found, and how to mend it."""

    check: str
    state: State
    told: str
    mend: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values."""
        return {name: value for name, value in self._asdict().items() if value is not None}


def python_finding(version: Sequence[int]) -> Finding:
    """Judge the Python that runs this."""
    told = f"Python {'.'.join(map(str, version[:3]))}"
    if tuple(version[:2]) >= OLDEST_PYTHON:
        return Finding("python", "good", told)
    return Finding("python", "mend", told, "Install Showcaller with Python 3.11 or newer.")


def descriptors_finding(allowed: int) -> Finding:
    """Judge how many files a process may open; -1 is no limit."""
    if allowed < 0 or allowed >= FEW_DESCRIPTORS:
        return Finding("open files", "good", "no limit" if allowed < 0 else f"{allowed:,} allowed")
    return Finding("open files", "mend", f"only {allowed:,} allowed", f"ulimit -n {FEW_DESCRIPTORS}")


def folder_finding(home: Path, found: os.stat_result | None, user: int, *, may_use: bool) -> Finding:
    """Judge the data folder; ``found`` is None when it is not there, ``may_use`` is what the system says."""
    named = shlex.quote(str(home))
    if found is None:
        return Finding("data folder", "good", f"{home} is not there yet; the first command makes it")
    if not stat.S_ISDIR(found.st_mode):
        return Finding("data folder", "mend", f"{home} is no folder", "Move it away, or name another one.")
    mode = stat.S_IMODE(found.st_mode)
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        return Finding("data folder", "mend", f"others may write into {home}", f"chmod go-w {named}")
    if found.st_uid != user:
        return Finding(
            "data folder", "mend", f"{home} is another user's (id {found.st_uid})", "Name one of your own."
        )
    if not may_use:
        return Finding("data folder", "mend", f"{home} cannot be written", f"chmod u+rwx {named}")
    return Finding("data folder", "good", str(home))


def disk_finding(home: Path, free: int) -> Finding:
    """Judge the room on the disk of the data folder."""
    told = f"{free / 1024**3:,.1f} GiB free"
    if free < TOO_FEW_BYTES:
        return Finding("disk", "mend", told, f"Make room on the disk of {home}: nothing can be stored soon.")
    return Finding("disk", "note" if free < SCARCE_BYTES else "good", told)


def socket_finding(home: Path) -> Finding:
    """Judge whether the socket for workers fits into the folder's path."""
    length = len(os.fsencode(home / SOCKET))
    if length <= LONGEST_SOCKET:
        return Finding("socket path", "good", f"{length} of {LONGEST_SOCKET} bytes")
    return Finding(
        "socket path",
        "mend",
        f"{length} bytes, and {LONGEST_SOCKET} are the most: showcaller serve cannot start",
        "Name a data folder with a shorter path in SHOWCALLER_HOME or --home.",
    )


def versions_findings(status: Mapping[str, Any], installed: str, stop: str) -> list[Finding]:
    """Judge the versions of the relay that runs and of its workers; ``stop`` is the line that ends them."""
    found = []
    if (running := str(status["version"])) != installed:
        found.append(
            Finding(
                "version",
                "mend",
                f"the relay that runs is {running}, and {installed} is installed",
                f"End it, and start it again: {stop}",
            )
        )
    else:
        found.append(Finding("version", "good", installed))
    workers = status.get("workers", ())
    others = sorted({str(one["version"]) for one in workers} - {"", installed})
    if others:
        told = f"{len(workers)}, of version {', '.join(others)} too, and {installed} is installed"
        found.append(Finding("workers", "note", told, f"When they have nothing to do: {stop}"))
    elif not workers:
        told = "the relay has none: prompts wait"
        found.append(Finding("workers", "mend", told, "Look into the log of the relay."))
    else:
        found.append(Finding("workers", "good", f"{len(workers)} at hand"))
    return found


def left_findings(left: Sequence[LeftWorker], ways_out: str) -> list[Finding]:
    """Say of workers that a relay has left that they are there; ``ways_out`` is what can be done."""
    return [Finding("workers", "warn", told_of(left), ways_out)] if left else []


def providers_finding(providers: Sequence[Mapping[str, Any]]) -> Finding:
    """Judge whether what sessions can run is installed; agents are a matter of choice."""
    missing = [one for one in providers if one["state"] == "missing" and one.get("kind") != "acp"]
    if missing:
        ways = "; ".join(str(one.get("toInstall")) for one in missing)
        return Finding("providers", "mend", f"{', '.join(one['provider'] for one in missing)} missing", ways)
    there = ", ".join(f"{one['provider']} {one['state']}" for one in providers if one["state"] != "missing")
    absent = ", ".join(str(one["provider"]) for one in providers if one["state"] == "missing")
    return Finding("providers", "good", f"{there}; not installed: {absent}" if absent else there)
