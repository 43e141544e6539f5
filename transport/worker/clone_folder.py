"""The folder of a session's clone and what is known of it, on disk beside it: no program is run for that."""

import os
import stat
import subprocess
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from showcaller.transport.ordinary_files import open_ordinary, read_ordinary

FOLDER: Final = "clones"
"""Where the clones are in a data folder, each named as its session."""
REMOVAL: Final = 300.0
"""Seconds for a clone's files to be removed."""
_MOST: Final = 4096


class CloneState(BaseModel):
    """What a worker saw when a turn had ended; ``pushed`` is None where that is not known.

    ``told`` says in words what is not pushed, or why nothing is known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    pushed: bool | None
    told: str = Field(default="", max_length=1000)


AT_WORK: Final = CloneState(pushed=None, told="its last turn was cut, so what it has left is not known")
UNKNOWN: Final = CloneState(pushed=None, told="what it has left is not known")


def unfinished(folder: Path) -> Path:
    """Give where a clone is made, before it is whole and gets its name."""
    return folder.with_name(f".{folder.name}.part")


def is_there(folder: Path) -> bool:
    """Tell whether a session has its clone; raises OSError for something else in its place, a link too."""
    try:
        kind = stat.S_IFMT(folder.lstat().st_mode)
    except FileNotFoundError:
        return False
    if kind != stat.S_IFDIR:
        raise NotADirectoryError(f"{folder} is no folder; move it away")
    return True


def make_parent(folder: Path) -> None:
    """Make the folder of all clones, for its owner alone; raises OSError for something else there."""
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    if not stat.S_ISDIR(folder.parent.lstat().st_mode):
        raise NotADirectoryError(f"{folder.parent} is no folder; move it away")


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, however deep; raises OSError when something stays."""
    try:
        done = subprocess.run(
            ["/bin/rm", "-rf", "--", str(folder)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=REMOVAL,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(f"{folder} was not removed within {REMOVAL:g} s") from error
    if done.returncode:
        raise OSError(f"{folder} was not removed: {done.stderr.decode('utf-8', 'replace').strip()[-300:]}")


def keep_state(folder: Path, state: CloneState) -> None:
    """Write what is known of a clone beside it; raises OSError."""
    file, new = _file(folder), folder.with_name(f".{folder.name}.json.part")
    new.unlink(missing_ok=True)
    with os.fdopen(open_ordinary(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w", encoding="utf-8") as opened:
        opened.write(state.model_dump_json())
    new.replace(file)


def kept_state(folder: Path) -> CloneState:
    """Give what is known of a clone; ``UNKNOWN`` where nothing that can be read says it."""
    try:
        return CloneState.model_validate_json(read_ordinary(_file(folder), _MOST))
    except (OSError, ValidationError):
        return UNKNOWN


def forget_state(folder: Path) -> None:
    """Remove what is known of a clone; raises OSError."""
    _file(folder).unlink(missing_ok=True)


def is_as_seen(folder: Path) -> bool:
    """Tell whether nothing in a clone was changed since it was looked at, as its files' times say."""
    try:
        seen = _file(folder).lstat().st_mtime_ns
    except OSError:
        return False
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    found = entry.stat(follow_symlinks=False)
                    if max(found.st_mtime_ns, found.st_ctime_ns) > seen:
                        return False
                    if stat.S_ISDIR(found.st_mode):
                        waiting.append(entry.path)
        except OSError:
            return False
    return True


def is_larger(folder: Path, most: int) -> bool:
    """Tell whether the files in a folder take more bytes than ``most``; each counts as a block at least.

    What goes away or cannot be looked at meanwhile does not count.
    """
    size, waiting = 0, [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    found = entry.stat(follow_symlinks=False)
                    size += max(4096, found.st_blocks * 512)
                    if size > most:
                        return True
                    if stat.S_ISDIR(found.st_mode):
                        waiting.append(entry.path)
        except OSError:
            continue
    return False


def _file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.json")
