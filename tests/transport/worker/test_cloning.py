"""A session's clone: whole or not at all, while nothing of the repository or the owner's settings runs."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.contract.agent_messages import CloneSource
from showcaller.transport.worker import clone_folder
from showcaller.transport.worker.acp.files import FileRefusedError, allowed_path
from showcaller.transport.worker.clone_folder import CloneState
from showcaller.transport.worker.cloning import CloneLimits, Cloning, NotClonedError
from tests.transport.worker.conftest import open_descriptors
from tests.transport.worker.repositories import HOST, Repositories, commit, executable, git
from tests.transport.worker.stage import processes_with, wait_gone

MakeCloning = Callable[..., Cloning]


@pytest.fixture
def repositories(tmp_path: Path) -> Repositories:
    return Repositories(tmp_path / "remote")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "clones" / "ses_a"


@pytest.fixture
async def cloning(repositories: Repositories, marker: str) -> AsyncIterator[MakeCloning]:
    """Make what clones, and leave no process or descriptor."""
    descriptors = open_descriptors()
    name, _, value = marker.partition("=")
    repositories.environment[name] = value
    yield lambda **limits: Cloning(lambda: repositories.environment, set(), CloneLimits(**limits))
    assert all(wait_gone(pid) for pid in processes_with(marker))
    assert open_descriptors() == descriptors


async def cloned(
    cloning: Cloning, url: str, folder: Path, halted: asyncio.Event | None = None, **more: Any
) -> None:
    source = CloneSource(url=url, branch=more.pop("branch", None), hosts=more.pop("hosts", (HOST,)))
    await cloning.ensure(source, folder, halted or asyncio.Event(), continues=more.pop("continues", False))


async def refused(cloning: Cloning, url: str, folder: Path, *more: Any, **named: Any) -> str:
    """Fail to clone, and give what is told; nothing of it is left."""
    with pytest.raises(NotClonedError) as error:
        await cloned(cloning, url, folder, *more, **named)
    assert not folder.parent.exists() or list(folder.parent.iterdir()) == []
    return str(error.value)


async def test_a_clone_is_whole_on_its_branch_and_made_once(
    cloning: MakeCloning, repositories: Repositories, folder: Path
) -> None:
    work = repositories.make("one")
    git(work, "switch", "-q", "-c", "fix")
    commit(work, "fixed")
    repositories.publish(work)
    await cloned(cloning(), repositories.url("one"), folder, branch="fix")
    assert git(folder, "branch", "--show-current") == "fix"
    assert (folder / "fixed").read_text() == "text\n"
    assert [each.name for each in folder.parent.iterdir()] == ["ses_a"]
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    (folder / "fixed").write_text("changed\n")
    await cloned(cloning(), repositories.url("one"), folder, branch="fix")
    assert (folder / "fixed").read_text() == "changed\n"


async def test_nothing_of_a_repository_and_no_hook_filter_or_template_of_the_owner_runs(
    cloning: MakeCloning, repositories: Repositories, folder: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    hook = f"touch {mark}; cat"
    template = repositories.home / "template" / "hooks"
    template.mkdir(parents=True)
    executable(template / "post-checkout", hook)
    (repositories.home / ".gitconfig").write_text(
        f"[init]\n\ttemplateDir = {template.parent}\n[core]\n\thooksPath = {template}\n"
        f"\tfsmonitor = {template}/post-checkout\n"
        f'[filter "evil"]\n\tsmudge = {hook}\n\tclean = {hook}\n\trequired = true\n'
        f"[submodule]\n\trecurse = true\n[protocol]\n\tallow = always\n"
        f'[url "ext::touch {mark} "]\n\tinsteadOf = ssh://{HOST}\n'
    )
    inner, work = repositories.make("inner"), repositories.make("outer")
    (work / ".gitattributes").write_text("* filter=evil\n")
    git(work, "submodule", "--quiet", "add", str(repositories.folder / "inner.git"), "inner")
    git(work, "config", "-f", ".gitmodules", "submodule.inner.update", f"!touch {mark}")
    commit(work, "file")
    repositories.publish(work)
    repositories.environment |= {"GIT_TEMPLATE_DIR": str(template.parent), "GIT_DIR": str(inner / ".git")}
    await cloned(cloning(), repositories.url("outer"), folder)
    assert (folder / "file").read_text() == "text\n"
    assert list((folder / "inner").iterdir()) == []
    assert not (folder / ".git" / "hooks").exists()
    assert not mark.exists()
    assert (await cloning().look(folder)).pushed is True
    assert not mark.exists()


@pytest.mark.parametrize(
    "url",
    [
        "--upload-pack=touch ran",
        "ext::touch ran",
        "file:///etc",
        "/etc",
        "http://git.test/x",
        "git://git.test/x",
        "ssh://-oProxyCommand=x/y",
        "ssh://git.test:22@elsewhere/x",
    ],
)
async def test_what_is_no_address_of_a_repository_is_not_even_tried(
    cloning: MakeCloning, folder: Path, url: str
) -> None:
    assert "was not cloned" in await refused(cloning(), url, folder)


async def test_a_host_that_the_owner_does_not_allow_any_more_is_refused_where_it_is_cloned(
    cloning: MakeCloning, repositories: Repositories, folder: Path
) -> None:
    repositories.make("one")
    told = await refused(cloning(), repositories.url("one"), folder, hosts=("github.com",))
    assert f"does not allow the host {HOST}" in told


async def test_a_missing_repository_or_branch_fails_with_gits_own_words(
    cloning: MakeCloning, repositories: Repositories, folder: Path
) -> None:
    repositories.make("one")
    assert "does not appear to be a git repository" in await refused(
        cloning(), repositories.url("gone"), folder
    )
    assert "gone not found" in await refused(cloning(), repositories.url("one"), folder, branch="gone")


async def test_a_repository_that_never_ends_is_given_up_with_all_its_processes(
    cloning: MakeCloning, repositories: Repositories, folder: Path
) -> None:
    executable(repositories.folder / "ssh", "setsid sleep 600 & exec sleep 600")
    told = await refused(cloning(seconds=0.5), repositories.url("one"), folder)
    assert "it took longer than 0.5 s" in told


async def test_a_stopped_turn_ends_its_clone_at_once(
    cloning: MakeCloning, repositories: Repositories, folder: Path, tmp_path: Path
) -> None:
    begun, halted = tmp_path / "begun", asyncio.Event()
    os.mkfifo(begun)
    executable(repositories.folder / "ssh", f"echo > {begun}; exec sleep 600")
    told = asyncio.get_running_loop().create_task(refused(cloning(), repositories.url("one"), folder, halted))
    async with asyncio.timeout(20):
        await asyncio.to_thread(begun.read_text)
        halted.set()
        assert "its turn was ended" in await told


@pytest.mark.parametrize("seconds", [0.0, 30.0])
async def test_a_repository_that_is_too_large_is_not_kept(
    cloning: MakeCloning, repositories: Repositories, folder: Path, seconds: float
) -> None:
    work = repositories.make("large")
    for number in range(20):
        commit(work, f"folder{number}/file", "x" * 20_000)
    repositories.publish(work)
    limits = {"most_bytes": 200_000} if seconds else {"seconds": seconds}
    told = await refused(cloning(**limits), repositories.url("large"), folder)
    assert ("larger than 200,000 bytes" if seconds else "longer than 0 s") in told


async def test_a_link_in_the_place_of_a_clone_or_of_all_clones_is_not_followed(
    cloning: MakeCloning, repositories: Repositories, folder: Path, tmp_path: Path
) -> None:
    repositories.make("one")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder.parent.symlink_to(elsewhere)
    with pytest.raises(NotClonedError, match="is no folder; move it away"):
        await cloned(cloning(), repositories.url("one"), folder)
    folder.parent.unlink()
    folder.parent.mkdir()
    folder.symlink_to(elsewhere)  # noqa: ASYNC240 - once
    with pytest.raises(NotClonedError, match="is no folder; move it away"):
        await cloned(cloning(), repositories.url("one"), folder)
    assert list(elsewhere.iterdir()) == []


async def test_a_link_in_a_clone_leads_no_request_for_a_file_outside(
    cloning: MakeCloning, repositories: Repositories, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    work = repositories.make("linked")
    (work / "out").symlink_to(tmp_path / "secret")
    commit(work, "file")
    repositories.publish(work)
    await cloned(cloning(), repositories.url("linked"), folder)
    assert (folder / "out").is_symlink()
    with pytest.raises(FileRefusedError, match="outside"):
        allowed_path(str(folder / "out"), [str(folder)])


async def test_what_a_killed_worker_has_half_made_is_made_anew(
    cloning: MakeCloning, repositories: Repositories, folder: Path
) -> None:
    repositories.make("one")
    part = clone_folder.unfinished(folder)
    deep = part.joinpath(*["d" * 20] * 150)
    deep.mkdir(parents=True)
    (deep / "file").write_text("x")
    await cloned(cloning(), repositories.url("one"), folder)
    assert [each.name for each in folder.parent.iterdir()] == ["ses_a"]


async def test_a_conversation_whose_clone_is_gone_gets_no_other(
    cloning: MakeCloning, repositories: Repositories, folder: Path
) -> None:
    repositories.make("one")
    told = await refused(cloning(), repositories.url("one"), folder, continues=True)
    assert "is not there any more" in told
    assert "start a new session" in told


async def test_what_is_not_pushed_is_told_until_it_is(
    cloning: MakeCloning, repositories: Repositories, folder: Path
) -> None:
    repositories.make("one")
    await cloned(cloning(), repositories.url("one"), folder)

    async def looked() -> tuple[bool | None, str]:
        state = await cloning().look(folder)
        return state.pushed, state.told

    assert await looked() == (True, "")
    (folder / "new").write_text("x")
    (folder / "README").write_text("x")
    assert await looked() == (False, "2 changed files")
    git(folder, "stash", "-q", "-u")
    assert (await looked())[0] is False
    git(folder, "stash", "drop", "-q")
    assert await looked() == (True, "")
    git(folder, "switch", "-q", "-c", "aside")
    commit(folder, "aside")
    git(folder, "switch", "-q", "main")
    assert await looked() == (False, "1 commit")
    git(folder, "switch", "-q", "--detach")
    commit(folder, "detached")
    (folder / "new").write_text("x")
    assert await looked() == (False, "2 commits and 1 changed file")
    (folder / "new").unlink()
    url = str(repositories.folder / "one.git")
    git(folder, "remote", "set-url", "origin", url)
    git(folder, "push", "-q", "origin", "aside", "HEAD:refs/heads/other")
    assert await looked() == (True, "")


async def test_a_folder_that_is_no_repository_any_more_counts_as_not_pushed(
    cloning: MakeCloning, repositories: Repositories, folder: Path
) -> None:
    repositories.make("one")
    await cloned(cloning(), repositories.url("one"), folder)
    (folder / ".git").rename(folder.parent / ".git")  # which is no repository of the clone
    await cloning().note_state(folder)
    state = clone_folder.kept_state(folder)
    assert state.pushed is None
    assert "no repository any more" in state.told


def test_of_a_state_that_cannot_be_read_nothing_is_known(tmp_path: Path) -> None:
    folder = tmp_path / "ses_a"
    assert clone_folder.kept_state(folder) == clone_folder.UNKNOWN
    clone_folder.keep_state(folder, CloneState(pushed=True))
    assert clone_folder.kept_state(folder).pushed is True
    (tmp_path / "ses_a.json").write_text('{"pushed": "yes"}')
    assert clone_folder.kept_state(folder) == clone_folder.UNKNOWN
    (tmp_path / "ses_a.json").unlink()
    (tmp_path / "ses_a.json").symlink_to(tmp_path / "other")
    (tmp_path / "other").write_text('{"pushed": true}')
    assert clone_folder.kept_state(folder) == clone_folder.UNKNOWN
