"""A program with an empty data folder and an empty folder to work in."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.e2e.program import PROGRAM, Bell, Showcaller

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    """Say at once what is missing where the package is not installed."""
    assert PROGRAM.exists(), f"{PROGRAM} is missing: pip install -e '.[test]'"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    return path


@pytest.fixture
def showcaller(tmp_path: Path, folder: Path) -> Showcaller:
    return Showcaller(tmp_path / "home", folder)


@pytest.fixture
def bell(tmp_path: Path) -> Generator[Bell]:
    with Bell(tmp_path) as bell:
        yield bell
