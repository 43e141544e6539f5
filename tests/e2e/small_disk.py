"""A file system of a few mebibytes, which a test can fill."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

SIZE = 4 * 1024 * 1024
_PIECE = b"x" * 65_536


@contextmanager
def mounted(place: Path, size: int = SIZE) -> Generator[Path]:
    """Mount an empty file system there; skips the test where that is not allowed."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "none", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        if os.environ.get("CI"):
            pytest.fail("a small file system has to be mounted, which needs root")
        pytest.skip("mounting a small file system needs root")
    try:
        yield place
    finally:
        # At once, whoever is just dying there.
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> Path:
    """Leave no byte free; gives the file that takes them."""
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file:
        for piece in (_PIECE, b"x"):
            try:
                while file.write(piece) == len(piece):
                    pass
            except OSError:
                continue
    return filler
