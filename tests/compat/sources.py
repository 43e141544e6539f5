"""pykka's source distribution: fetched with pip, kept outside the checkout, never committed."""

import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

import platformdirs

SERIES = "4.5"


class Unreachable(Exception):
    """The sources could not be had; the message says why and what would help."""


def installed_version() -> str:
    """Name the pykka that our actors are built on here; raises ``Unreachable`` outside the series we know."""
    found = version("pykka")
    if not found.startswith(f"{SERIES}."):
        raise Unreachable(
            f"pykka {found} is installed, and this suite knows {SERIES}.x: pip install 'pykka=={SERIES}.*'"
        )
    return found


def cache_folder() -> Path:
    """Say where the sources are kept: the user's cache, or the temporary folder where there is none."""
    chosen = platformdirs.user_cache_path("showcaller-compat")
    try:
        chosen.mkdir(parents=True, exist_ok=True)
    except OSError:
        chosen = Path(tempfile.gettempdir()) / "showcaller-compat"
        chosen.mkdir(mode=0o700, exist_ok=True)
    return chosen


def fetch(cache: Path | None = None) -> Path:
    """Give the folder with the sources of the installed pykka; raises ``Unreachable``.

    The folder is made in one step, so two that fetch at once do not disturb each other.
    """
    name = f"pykka-{installed_version()}"
    folder = (cache or cache_folder()) / name
    if folder.is_dir():
        return folder
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetching-") as scratch:
        archive = _download(name, Path(scratch))
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        if not folder.is_dir():
            _move(Path(scratch) / name, folder)
    return folder


def _download(name: str, target: Path) -> Path:
    requirement = name.replace("-", "==")
    arguments = ["--quiet", "--no-deps", "--no-binary=pykka", f"--dest={target}", requirement]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    archives = list(target.glob("*.tar.gz"))
    if done.returncode != 0 or len(archives) != 1:
        last = done.stdout.strip().splitlines()[-1:] or ["it said nothing"]
        raise Unreachable(f"pip could not download the sources of {requirement}: {last[0]}")
    return archives[0]


def _move(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except OSError:
        if not target.is_dir():  # else another process was quicker, and has fetched the same
            raise


def copy(source: Path, target: Path, part: str) -> Path:
    """Copy one folder of the sources to where it may be changed; gives the copy."""
    copied = target / part
    shutil.copytree(source / part, copied, ignore=shutil.ignore_patterns("__pycache__"))
    return copied
