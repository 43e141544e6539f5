"""A disk that refuses what a program asks of it, now and then, and knows what is open."""

import os
import random
from pathlib import Path
from typing import Any

import pytest


class FaultyDisk:
    """Stands before the calls by which a spool writes; while it ``fails`` each may, by chance.

    ``opened`` has the descriptors that were opened for writing since it was made and are open, and closed
    ones that are used again fail the test.
    """

    def __init__(self, patch: pytest.MonkeyPatch, chance: random.Random) -> None:
        self.fails = False
        self.opened: set[int] = set()
        self._chance = chance
        self._closed: set[int] = set()
        self._open, self._close, self._write = os.open, os.close, os.write
        patch.setattr(os, "open", self._on_open)
        patch.setattr(os, "close", self._on_close)
        patch.setattr(os, "write", self._on_write)
        for name in ("ftruncate", "fdatasync", "fsync"):
            patch.setattr(os, name, self._refusing(getattr(os, name)))
        patch.setattr(Path, "unlink", self._refusing(Path.unlink))

    def _refuse(self) -> None:
        if self.fails and not self._chance.randrange(3):
            raise OSError(28, "No space left on device")

    def _refusing(self, call: Any) -> Any:
        def called(*args: Any, **named: Any) -> Any:
            self._refuse()
            return call(*args, **named)

        return called

    def _on_open(self, path: Any, flags: int, *args: Any, **named: Any) -> int:
        writes = bool(flags & os.O_WRONLY)
        if writes:
            self._refuse()
        made = self._open(path, flags, *args, **named)
        self._closed.discard(made)
        if writes:
            self.opened.add(made)
        return made

    def _on_close(self, descriptor: int) -> None:
        assert descriptor not in self._closed, "closed twice"
        self._close(descriptor)
        self._closed.add(descriptor)
        self.opened.discard(descriptor)

    def _on_write(self, descriptor: int, data: bytes) -> int:
        assert descriptor not in self._closed, "written to after it was closed"
        self._refuse()
        if self.fails and not self._chance.randrange(3):
            data = data[: self._chance.randrange(len(data))]
        return self._write(descriptor, data)
