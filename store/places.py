"""Where files are: paths as the system takes them, and which of them belong to a store."""

import os
import stat
from pathlib import Path
from typing import Final

from showcaller.store.errors import StoreExists, StoreUnavailable

LOG_FILES: Final = ("-wal", "-shm", "-journal")
"""How the names of the files end that SQLite keeps beside a database while it is in use."""

_MAGIC: Final = b"SQLite format 3\x00"


def place(path: Path | str) -> Path:
    """Give a path from the root on; raises StoreUnavailable for text that can be no file's name."""
    try:
        found = Path(path).absolute()
        if b"\0" in os.fsencode(found):
            raise ValueError("a name holds no zero byte")
        if not found.name:
            raise ValueError("it is the root of all folders")
    except (ValueError, OSError) as error:
        raise StoreUnavailable(
            ascii(str(path)), f"it can be no file's name here ({error}); name another one"
        ) from error
    return found


def check_target(store: Path, target: Path) -> None:
    """Refuse a place for a copy of a store where it would destroy that store, or one that is in use.

    Links and other spellings are looked through. Raises StoreExists, or StoreUnavailable for a pipe.
    """
    if any(is_same(own, target) for own in _own_files(store)):
        raise StoreExists(target, "it is the store itself, or one of its files; name another file")
    check_kind(target)
    for ending in LOG_FILES:
        beside = target.with_name(target.name + ending)
        # SQLite would take what is in there for changes to the copy.
        if os.path.lexists(beside):
            raise StoreExists(
                target,
                f"{beside.name} is beside it, as with a store in use or one cut off; name another file",
            )
    if _is_within(store.resolve().parent, target) and not _may_be_copy(target):
        raise StoreExists(target, "it is a file of the relay's own; name another file for the copy")


def check_folder(file: Path) -> None:
    """Refuse a file more than whose own folder is missing: that is rather a mistyped path.

    Raises StoreUnavailable.
    """
    if not file.parent.parent.exists():
        raise StoreUnavailable(
            file, f"there is no folder {file.parent.parent}; make it first, or name another place"
        )


def check_kind(file: Path) -> None:
    """Refuse a pipe, a device or a socket, which would keep whoever opens it waiting, or be lost.

    What is not there, or is a folder, passes: to open it says more. Raises StoreUnavailable.
    """
    try:
        mode = file.stat().st_mode
    except OSError:
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise StoreUnavailable(
            file, "it is no ordinary file but a pipe, a device or a socket; name another one"
        )


def is_same(own: Path, target: Path) -> bool:
    """Whether both names are one file's, or would be, past links and other spellings."""
    if own.name.casefold() == target.name.casefold() and _same_file(own.parent, target.parent):
        return True
    return _same_file(own, target)


def _own_files(store: Path) -> list[Path]:
    return [
        file.with_name(file.name + ending) for file in (store, store.resolve()) for ending in ("", *LOG_FILES)
    ]


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return one == other


def _is_within(folder: Path, target: Path) -> bool:
    parent = target.parent.resolve()
    return any(_same_file(folder, above) for above in (parent, *parent.parents))


def _may_be_copy(target: Path) -> bool:
    """Whether nothing is there, or a database: what else lies in a relay's folder the relay needs."""
    try:
        with target.open("rb") as stream:
            return stream.read(len(_MAGIC)) == _MAGIC
    except FileNotFoundError:
        return True
    except OSError:
        return False
