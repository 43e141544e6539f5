"""A worker's folder: who it is, so that the next relay finds it, beside its spool and its log."""

import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from showcaller.transport.ordinary_files import open_ordinary, read_ordinary
from showcaller.transport.wire.protocol import PROTOCOL, SPOKEN, nothing_in_common
from showcaller.transport.worker.process_identity import ProcessIdentity, is_alive

CARD = "worker.json"
LOG = "log"
CARD_LIMIT: Final = 64 * 1024


class ForeignWorkerError(Exception):
    """A living worker that this version cannot speak to; the text names it and its process."""


NAME: Final = "^wrk_[0-9a-z]{12}$"
WorkerName = Annotated[str, Field(pattern=NAME)]


class WorkerCard(BaseModel):
    """Who a worker is.

    The relay writes it without ``pid``, and the worker with its own, before it calls: so a folder without
    one has no worker, or one that will find its folder gone and end. ``protocol`` is the newest version of
    the worker protocol that it speaks; ``version`` is that of its Showcaller, empty until it writes itself.
    ``guardian`` is the process that stays until nothing is left of what the worker has started, all of which
    has ``marker`` in its environment.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    protocol: int = Field(default=PROTOCOL, gt=0)
    version: str = Field(default="", max_length=100)
    name: WorkerName
    token: str = Field(min_length=16)
    pid: int | None = Field(default=None, gt=0)
    started: int | None = Field(default=None, ge=0)
    guardian: int | None = Field(default=None, gt=0)
    guardian_started: int | None = Field(default=None, ge=0)
    marker: str | None = Field(default=None, min_length=16)

    @property
    def process(self) -> ProcessIdentity | None:
        """The worker's process, if it is known."""
        return None if self.pid is None else ProcessIdentity(self.pid, self.started)

    @property
    def guardian_process(self) -> ProcessIdentity | None:
        """The guardian's process, if it has one."""
        return None if self.guardian is None else ProcessIdentity(self.guardian, self.guardian_started)

    @property
    def living(self) -> ProcessIdentity | None:
        """Who can be told to end: the guardian, who passes it on, else the worker; None if both are dead."""
        for process in (self.guardian_process, self.process):
            if process is not None and is_alive(process):
                return process
        return None

    @property
    def is_alive(self) -> bool:
        """Whether one of its processes is there: until then, what it has started may be there as well."""
        return self.living is not None


class WorkerFolder:
    """The folder of one worker, for its owner alone."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def log(self) -> Path:
        """Where the process writes what it has to say."""
        return self.path / LOG

    @property
    def spool(self) -> Path:
        """What it has taken and what came of it."""
        return self.path / "spool"

    @property
    def is_kept(self) -> bool:
        """Whether it says who the worker is: a folder that was deleted says nothing, and nobody reads it."""
        return (self.path / CARD).exists()

    @property
    def has_begun(self) -> bool:
        """Whether a worker has said here who it is: from then on it has a spool. Raises OSError."""
        try:
            card = json.loads(read_ordinary(self.path / CARD, CARD_LIMIT))
        except FileNotFoundError:
            return self.spool.exists()
        except ValueError:  # nobody can tell
            return True
        return not isinstance(card, dict) or card.get("pid") is not None

    def make(self) -> None:
        """Make the folder, unless it is there. Raises OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.mkdir(mode=0o700, exist_ok=True)

    def write(self, card: WorkerCard) -> None:
        """Write who the worker is, in one step. Raises OSError."""
        new = self.path / f"{CARD}.new"
        descriptor = open_ordinary(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(descriptor, "w") as file:
            json.dump(card.model_dump(), file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path / CARD)

    def read(self, spoken: Sequence[int] = SPOKEN) -> WorkerCard | None:
        """Give who the worker is; None for a folder that tells nothing: its worker was never started.

        Raises ForeignWorkerError when it speaks another version of the protocol than those ``spoken`` here,
        or another version wrote the card, and the process is there. Raises OSError.
        """
        try:
            data = read_ordinary(self.path / CARD, CARD_LIMIT)
        except FileNotFoundError:
            return None
        try:
            card = WorkerCard.model_validate_json(data)
        except ValidationError:
            self._refuse_foreign(data, spoken)
            return None
        if card.protocol not in spoken:
            self._refuse_foreign(data, spoken)
            return None
        return card

    def _refuse_foreign(self, data: bytes, spoken: Sequence[int]) -> None:
        try:
            card: Any = json.loads(data)
        except ValueError:  # torn by a death
            return
        if not isinstance(card, dict):
            return
        living = _living_process(card)
        if living is not None:
            protocol = card.get("protocol")
            why = nothing_in_common(spoken, [protocol]) if type(protocol) is int else "its card says nothing"
            raise ForeignWorkerError(
                f"The worker {self.path.name} (process {living}) is one of another version of Showcaller, "
                f"and still has what that gave it ({why})"
            )

    def clear_away(self) -> None:
        """Delete the folder of a worker that is dead and has nothing left that is needed. Raises OSError."""
        shutil.rmtree(self.path)  # which refuses a link, and follows none


def _living_process(card: dict[str, Any]) -> int | None:
    """Give the process that a card of any version names and that is there: the worker, or its guardian."""
    for name, its_start in (("pid", "started"), ("guardian", "guardian_started")):
        pid, started = card.get(name), card.get(its_start)
        if type(pid) is int and is_alive(ProcessIdentity(pid, started if type(started) is int else None)):
            return pid
    return None


def worker_folders(parent: Path) -> list[WorkerFolder]:
    """Give the folders of all workers that were started here, by name.

    Nothing else counts that somebody has put there: above all no link, behind which is what is not ours.
    """
    if not parent.is_dir():
        return []
    found = [path for path in sorted(parent.iterdir()) if re.fullmatch(NAME, path.name)]
    return [WorkerFolder(path) for path in found if path.is_dir() and not path.is_symlink()]
