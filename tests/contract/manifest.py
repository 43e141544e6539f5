"""Reads the promises: what Showcaller's documents promise, and which test shows it."""

import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "promises"

_TOPIC = re.compile(r"# (?P<topic>\S.*)")
_PROMISE = re.compile(r"(?P<id>[a-z0-9]+(?:-[a-z0-9]+)*\.[a-z0-9]+(?:-[a-z0-9]+)*): (?P<promise>\S.*)")
_TEST = re.compile(r"    (?P<test>tests/\S+\.py(?:::\w+)+)")


class Promise(NamedTuple):
    """One promise: its id, the topic of its document, one line, and the tests that show it, if any."""

    id: str
    topic: str
    promise: str
    tests: tuple[str, ...]

    @property
    def planned(self) -> bool:
        """True when no test shows it yet."""
        return not self.tests


def read_promises(text: str) -> list[Promise]:
    """Read one file of promises.

    Raises:
        ValueError: names the line that is neither a topic, a section, a promise nor a test.

    """
    topic = ""
    promises: list[Promise] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line.startswith("## "):
            continue
        if found := _TOPIC.fullmatch(line):
            topic = found["topic"]
        elif (found := _PROMISE.fullmatch(line)) and topic:
            promises.append(Promise(found["id"], topic, found["promise"], ()))
        elif (found := _TEST.fullmatch(line)) and promises:
            promises[-1] = promises[-1]._replace(tests=(*promises[-1].tests, found["test"]))
        else:
            raise ValueError(f"line {number} is no promise and no test: {line!r}")
    return promises


def all_promises() -> list[Promise]:
    """Read every file of promises, in the order of their names."""
    files = sorted(FOLDER.glob("*.txt"))
    return [promise for file in files for promise in read_promises(file.read_text(encoding="utf-8"))]
