"""The clone that a session works on: made once, whole or not at all, and looked at when a turn has ended."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from showcaller.actors.contract.agent_messages import CloneSource
from showcaller.actors.contract.repositories import may_clone_from, read_repository
from showcaller.transport.worker import clone_folder
from showcaller.transport.worker.clone_folder import CloneState
from showcaller.transport.worker.git import (
    KEPT,
    EndedError,
    NoGitError,
    Ran,
    git_environment,
    owners_environment,
    run_git,
    settings_in,
)
from showcaller.transport.worker.text import bounded, valid

LOOK: Final = 1.0
"""Seconds between two looks at how large a clone has become."""
HALTED: Final = "its turn was ended"
WORDS: Final = 600


class NotClonedError(Exception):
    """A session has no clone to work on; the text says why. Nothing half made is left."""


class CloneLimits(NamedTuple):
    """What a clone may take: bytes on disk, seconds to make it, and seconds to look at it."""

    most_bytes: int = 4 * 1024**3
    seconds: float = 900.0
    look: float = 20.0


USUAL_LIMITS: Final = CloneLimits()


class Cloning:
    """Makes and looks at the clones of one worker. On its event loop; not thread-safe.

    ``environment`` and ``leaders`` are as agents' processes have them.
    """

    def __init__(
        self, environment: Callable[[], Mapping[str, str]], leaders: set[int], limits: CloneLimits
    ) -> None:
        self._environment = environment
        self._leaders = leaders
        self._limits = limits

    async def ensure(
        self, source: CloneSource, folder: Path, halted: asyncio.Event, *, continues: bool
    ) -> None:
        """Have the clone there: made now, unless the conversation that ``continues`` had it already.

        Raises NotClonedError; also when ``halted`` is set meanwhile, which ends it.
        """
        if not source.url:
            raise NotClonedError(
                "This agent works on a fresh clone, and its session names no repository: start a new session "
                "that names one."
            )
        try:
            if clone_folder.is_there(folder):
                return
            if continues:
                raise NotClonedError(
                    f"The clone {folder}, in which this conversation worked, is not there any more. Nothing "
                    "was cloned in its place; for a fresh clone start a new session."
                )
            await self._make(source, folder, halted)
        except OSError as error:
            raise NotClonedError(f"The repository {source.url} was not cloned: {error}.") from error

    async def note_state(self, folder: Path) -> None:
        """Look at what is not pushed, and keep it beside the clone; raises OSError."""
        clone_folder.keep_state(folder, await self.look(folder))

    async def look(self, folder: Path) -> CloneState:
        """Say what of a clone is not pushed."""
        try:
            ceiling = {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
            environment = {**git_environment(self._environment()), **ceiling}
            status = ["status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=all"]
            files = await self._run(status, environment, folder)
            local = ["--branches", "--glob=refs/stas[h]"]
            counted = ["rev-list", "--count", *local, "--not", "--remotes"]
            commits = await self._run([*counted, "--not", "HEAD"], environment, folder)
            if commits.status:  # there is no commit yet at which HEAD could be
                commits = await self._run(counted, environment, folder)
        except (NoGitError, EndedError) as error:
            return CloneState(pushed=None, told=f"what is not pushed could not be looked at: {error}"[:WORDS])
        if files.status or commits.status or not commits.text.strip().isdigit():
            return CloneState(
                pushed=None, told="it is no repository any more, so what is pushed is not known"
            )
        return _state(int(commits.text), files.text.count("\0"), is_cut=files.is_cut)

    async def _run(self, arguments: list[str], environment: Mapping[str, str], folder: Path) -> Ran:
        watch = _after(self._limits.look)
        return await run_git(arguments, environment, self._leaders, watch, cwd=str(folder), with_errors=False)

    async def _make(self, source: CloneSource, folder: Path, halted: asyncio.Event) -> None:
        try:
            repository = read_repository(source.url)
        except ValueError as error:
            raise _not_cloned(source, str(error)) from error
        if not may_clone_from(repository, source.hosts):
            raise _not_cloned(source, f"the owner of this relay does not allow the host {repository.host}")
        clone_folder.make_parent(folder)
        part = clone_folder.unfinished(folder)
        await asyncio.to_thread(clone_folder.remove, part)
        try:
            ran = await self._clone(repository.url, source.branch, part, halted)
            if ran.status:
                raise _not_cloned(source, _words(ran.text))
            if await asyncio.to_thread(clone_folder.is_larger, part, self._limits.most_bytes):
                raise _not_cloned(source, self._too_large())
            part.rename(folder)
        except (NoGitError, EndedError) as error:
            raise _not_cloned(source, str(error)) from error
        finally:
            await asyncio.to_thread(clone_folder.remove, part)

    async def _clone(self, url: str, branch: str | None, part: Path, halted: asyncio.Event) -> Ran:
        around = self._environment()
        config = ["config", "--includes", "--null", "--get-regexp", KEPT]
        own = owners_environment(around)
        kept = await run_git(config, own, self._leaders, _after(self._limits.look), with_errors=False)
        environment = git_environment(around, settings_in(kept.text) if kept.status == 0 else ())
        named = [] if branch is None else [f"--branch={branch}"]
        options = ["--template=", "--no-recurse-submodules", "--origin=origin", *named]
        watch = self._watch(part, halted)
        return await run_git(["clone", *options, "--", url, str(part)], environment, self._leaders, watch)

    async def _watch(self, part: Path, halted: asyncio.Event) -> str:
        """Give the reason to end a clone, once there is one."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._limits.seconds
        while (left := until - loop.time()) > 0:
            if await _is_set_within(halted, min(LOOK, left)):
                return HALTED
            if await asyncio.to_thread(clone_folder.is_larger, part, self._limits.most_bytes):
                return self._too_large()
        return f"it took longer than {self._limits.seconds:g} s"

    def _too_large(self) -> str:
        return f"it is larger than {self._limits.most_bytes:,} bytes"


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


async def _after(seconds: float) -> str:
    await _is_set_within(asyncio.Event(), seconds)
    return f"git took longer than {seconds:g} s"


def _state(commits: int, files: int, *, is_cut: bool) -> CloneState:
    told = []
    if commits:
        told.append("1 commit" if commits == 1 else f"{commits} commits")
    if files:
        number = "very many" if is_cut else str(files)
        told.append("1 changed file" if number == "1" else f"{number} changed files")
    return CloneState(pushed=not told, told=" and ".join(told))


def _not_cloned(source: CloneSource, why: str) -> NotClonedError:
    branch = "" if source.branch is None else f" (branch {source.branch})"
    told = f"The repository {source.url}{branch} was not cloned: {why}. Nothing of it is left."
    return NotClonedError(told)


def _words(text: str) -> str:
    """Give what git wrote last, on one line. Pure."""
    lines = [line.strip() for line in text.splitlines() if not line.startswith("Cloning into")]
    told = "; ".join([line for line in lines if line][-6:]) or "git failed and did not say why"
    return bounded(valid(told), 0, WORDS)[0].rstrip(".")
