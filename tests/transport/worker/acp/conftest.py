"""A desk for each test, which leaves no process, descriptor or card behind."""

import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.transport.worker.acp.desk import AgentDesk
from tests.transport.worker.conftest import open_descriptors
from tests.transport.worker.stage import processes_with, wait_gone

OpenDesk = Callable[..., AgentDesk]


@pytest.fixture
async def open_desk(tmp_path: Path) -> AsyncIterator[OpenDesk]:
    """Open desks that are closed and checked for leavings at the end."""
    descriptors = open_descriptors()
    desks: list[AgentDesk] = []
    marker = f"AGENTS={uuid.uuid4().hex}"

    def open_one(**more: Any) -> AgentDesk:
        folder = tmp_path / f"desk{len(desks)}"
        folder.mkdir()
        desks.append(AgentDesk(folder, marker, **more))
        return desks[-1]

    yield open_one
    for desk in desks:
        await desk.stage.host.close()
        desk.stage.relay.close()
        assert desk.provider.processes == []
        assert {card.card for card in desk.all_cards()} <= desk.closed_cards()
    assert all(wait_gone(pid) for pid in processes_with(marker))
    assert open_descriptors() == descriptors


@pytest.fixture
async def desk(open_desk: OpenDesk) -> AgentDesk:
    """A desk with the usual options."""
    return open_desk()
