"""Commands that look at a relay, or end it, where it hangs: it takes connections, and answers nothing."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from showcaller.transport.doors.http import channel
from showcaller.transport.doors.http.token import own_token
from showcaller.transport.doors.http.whereabouts import Whereabouts
from tests.transport.doors.cli.conftest import ShowCaller


@pytest.fixture
def hanging(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(channel, "ANSWER_SECONDS", 0.2)
    own_token(home)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        Whereabouts.of_this_process(listening.getsockname()[1], "1.2.3").write(home)
        yield


@pytest.mark.usefixtures("hanging")
@pytest.mark.timeout(20)
def test_a_relay_that_hangs_is_told_of_and_how_to_end_it(showcaller: ShowCaller) -> None:
    looked, stopped, examined = showcaller("status"), showcaller("stop"), showcaller("doctor")
    assert (looked.code, "does not answer" in looked.err) == (3, True)
    assert (stopped.code, f"kill -9 {os.getpid()}" in stopped.err) == (1, True)
    assert (examined.code, "does not answer" in examined.out) == (1, True)
