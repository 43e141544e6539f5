"""A store in a folder of its own, and a desk at each form of its writer."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from showcaller.store.writer import InlineWriter
from tests.store.desk import Desk, type_of_writer


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Name a store's file that does not exist yet, in a folder that does not either."""
    return tmp_path / "data" / "store.db"


@pytest.fixture
def desk(path: Path) -> Iterator[Desk]:
    """Open a desk at a writer in the test's own thread."""
    desk = Desk(path, InlineWriter(path, busy_seconds=0.1))
    yield desk
    desk.close()


@pytest.fixture(params=["inline", "process"])
def either_desk(path: Path, request: pytest.FixtureRequest) -> Iterator[Desk]:
    """Open a desk at each form of the writer in turn."""
    desk = Desk(path, type_of_writer[request.param](path, busy_seconds=0.1))
    yield desk
    desk.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of 2 MiB, where that is allowed."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        mounting = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", str(folder)],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        pytest.skip(f"no disk can be mounted here: {error}")
    if mounting.returncode:
        pytest.skip(f"no disk can be mounted here: {mounting.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
