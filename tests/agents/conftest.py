"""A fake model for the test, and real agents set up to talk to it."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.agents.model_server import ModelServer
from tests.agents.real import RealAgent, real_agent

SetUp = Callable[[str], RealAgent]


@pytest.fixture
def model() -> Generator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def set_up(model: ModelServer, tmp_path: Path) -> SetUp:
    """Set an agent up with a home of its own, behind the fake model."""

    def one(name: str) -> RealAgent:
        return real_agent(name, tmp_path / f"home-{name}", model.url)

    return one


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    return path
