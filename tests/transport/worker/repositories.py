"""Repositories on this machine that are cloned over ssh, whose program is a script of the test's."""

import os
import shlex
import stat
import subprocess
from pathlib import Path

import pytest

HOST = "git.test"
ADDRESS = f"ssh://{HOST}"
QUIET = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "protocol.file.allow=always")


def git(folder: Path, *words: str) -> str:
    """Run git in a folder as somebody who works there."""
    done = subprocess.run(
        ["git", *IDENTITY, *words],
        cwd=folder,
        env={**os.environ, **QUIET},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def executable(file: Path, text: str) -> Path:
    """Write a script."""
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def commit(folder: Path, name: str, text: str = "text\n") -> None:
    """Commit one file."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", name)


class Repositories:
    """A folder of repositories, with what makes git reach it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        # The last argument is what ssh would run there: git-upload-pack or git-receive-pack, and a path.
        ssh = executable(folder / "ssh", 'for last; do :; done; exec sh -c "$last"')
        self.environment = {**os.environ, "HOME": str(self.home), "GIT_SSH_COMMAND": shlex.quote(str(ssh))}

    def make(self, name: str, branch: str = "main") -> Path:
        """Make a repository to clone, with one commit; gives a folder to work in, which pushes to it."""
        bare, work = self.folder / f"{name}.git", self.folder / name
        git(self.folder, "init", "-q", "--bare", "-b", branch, str(bare))
        git(self.folder, "clone", "-q", str(bare), str(work))
        commit(work, "README", "read me\n")
        self.publish(work)
        return work

    def publish(self, work: Path) -> None:
        """Push all of what is in a folder."""
        git(work, "push", "-q", "origin", "--all")

    def url(self, name: str) -> str:
        """Give the address of a repository."""
        return f"{ADDRESS}{self.folder}/{name}.git"


def one_within_reach(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Repositories:
    """Make a repository ``one``, and have the environment of this process reach it."""
    made = Repositories(folder)
    made.make("one")
    for name in ("HOME", "GIT_SSH_COMMAND"):
        monkeypatch.setenv(name, made.environment[name])
    return made
