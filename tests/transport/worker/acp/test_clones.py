"""Agents whose sessions work on a clone: it is there before they are, and they are told to push."""

from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.contract.agent_messages import CloneSource
from showcaller.transport.worker import clone_folder
from showcaller.transport.worker.cloning import CloneLimits
from tests.transport.worker.acp.conftest import OpenDesk
from tests.transport.worker.acp.desk import AgentDesk
from tests.transport.worker.repositories import HOST, Repositories, commit, one_within_reach


@pytest.fixture
def repositories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repositories:
    """A repository ``one``, and what reaches it in the worker's environment."""
    return one_within_reach(tmp_path / "remote", monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "clones" / "ses_stage"


def on_clone(repositories: Repositories, folder: Path, name: str = "one") -> dict[str, Any]:
    source = CloneSource(url=repositories.url(name), hosts=(HOST,))
    return {"clone": source, "turn_more": {"cwd": str(folder)}}


async def test_an_agent_works_on_the_clone_and_is_told_once_to_push(
    repositories: Repositories, open_desk: OpenDesk, folder: Path
) -> None:
    desk = open_desk()
    place = on_clone(repositories, folder)
    first = await desk.run("terminal pwd; cat README", **place)
    assert first.outcome == "done", first.error_text
    assert f"{folder}" in first.reply
    assert "read me" in first.reply
    assert clone_folder.kept_state(folder).pushed is True
    commit(folder, "work")
    again = await desk.run("recall", **place)
    assert clone_folder.kept_state(folder) == clone_folder.CloneState(pushed=False, told="1 commit")
    assert again.reply.count("push it to origin before you end your turn") == 1
    assert again.resumed_via == "alive"


async def test_a_turn_without_a_clone_fails_with_the_reason_and_starts_no_agent(
    repositories: Repositories, desk: AgentDesk, folder: Path
) -> None:
    end = await desk.run("hi", **on_clone(repositories, folder, "gone"))
    assert (end.outcome, end.error_class, end.agent_session) == ("failed", "other", None)
    assert "was not cloned" in (end.error_text or "")
    assert "Nothing of it is left" in (end.error_text or "")
    assert desk.states() == []
    assert list(folder.parent.iterdir()) == []
    assert (await desk.run("hi", **on_clone(repositories, folder))).outcome == "done"


async def test_a_session_that_names_no_repository_starts_no_agent(desk: AgentDesk, folder: Path) -> None:
    end = await desk.run("hi", clone=CloneSource(url=""), turn_more={"cwd": str(folder)})
    assert end.outcome == "failed"
    assert "names no repository" in (end.error_text or "")
    assert desk.states() == []


async def test_a_conversation_does_not_go_on_in_another_clone(
    repositories: Repositories, open_desk: OpenDesk, folder: Path
) -> None:
    desk = open_desk()
    begun = await desk.run("hi", **on_clone(repositories, folder))
    desk.kill()
    await desk.state("none")
    folder.rename(folder.with_name("moved"))  # noqa: ASYNC240 - once
    end = await desk.run("recall", resume=begun.agent_session, **on_clone(repositories, folder))
    assert end.outcome == "failed"
    assert "is not there any more" in (end.error_text or "")
    assert not folder.exists()  # noqa: ASYNC240 - once


async def test_what_an_agent_leaves_is_not_known_while_it_works(
    repositories: Repositories, open_desk: OpenDesk, folder: Path
) -> None:
    desk = open_desk(clone_limits=CloneLimits(seconds=30))
    turn = desk.start("say begun\nhang", **on_clone(repositories, folder))
    await desk.stage.output_with(turn, "begun")
    assert clone_folder.kept_state(folder) == clone_folder.AT_WORK
    desk.stage.stop(turn)
    assert (await desk.stage.end_of(turn)).outcome == "stopped"
    assert clone_folder.kept_state(folder).pushed is True
