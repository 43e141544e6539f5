"""Who holds a data folder: what its lock says, of a process and of where that listens."""

import json
import os
from pathlib import Path
from typing import Final, Literal, get_args

from showcaller.transport.ordinary_files import read_ordinary
from showcaller.transport.worker.process_identity import ProcessIdentity, identify, is_alive

FILE: Final = "lock"
Phase = Literal["starting", "ending"]
"""What a relay does that is to listen in a moment, or listens no more."""
LIMIT: Final = 4096
"""Bytes of a lock that are looked at."""
_LAST_PROCESS: Final = 2**31 - 1


def lock_text(told: str) -> bytes:
    """Give what this process writes into a lock that it has taken: who it is, and what it has to tell."""
    own = identify(os.getpid())
    return f"{own.pid} {'' if own.started is None else own.started}".rstrip().encode() + b"\n" + told.encode()


def holder_in(content: bytes) -> ProcessIdentity | None:
    """Give the process that a lock names, there or not; None for a lock that makes no sense. Pure."""
    words = content.split(b"\n", 1)[0].split()
    if not 1 <= len(words) <= 2 or not all(word.isdigit() and len(word) < 20 for word in words):
        return None
    pid = int(words[0])
    if not 0 < pid <= _LAST_PROCESS:  # the system means other things by these
        return None
    return ProcessIdentity(pid, int(words[1]) if len(words) == 2 else None)


def told_in(content: bytes) -> bytes:
    """Give what the process that a lock names has told besides. Pure."""
    return content.partition(b"\n")[2]


def phase_text(phase: Phase) -> str:
    """Give what a relay tells in its lock while it does not listen."""
    return json.dumps({"relay": phase})


def phase(home: Path) -> Phase | None:
    """Give what the relay does that holds a data folder and does not listen; None where nobody says it."""
    try:
        told = json.loads(told_in(read_ordinary(home / FILE, LIMIT)))
    except (OSError, ValueError, RecursionError):
        return None
    said = told.get("relay") if isinstance(told, dict) else None
    return next((each for each in get_args(Phase) if each == said), None)


def holder(home: Path) -> ProcessIdentity | None:
    """Give the process that has taken the lock of a data folder last, if it is still there."""
    try:
        found = holder_in(read_ordinary(home / FILE, LIMIT))
    except OSError:
        return None
    return found if found is not None and is_alive(found) else None


def in_use(home: Path, held: ProcessIdentity) -> str:
    """Say who holds a data folder on which no relay listens, and the way out."""
    now = phase(home)
    if now is not None:
        until = "it listens" if now == "starting" else "it has ended"
        told = f"The relay of {home} (process {held.pid}) is {now}"
        return f"{told}: wait until {until}, which showcaller status says."
    return (
        f"No relay listens on {home}, but process {held.pid} holds it: a command or program that is a relay "
        f"by itself. Wait until it has ended, or end it: kill {held.pid}"
    )
