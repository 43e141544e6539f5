"""Real agents from npm, put once into a cache outside the checkout, and found on a path of their own."""

import fcntl
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest

CACHE = "SHOWCALLER_AGENTS_CACHE"
PATIENCE = 300.0  # seconds for one installation from npm


class Package(NamedTuple):
    """A package of npm, and the program of its that is linked under the agent's name."""

    agent: str
    program: str
    spec: str
    file: str

    @property
    def folder(self) -> str:
        """The name of its folder in the cache: another version is another folder."""
        return f"{self.agent}-{self.spec.rpartition('@')[2]}-{_platform()}"


def _platform() -> str:
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
    return f"{platform.system().lower()}-{machine.get(platform.machine().lower(), platform.machine())}"


def packages() -> dict[str, Package]:
    """Give the packages by the names of their agents.

    Versions are those whose ways are known; scripts of packages are never run, so that OpenCode is the
    platform's own package.
    """
    opencode = f"opencode-{_platform()}"
    all_of_them = (
        Package(
            "claude",
            "claude-agent-acp",
            "@agentclientprotocol/claude-agent-acp@0.49.0",
            "node_modules/.bin/claude-agent-acp",
        ),
        Package("codex", "codex-acp", "@zed-industries/codex-acp@0.16.0", "node_modules/.bin/codex-acp"),
        Package("opencode", "opencode", f"{opencode}@1.18.33", f"node_modules/{opencode}/bin/opencode"),
    )
    return {package.agent: package for package in all_of_them}


def program_folder(package: Package) -> Path:
    """Give a folder in which the agent's program stands under its name, installing it if need be.

    Where npm, node or the registry is not to be had, the test is skipped with the reason; in CI it fails.
    """
    for needed in ("node", "npm"):
        if shutil.which(needed) is None:
            _not_here(f"{needed} is not installed, and {package.agent} comes from npm and runs on Node.js")
    cache = _cache()
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / package.folder
    with _locked(cache / f"{package.folder}.lock"):
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            _install(package, folder)
        os.utime(folder)
    return folder / "bin"


def _install(package: Package, folder: Path) -> None:
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps({"private": True}))
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    command = ["npm", "install", *options, package.spec]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        _not_here(f"npm did not bring {package.spec} within {PATIENCE:g} s")
    if done.returncode != 0 or not (folder / package.file).exists():
        _not_here(f"npm did not bring {package.spec}: {done.stderr.strip()[-500:]}")
    (folder / "bin").mkdir()
    (folder / "bin" / package.program).symlink_to(Path("..") / package.file)
    (folder / "complete").touch()


def _not_here(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def _cache() -> Path:
    named = os.environ.get(CACHE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / f"showcaller-ci-{os.getuid()}" / "agents"


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Hold a lock beside the folder, so that two runs do not install at the same time."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
