"""How a command's text reaches the shell: as an argument, or as a file where it is too long for one."""

import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

SHELL: Final = "/bin/sh"
LONGEST_ARGUMENT: Final = 131_071
"""Bytes of a program's argument at most: Linux starts none with a longer one."""
_LONGEST_CHARACTER: Final = 4


class ShellCall(NamedTuple):
    """The shell with its arguments, and the descriptors that have to be open in it."""

    arguments: Sequence[str]
    descriptors: Sequence[int] = ()


@contextmanager
def shell_for(text: str) -> Generator[ShellCall]:
    """Give how the shell is started with this text; to be left once it was started.

    Raises OSError, and ValueError for text that no shell can take.
    """
    if len(text) * _LONGEST_CHARACTER <= LONGEST_ARGUMENT or len(os.fsencode(text)) <= LONGEST_ARGUMENT:
        yield ShellCall((SHELL, "-c", text))
        return
    if "\0" in text:
        raise ValueError("embedded null byte")
    descriptor = _nameless_file()
    with os.fdopen(descriptor, "wb") as file:
        file.write(os.fsencode(text))
        file.flush()
        file.seek(0)
        yield ShellCall((SHELL, f"/dev/fd/{descriptor}"), (descriptor,))


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("command")
    descriptor, path = tempfile.mkstemp()
    os.unlink(path)  # noqa: PTH108 - mkstemp gives text
    return descriptor
