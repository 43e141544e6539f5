"""pykka's sources for the tests that need them: fetched once, skipped where there is no way to them."""

import os
from pathlib import Path

import pytest

from tests.compat import examples, sources


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker of these tests."""
    config.addinivalue_line("markers", "compat: needs the sources of pykka, which pip downloads once")


@pytest.fixture(scope="session")
def source() -> Path:
    """Give the folder with pykka's sources; in CI it must be there."""
    try:
        return sources.fetch()
    except sources.Unreachable as fault:
        if os.environ.get("CI"):
            pytest.fail(str(fault))
        pytest.skip(str(fault))


@pytest.fixture(scope="session")
def pairs(source: Path, tmp_path_factory: pytest.TempPathFactory) -> examples.Examples:
    """Give pykka's examples in both forms."""
    return examples.prepare(source, tmp_path_factory.mktemp("examples"))
