"""Where a running relay listens: a file in its data folder that the relay writes and the commands read."""

import os
from pathlib import Path
from secrets import token_hex
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from showcaller.transport.doors import holder
from showcaller.transport.ordinary_files import read_ordinary
from showcaller.transport.worker.process_identity import ProcessIdentity, identify, is_alive

FILE: Final = "relay.json"
HOST: Final = "127.0.0.1"


class Whereabouts(BaseModel):
    """A running relay: its process, with the start time that tells it from a later one of the same id."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    pid: int = Field(gt=0)
    process_started: int | None
    port: int = Field(gt=0, lt=65_536)
    version: str

    @classmethod
    def of_this_process(cls, port: int, version: str) -> Self:
        """Give those of the relay in this process."""
        process = identify(os.getpid())
        return cls(pid=process.pid, process_started=process.started, port=port, version=version)

    @property
    def address(self) -> str:
        """Where it listens, as the beginning of a URL."""
        return f"http://{HOST}:{self.port}"

    @property
    def process(self) -> ProcessIdentity:
        """Its process."""
        return ProcessIdentity(self.pid, self.process_started)

    def write(self, home: Path) -> None:
        """Put the file in the data folder, in one step and for its owner alone; raises OSError."""
        write_private(home / FILE, self.model_dump_json() + "\n")


def running_relay(home: Path) -> Whereabouts | None:
    """Give the whereabouts of the relay that runs on this data folder and listens; None when there is none.

    One that was killed has left its file behind: it counts only while that very process is alive. The lock
    of the folder says the same, so that a file which somebody has deleted hides no relay.
    """
    for file, told_in in ((FILE, bytes), (holder.FILE, holder.told_in)):
        try:
            content = read_ordinary(home / file, holder.LIMIT)
            found = Whereabouts.model_validate_json(told_in(content))
        except (OSError, ValidationError):
            continue
        if is_alive(found.process):
            return found
    return None


def forget(home: Path) -> None:
    """Take the file away; harmless when there is none. Raises OSError."""
    (home / FILE).unlink(missing_ok=True)


def write_private(path: Path, text: str) -> None:
    """Write a file that nobody else may read, whole or not at all; raises OSError."""
    partly = path.with_name(f".{path.name}.{token_hex(4)}")
    descriptor = os.open(partly, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partly.replace(path)
    except BaseException:
        partly.unlink(missing_ok=True)
        raise
