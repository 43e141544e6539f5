"""A stage for each test; a mistake that an actor made, and only logged, fails the test."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.actors.relay.stage import Stage

OpenStage = Callable[..., Stage]
FAULTS = ("Unhandled exception", "A callback of a future failed", "A mistake, reference", "is faulty")


@pytest.fixture
def open_stage(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[OpenStage]:
    """Open stages over one data folder, one after the other."""

    def open_one(seed: int | None = None, **more: Any) -> Stage:
        return Stage(tmp_path, seed, **more)

    yield open_one
    no_faults(caplog)


@pytest.fixture(autouse=True)
def drop_stages() -> Iterator[None]:
    """Close the files of every stage that the test opened, by whatever way."""
    yield
    while Stage.opened:
        Stage.opened.pop().drop()


def no_faults(caplog: pytest.LogCaptureFixture) -> None:
    """Fail for what an actor got wrong without anybody hearing of it but the log."""
    logged = [
        f"{record.getMessage()} {record.exc_info and record.exc_info[1]!r}"
        for record in caplog.get_records("call")
        if record.levelno >= logging.ERROR and any(fault in record.getMessage() for fault in FAULTS)
    ]
    assert logged == []


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    """A relay over an empty store, in the order in which things come."""
    return open_stage()
