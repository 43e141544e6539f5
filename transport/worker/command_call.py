"""How a turn's text reaches a command: a shell as an argument or a file, another one as its input."""

import os
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

SHELL: Final = "/bin/sh"
LONGEST_ARGUMENT: Final = 131_071
"""Bytes of a program's argument at most: Linux starts none with a longer one."""
_LONGEST_CHARACTER: Final = 4


class CommandCall(NamedTuple):
    """A command with its arguments, the descriptors that have to be open in it, and its input."""

    arguments: Sequence[str]
    descriptors: Sequence[int] = ()
    given: int = subprocess.DEVNULL


@contextmanager
def with_input(arguments: Sequence[str], text: str) -> Generator[CommandCall]:
    """Give how a command is started that gets this text as its input; to be left once it was started.

    The input is a file, so that nobody has to write while the command reads. Raises OSError.
    """
    with os.fdopen(_nameless_file(), "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
        file.flush()
        file.seek(0)
        yield CommandCall(arguments, given=file.fileno())


@contextmanager
def shell_for(text: str) -> Generator[CommandCall]:
    """Give how the shell is started with this text; to be left once it was started.

    Raises OSError, and ValueError for text that no shell can take.
    """
    if len(text) * _LONGEST_CHARACTER <= LONGEST_ARGUMENT or len(os.fsencode(text)) <= LONGEST_ARGUMENT:
        yield CommandCall((SHELL, "-c", text))
        return
    if "\0" in text:
        raise ValueError("embedded null byte")
    descriptor = _nameless_file()
    with os.fdopen(descriptor, "wb") as file:
        file.write(os.fsencode(text))
        file.flush()
        file.seek(0)
        yield CommandCall((SHELL, f"/dev/fd/{descriptor}"), (descriptor,))


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("command")
    descriptor, path = tempfile.mkstemp()
    os.unlink(path)  # noqa: PTH108 - mkstemp gives text
    return descriptor
