"""A folder for workers, none of which is there after the test, and a desk with workers that are none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.transport.placement.desk import Desk, FakeWorker
from tests.transport.placement.relay import kill_workers


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    tmp_path.chmod(0o700)
    yield tmp_path
    kill_workers(tmp_path)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    yield Desk(tmp_path)
    FakeWorker.close_all()
