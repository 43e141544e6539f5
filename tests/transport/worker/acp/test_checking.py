"""Seeing whether an agent works, without prompting it."""

import os
import sys
import uuid
from pathlib import Path

import pytest

from showcaller.actors.contract.agent_entries import AgentEntry
from showcaller.actors.contract.handshakes import Handshake
from showcaller.transport.worker.acp.checking import check_agent
from showcaller.transport.worker.acp.handshake import StartError
from tests.transport.worker.acp.desk import FAKE
from tests.transport.worker.conftest import open_descriptors
from tests.transport.worker.stage import processes_with, wait_gone

AT = 1_000


async def checked(
    folder: Path, *options: str, command: tuple[str, ...] = (), seconds: float = 60
) -> Handshake:
    """Check a fake agent, and see that nothing of it is left."""
    marker = f"AGENTS={uuid.uuid4().hex}"
    name, _, value = marker.partition("=")
    around = {**os.environ, name: value, "FAKE_AGENT_STATE": str(folder)}
    command = command or (sys.executable, "-S", "-E", str(FAKE), *options)
    agent = AgentEntry(name="fake", label="Fake agent", command=command, install="pip install fake")
    descriptors = open_descriptors()
    try:
        return await check_agent(agent, str(folder), around, AT, seconds)
    finally:
        assert all(wait_gone(pid) for pid in processes_with(marker))
        assert open_descriptors() == descriptors


async def test_an_agent_that_works_tells_its_version_and_what_it_offers(tmp_path: Path) -> None:
    told = await checked(tmp_path)
    assert (told.version, told.at) == ("1.5", AT)
    assert told.models == ("small", "large")
    assert told.modes == ("ask", "plan", "code", "yolo")
    assert told.efforts == ("low", "high")
    assert (told.loads, told.resumes, told.http) == (True, True, True)


async def test_what_it_cannot_do_is_told_too(tmp_path: Path) -> None:
    told = await checked(tmp_path, "no-load", "no-resume", "no-http", "plain")
    assert (told.loads, told.resumes, told.http) == (False, False, False)
    assert (told.models, told.modes, told.efforts) == ((), (), ())


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("auth", "Fake agent: the agent wants a sign-in: Authentication required.*Run: fake login"),
        ("die-at-start", "Fake agent exited with code 3 before .*fake: no licence found"),
    ],
)
async def test_one_that_does_not_work_says_why(tmp_path: Path, option: str, why: str) -> None:
    with pytest.raises(StartError, match=why):
        await checked(tmp_path, option)


async def test_one_that_says_nothing_is_ended_in_time(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"had not opened a conversation within 0\.5 s"):
        await checked(tmp_path, "slow-start", seconds=0.5)


async def test_one_that_is_no_agent_says_so(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="before it had opened a conversation; it wrote last: hello"):
        await checked(tmp_path, command=("/bin/sh", "-c", "echo hello; exit 0"))


async def test_one_that_is_not_installed_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"no program 'no-such-agent'\. pip install fake"):
        await checked(tmp_path, command=("no-such-agent",))
