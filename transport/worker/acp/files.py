"""The files that an agent may have read and written for it: those in the folders that it works in."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

READ_LIMIT: Final = 32 * 1024 * 1024
"""Bytes of a file that is read for an agent."""


class FileRefusedError(Exception):
    """A file is not given or written; the text says why, for the agent."""


def allowed_path(path: str, folders: Sequence[str]) -> Path:
    """Give the file or folder that is meant, with links resolved; raises FileRefusedError for one outside.

    What does not exist yet may be made in a folder that does.
    """
    meant = Path(path)
    if "\0" in path or not meant.is_absolute():
        raise FileRefusedError(f"{path!r} is no absolute path")
    try:
        resolved = meant.resolve()
        roots = [Path(folder).resolve() for folder in folders]
    except (OSError, RuntimeError) as error:  # resolve() tells of a loop of links with a RuntimeError
        raise FileRefusedError(
            f"{path} cannot be used: {getattr(error, 'strerror', None) or error}"
        ) from error
    if not any(resolved.is_relative_to(root) for root in roots):
        listed = ", ".join(str(root) for root in roots)
        raise FileRefusedError(f"{path} is outside of the folders of this session: {listed}")
    return resolved


def read_text(path: str, folders: Sequence[str], line: int | None, limit: int | None) -> str:
    """Give a file's text, from this line on (counted from 1) and at most so many; raises FileRefusedError."""
    file = allowed_path(path, folders)
    data = _read(file)
    text = data.decode("utf-8", "replace")
    if line is None and limit is None:
        return text
    first = max(0, (line or 1) - 1)
    lines = text.split("\n")  # and at nothing else that splitlines() takes for the end of a line
    return "\n".join(lines[first:] if limit is None else lines[first : first + limit])


def write_text(path: str, folders: Sequence[str], content: str) -> None:
    """Write a file, and the folders that it is in; raises FileRefusedError."""
    file = allowed_path(path, folders)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _open(file, os.O_WRONLY | os.O_CREAT)
        with os.fdopen(descriptor, "wb") as opened:
            opened.truncate()
            opened.write(content.encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise _refused(file, "written", error) from error


def _read(file: Path) -> bytes:
    try:
        with os.fdopen(_open(file, os.O_RDONLY), "rb") as opened:
            data = opened.read(READ_LIMIT + 1)
    except OSError as error:
        raise _refused(file, "read", error) from error
    if len(data) > READ_LIMIT:
        raise FileRefusedError(f"{file} has more than {READ_LIMIT:,} bytes")
    return data


def _open(file: Path, flags: int) -> int:
    """Open an ordinary file, without ever waiting as for a pipe, and behind no link made meanwhile."""
    descriptor = os.open(file, flags | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK | os.O_NOFOLLOW, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileRefusedError(f"{file} is no ordinary file")
    return descriptor


def _refused(file: Path, done: str, error: OSError) -> FileRefusedError:
    return FileRefusedError(f"{file} cannot be {done}: {error.strerror}")
