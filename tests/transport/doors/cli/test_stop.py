"""``showcaller stop`` where a process has no descriptor to wait at."""

import os
import subprocess
import sys

import pytest

from showcaller.transport.doors.cli.commands import stop
from showcaller.transport.doors.http.whereabouts import Whereabouts
from showcaller.transport.worker.process_identity import identify


def none_here(pid: int) -> int:
    raise OSError(38, "Function not implemented")


@pytest.mark.parametrize("has_it", [False, True])
def test_the_end_of_a_relay_is_seen_where_it_cannot_be_waited_for(
    has_it: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    if has_it:
        monkeypatch.setattr(os, "pidfd_open", none_here, raising=False)
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    ) as process:
        known = identify(process.pid)
        running = Whereabouts(pid=known.pid, process_started=known.started, port=1, version="1")
        assert not stop._ended(running, 0.3)
        process.communicate(b"")
        assert stop._ended(running, 10.0)
