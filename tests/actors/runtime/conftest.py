"""What every test of the runtime gets: a dispatcher that is turned by hand, or a real one that is closed."""

from collections.abc import Iterator

import pytest

from showcaller.actors.runtime import ActorRegistry, Dispatcher
from showcaller.actors.runtime.testkit import ManualDispatcher


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the seeds to run, for repeating one that failed."""
    parser.addoption("--seed", type=int, default=None, help="run only this seed of the seeded tests")
    parser.addoption("--seeds", type=int, default=60, help="run so many seeds of the seeded tests")


@pytest.fixture
def manual() -> Iterator[ManualDispatcher]:
    """Give a manual dispatcher on which this test's actors start."""
    with ManualDispatcher() as dispatcher:
        yield dispatcher


@pytest.fixture
def threads() -> Iterator[Dispatcher]:
    """Give a dispatcher with real threads on which this test's actors start; it is closed afterwards."""
    dispatcher = Dispatcher(name="test")
    with dispatcher:
        yield dispatcher
    dispatcher.close()


@pytest.fixture(autouse=True)
def nobody_is_left() -> Iterator[None]:
    """Stop what a test has left in the public registry."""
    yield
    ActorRegistry.stop_all(block=False)
