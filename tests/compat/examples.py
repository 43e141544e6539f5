"""pykka's documented examples, once as they are and once with only the base class replaced."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.compat import running, sources

# Names are looked up without a network, and always with the same result: what is compared is the actors.
FAKE_LOOKUP = '''
"""Answers for even addresses, fails for odd ones."""

import socket


def lookup(address: str) -> tuple[str, list[str], list[str]]:
    if int(address.rpartition(".")[2]) % 2:
        raise socket.herror(1, "Unknown host")
    return f"host-{address}", [], [address]


socket.gethostbyaddr = lookup
'''

BASE = re.compile(r"^(class \w+)\((?:pykka\.)?ThreadingActor\):", re.MULTILINE)
IMPORT = re.compile(r"^(import pykka|from pykka import)", re.MULTILINE)
THREAD = re.compile(r"^(?!MainThread)[^:]*: ", re.MULTILINE)


@dataclass(frozen=True)
class Examples:
    """Two copies of the examples: pykka's own, and the one with our base class."""

    theirs: Path
    ours: Path

    @property
    def names(self) -> list[str]:
        """Name the modules."""
        return sorted(path.stem for path in self.theirs.glob("*.py"))

    def printed(self, name: str) -> tuple[str, str]:
        """Run one in both forms, and give what each printed."""
        return _printed(self.theirs, name), _printed(self.ours, name)


def prepare(source: Path, scratch: Path) -> Examples:
    """Make the two copies in a scratch folder."""
    theirs = sources.copy(source, scratch / "theirs", "examples")
    ours = sources.copy(source, scratch / "ours", "examples")
    for path in ours.glob("*.py"):
        path.write_text(replace_base(path.read_text(encoding="utf-8")), encoding="utf-8")
    for folder in (theirs, ours):
        (folder / "sitecustomize.py").write_text(FAKE_LOOKUP, encoding="utf-8")
    return Examples(theirs, ours)


def replace_base(text: str) -> str:
    """Let the actor classes in a module inherit from ours, and change nothing else."""
    replaced, count = BASE.subn(r"\1(Actor):", text)
    return IMPORT.sub(r"from showcaller import Actor\n\1", replaced, count=1) if count else text


def _printed(folder: Path, name: str) -> str:
    done = running.run(f"{name}.py", cwd=folder, folders=(folder,))
    if done.returncode != 0:
        raise AssertionError(f"{folder / name}.py ended with exit code {done.returncode}:\n{done.stdout}")
    return done.stdout


def until_it_relaxes(folder: Path, name: str, last_line: str) -> str:
    """Run an example that never ends, up to a line with this text; gives all it printed until then."""
    process = subprocess.Popen(
        [sys.executable, "-u", f"{name}.py"],
        cwd=folder,
        env=running.environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    lines: list[str] = []
    with process:
        for line in process.stdout:
            lines.append(line)
            if last_line in line:
                break
        process.kill()
    return "".join(lines)


def without_thread_names(text: str) -> list[str]:
    """Give the lines in alphabetical order, threads of actors unnamed: they share threads, and lines race."""
    return sorted(THREAD.sub("actor: ", text).splitlines())
