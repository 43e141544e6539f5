"""How pykka's programs are run: in a fresh interpreter that finds our package, and no settings of ours."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def environment(*folders: Path) -> dict[str, str]:
    """Give an environment without settings of Python and pytest, with these folders and ours to import."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    path = os.pathsep.join(str(folder) for folder in (*folders, ROOT))
    quiet = {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return {**plain, **quiet, "PYTHONPATH": path, "MYPYPATH": path}


def run(
    *arguments: str, cwd: Path, folders: tuple[Path, ...] = (), timeout: float = 60
) -> "subprocess.CompletedProcess[str]":
    """Run Python with these arguments; gives its exit code and output, or raises ``TimeoutExpired``."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment(*folders),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=timeout,
    )


@contextmanager
def busy_machine(processes: int) -> Generator[None]:
    """Keep that many processes computing meanwhile."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()
