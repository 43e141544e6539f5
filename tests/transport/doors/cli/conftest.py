"""The command line in this process, against a fake relay."""

import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import NamedTuple

import pytest

from showcaller.transport.doors.cli.group import run
from showcaller.transport.doors.cli.output import RESULTS
from tests.transport.doors.cli.fake import FakeRelay


class Ended(NamedTuple):
    """What one command line left behind."""

    code: int
    out: str
    err: str


ShowCaller = Callable[..., Ended]


@pytest.fixture
def relay() -> FakeRelay:
    return FakeRelay()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with something in it, named by the environment."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "relay.db").touch()
    monkeypatch.setenv("SHOWCALLER_HOME", str(folder))
    return folder


@pytest.fixture
def showcaller(relay: FakeRelay, home: Path, capfd: pytest.CaptureFixture[str]) -> Generator[ShowCaller]:
    """Run one command line and give its exit code and output."""

    def call(*arguments: str) -> Ended:
        code = run(arguments, relay.open, "1.2.3")
        out, err = capfd.readouterr()
        return Ended(code, out, err)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["showcaller"])
        yield call
    # What was taken for this one process of many commands is given back; capfd puts descriptor 1 right.
    if RESULTS.taken is not None:
        os.close(RESULTS.taken.fileno())
        RESULTS.taken = None
