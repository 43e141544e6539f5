"""A stage for each test, which leaves no process, descriptor or thread behind."""

import os
import threading
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from showcaller.transport.worker.callable import CallableProvider
from showcaller.transport.worker.command import CommandProvider
from tests.transport.worker.functions_desk import FunctionsDesk
from tests.transport.worker.stage import Stage, processes_with, wait_gone

OpenStage = Callable[..., Stage]


def open_descriptors() -> int:
    """Give the number of this process's open descriptors."""
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def marker() -> str:
    """An assignment in the environment of every command of this test."""
    return f"STAGE={uuid.uuid4().hex}"


@pytest.fixture
def functions() -> CallableProvider:
    """The provider of callables, to register functions with."""
    return CallableProvider()


@pytest.fixture
async def open_stage(marker: str, functions: CallableProvider) -> AsyncIterator[OpenStage]:
    """Open stages that are closed and checked for leavings at the end."""
    descriptors = open_descriptors()
    name, _, value = marker.partition("=")
    stages: list[Stage] = []

    def open_one(grace: float = 5.0) -> Stage:
        command = CommandProvider({**os.environ, name: value})
        stages.append(Stage({"command": command, "callable": functions}, grace))
        return stages[-1]

    yield open_one
    for stage in stages:
        await stage.host.close()
        stage.relay.close()
    assert all(wait_gone(pid) for pid in processes_with(marker))
    assert open_descriptors() == descriptors
    assert [t.name for t in threading.enumerate() if t.name.startswith("showcaller-child")] == []


@pytest.fixture
async def stage(open_stage: OpenStage) -> Stage:
    """A stage with the usual grace."""
    return open_stage()


@pytest.fixture
async def open_desk(marker: str, tmp_path: Path) -> AsyncIterator[Callable[..., FunctionsDesk]]:
    """Open desks that are closed and checked for leavings at the end."""
    descriptors = open_descriptors()
    desks: list[FunctionsDesk] = []

    def open_one(**more: Any) -> FunctionsDesk:
        folder = tmp_path / f"desk{len(desks)}"
        folder.mkdir()
        desks.append(FunctionsDesk(folder, marker, **more))
        return desks[-1]

    yield open_one
    for desk in desks:
        await desk.close()
    assert all(wait_gone(pid) for pid in processes_with(marker))
    assert open_descriptors() == descriptors


@pytest.fixture
async def desk(open_desk: Callable[..., FunctionsDesk]) -> FunctionsDesk:
    """A desk with the usual grace."""
    return open_desk()
