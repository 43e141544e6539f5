"""pykka's sources for the tests that need them: fetched once, skipped where there is no way to them."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from tests.compat import examples, sources


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker of these tests."""
    config.addinivalue_line("markers", "compat: needs the sources of pykka, which pip downloads once")


def give_up(reason: str) -> NoReturn:
    """Skip what cannot run here; in CI it must run."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def source() -> Path:
    """Give the folder with pykka's sources; in CI it must be there."""
    try:
        return sources.fetch()
    except sources.Unreachable as fault:
        give_up(str(fault))


@pytest.fixture(scope="session")
def _mypy() -> None:
    """Need the type checker."""
    if find_spec("mypy") is None:
        give_up("mypy is not installed: pip install -e '.[dev]'")


@pytest.fixture(scope="session")
def pairs(source: Path, tmp_path_factory: pytest.TempPathFactory) -> examples.Examples:
    """Give pykka's examples in both forms."""
    return examples.prepare(source, tmp_path_factory.mktemp("examples"))
