"""Running ``showcaller`` as a process, and hearing from the commands that it runs."""

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

PROGRAM = Path(sys.executable).with_name("showcaller")
LIMIT = 60.0


class Ended(NamedTuple):
    """What one command line left behind."""

    code: int
    out: str
    err: str

    @property
    def results(self) -> list[dict[str, Any]]:
        """The results among its JSON Lines, without the summary."""
        return [line for line in map(json.loads, self.out.splitlines()) if "summary" not in line]

    @property
    def summary(self) -> dict[str, Any]:
        """The summary that is the last of its JSON Lines."""
        summary: dict[str, Any] = json.loads(self.out.splitlines()[-1])["summary"]
        return summary

    @property
    def by_item(self) -> dict[Any, dict[str, Any]]:
        """The result of each item; there must be one for each."""
        found = {result["item"]: result for result in self.results}
        assert len(found) == len(self.results), "an item has several results"
        return found


class Showcaller:
    """The program with a data folder of its own, run in a folder of its own."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.folder = folder

    @contextmanager
    def start(self, *arguments: str, stdin: int = subprocess.DEVNULL) -> "Generator[subprocess.Popen[str]]":
        """Start it in a process group of its own, which is gone after the ``with``."""
        with subprocess.Popen(
            [str(PROGRAM), *arguments],
            cwd=self.folder,
            env=self._environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    def __call__(self, *arguments: str, stdin: str | None = None) -> Ended:
        """Run it to its end, inside a limit."""
        source = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        with self.start(*arguments, stdin=source) as process:
            return finish(process, stdin)

    def with_little_space(self, kibibytes: int, *arguments: str) -> Ended:
        """Run it where no file may grow beyond a size, which stands for a full disk."""
        limited = f'ulimit -f {kibibytes} && exec "$@"'
        ended = subprocess.run(
            ["bash", "-c", limited, "bash", str(PROGRAM), *arguments],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "SHOWCALLER_HOME": str(self.home), "COLUMNS": "200"}


def finish(process: "subprocess.Popen[str]", stdin: str | None = None) -> Ended:
    """Wait for its end inside a limit, and give what it left behind."""
    out, err = process.communicate(stdin, timeout=LIMIT)
    return Ended(process.returncode, out, err)


def group_of(err: str) -> str:
    """Give the group that standard error says how to go on with."""
    found = re.search(r"--resume (\S+)", err)
    assert found, err
    return found.group(1)


class Bell:
    """A named pipe in which commands ring, one line each, and another at which they wait to be let go."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "bell"
        self.gate = folder / "gate"
        for path in (self.path, self.gate):
            os.mkfifo(path)
        # Open for both directions: no end of the pipe ever blocks or sees the other end gone.
        self._bell = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)
        self._gate = os.open(self.gate, os.O_RDWR | os.O_NONBLOCK)
        self._heard = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let go whatever still waits."""
        self.open_gate(64)
        os.close(self._gate)
        os.close(self._bell)

    @property
    def ring(self) -> str:
        """Shell words that ring with the text in ``$1``… of ``printf``."""
        return f"printf '%s\\n' {{}} > {self.path}"

    @property
    def wait(self) -> str:
        """Shell words that wait until the gate opens for one."""
        return f"read _ < {self.gate}"

    def hear(self, count: int) -> list[str]:
        """Wait for so many rings, inside a limit, and give their lines."""
        while self._heard.count(b"\n") < count:
            ready, _, _ = select.select([self._bell], [], [], LIMIT)
            assert ready, f"heard {self._heard!r} and no more"
            self._heard += os.read(self._bell, 65536)
        lines = self._heard.split(b"\n")
        self._heard = b"\n".join(lines[count:])
        return [line.decode() for line in lines[:count]]

    def heard(self) -> list[str]:
        """Give the lines of all rings up to now."""
        ready, _, _ = select.select([self._bell], [], [], 0)
        if ready:
            self._heard += os.read(self._bell, 65536)
        return self.hear(self._heard.count(b"\n"))

    def open_gate(self, count: int) -> None:
        """Let so many go."""
        os.write(self._gate, b"\n" * count)


def database(home: Path) -> Path:
    """Give the one database in a data folder."""
    (found,) = (path for path in home.rglob("*") if path.is_file() and path.read_bytes()[:6] == b"SQLite")
    return found


def alive(pids: Sequence[int]) -> list[int]:
    """Give those of the processes that still run (a zombie does not)."""
    return [pid for pid in pids if _state(pid) not in (None, "Z", "X")]


def _state(pid: int) -> str | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return None
