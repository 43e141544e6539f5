"""A checkout of the project, or a copy of one in which faults may be planted."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 600.0  # seconds that a tool may take where others use the machine too
ROOMS = ("actors", "transport", "store")
FOLDERS = ("showcaller", *ROOMS, "tests", "bench", "docs", ".ci")
FILES = ("setup.cfg", "pyproject.toml", "MANIFEST.in", "README.md", "CHANGELOG.md", "LICENSE")


class Outcome(NamedTuple):
    """How a program ended: its exit code, and what it wrote to both streams."""

    code: int
    text: str


def python_run(*arguments: str, cwd: Path, interpreter: str = sys.executable) -> Outcome:
    """Run a fresh interpreter in ``cwd``, untouched by the settings of the one that runs the tests."""
    return _run([interpreter, *arguments], cwd)


def tool_run(name: str, *arguments: str, cwd: Path) -> Outcome:
    """Run a development tool that stands beside this interpreter; skip where there is none, fail in CI."""
    beside = Path(sys.executable).with_name(name)
    program = str(beside) if beside.exists() else shutil.which(name)
    if program is None:
        message = f"{name} is not installed: pip install -e '.[test]'"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return _run([program, *arguments], cwd)


def _run(command: list[str], cwd: Path) -> Outcome:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MYPY"))}
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**plain, "NO_COLOR": "1", "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    return Outcome(done.returncode, done.stdout)


@dataclass(frozen=True)
class Checkout:
    """A folder that holds the project; ``caches`` is a folder that copies of it may share."""

    path: Path
    caches: Path

    def mypy(self) -> Outcome:
        """Check the types of the package, the tests and the benchmarks, as CI does."""
        packages = [f"--package={name}" for name in ("showcaller", "tests", "bench", "docs")]
        return tool_run("mypy", f"--cache-dir={self.caches / 'mypy'}", *packages, cwd=self.path)

    def pyright(self) -> Outcome:
        """Check the types of all that pyproject.toml includes, with the other checker."""
        return tool_run("pyright", f"--pythonpath={sys.executable}", cwd=self.path)

    def ruff(self) -> Outcome:
        """Lint everything; one line per fault."""
        return tool_run("ruff", "check", "--no-cache", "--output-format=concise", cwd=self.path)

    def imports(self, *contracts: str) -> Outcome:
        """Check the import contracts with these ids, or all of them."""
        chosen = [f"--contract={name}" for name in contracts]
        return tool_run("lint-imports", "--no-cache", *chosen, cwd=self.path)

    def plant(self, relative: str, text: str) -> None:
        """Write a module with a fault into this copy, together with its package where that is missing."""
        target = self.path / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        marker = target.with_name("__init__.py")
        if not marker.exists():
            marker.write_text('"""A package that holds a planted fault."""\n', encoding="utf-8")
        target.write_text(text, encoding="utf-8")


def copy(target: Path, caches: Path) -> Checkout:
    """Copy what belongs to the project to ``target``, links as links, caches and environments left out."""
    for name in FOLDERS:
        shutil.copytree(
            ROOT / name, target / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in FILES:
        shutil.copy2(ROOT / name, target / name)
    return Checkout(target, caches)


def texts() -> Iterator[Path]:
    """All files of the project that people wrote."""
    for name in FOLDERS:
        for path in (ROOT / name).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and not (ROOT / name).is_symlink():
                yield path
    yield from (ROOT / name for name in FILES)


def modules() -> Iterator[Path]:
    """All Python modules of the project, each once and by its real path."""
    for path in texts():
        if path.suffix == ".py":
            yield path
