"""The command line in a process of its own, against a fake relay."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os, signal, sys, threading
from showcaller.transport.doors.cli.group import run
from tests.transport.doors.cli.fake import FakeRelay
relay = FakeRelay()
def prepare(run):
    run.before = {before}
relay.prepare = prepare
sys.exit(run(sys.argv[1:], relay.open, "1.2.3"))
"""


def program(before: str, home: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(before=before), "--home", str(home), "fanout", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
