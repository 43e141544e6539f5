"""What the processes cost that wait for work: an idle daemon, and an idle bridge between a client and it."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.quantities import Unit
from bench.row import Row

PROGRAM: Final = [sys.executable, "-m", "showcaller"]
SETTLED: Final = 2.0
PING: Final = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
TICKS: Final = os.sysconf("SC_CLK_TCK")


@contextmanager
def daemon() -> Generator[tuple[int, Path]]:
    """Give the process and the data folder of a daemon that has answered; its workers end with it."""
    with tempfile.TemporaryDirectory(prefix="bench-idle-") as place:
        home = Path(place) / "home"
        named = ["--home", str(home)]
        with subprocess.Popen(
            [*PROGRAM, *named, "serve"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            try:
                if b"listens" not in process.stdout.readline():
                    raise RuntimeError("the daemon did not begin to listen")
                subprocess.run([*PROGRAM, *named, "status"], check=True, stdout=subprocess.DEVNULL)
                yield process.pid, home
            finally:
                subprocess.run(
                    [*PROGRAM, *named, "stop", "--workers"], check=False, stderr=subprocess.DEVNULL
                )
                process.wait(60)


@contextmanager
def bridge(home: Path) -> Generator[int]:
    """Give the process of a bridge that has carried one request; it ends after the ``with``."""
    environment = {**os.environ, "SHOWCALLER_TOKEN": (home / "token").read_text().strip()}
    with subprocess.Popen(
        [*PROGRAM, "--home", str(home), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(PING)
        process.stdin.flush()
        if json.loads(process.stdout.readline())["id"] != 1:
            raise RuntimeError("the bridge did not answer")
        try:
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.stdin.close()


def held(pid: int) -> float:
    """Give the bytes that a process holds in physical memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024.0


def processor_seconds(pid: int) -> float:
    """Give the seconds of a core that a process has used."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS


def wakeups(pid: int) -> int:
    """Give how often the threads of a process have gone to sleep, and so have been woken."""
    statuses = [task / "status" for task in Path(f"/proc/{pid}/task").iterdir()]
    found = [
        re.search(r"^voluntary_ctxt_switches:\s+(\d+)", each.read_text(), re.MULTILINE) for each in statuses
    ]
    return sum(int(each[1]) for each in found if each is not None)


def daemon_memory(count: int) -> float:
    """Give the bytes of an idle daemon."""
    with daemon() as (pid, _):
        time.sleep(SETTLED)
        return held(pid)


def daemon_share(count: int) -> float:
    """Give the share of a core that an idle daemon uses over so many seconds; one tick at least."""
    with daemon() as (pid, _):
        time.sleep(SETTLED)
        before, began = processor_seconds(pid), time.perf_counter()
        time.sleep(count)
        return max(processor_seconds(pid) - before, 1 / TICKS) / (time.perf_counter() - began)


def daemon_wakeups(count: int) -> float:
    """Give the seconds between two wake-ups of an idle daemon, all its threads together."""
    with daemon() as (pid, _):
        time.sleep(SETTLED)
        before, began = wakeups(pid), time.perf_counter()
        time.sleep(count)
        return (time.perf_counter() - began) / max(wakeups(pid) - before, 1)


def bridge_memory(count: int) -> float:
    """Give the bytes of a bridge that has carried one request."""
    with daemon() as (_, home), bridge(home) as pid:
        time.sleep(SETTLED)
        return held(pid)


def bridge_start(count: int) -> float:
    """Give the seconds from the start of a bridge to the answer to its first request."""
    with daemon() as (_, home):
        took = []
        for _ in range(count):
            began = time.perf_counter()
            with bridge(home):
                took.append(time.perf_counter() - began)
        return sorted(took)[len(took) // 2]


def without_proc() -> str | None:
    """Say what is missing where the system does not tell of processes by files."""
    return None if Path("/proc/self/status").exists() else "it needs /proc"


ROWS: Final = (
    Row(
        name="daemon-memory",
        title="an idle daemon: memory",
        unit=Unit.BYTES,
        measure=daemon_memory,
        count=1,
        tiny=1,
        fixed=True,
        limit=120e6,
        missing=without_proc,
    ),
    Row(
        name="daemon-share",
        title="an idle daemon: share of a core",
        unit=Unit.TIMES,
        measure=daemon_share,
        count=30,
        tiny=1,
        fixed=True,
        limit=0.005,
        missing=without_proc,
    ),
    Row(
        name="daemon-wakeups",
        title="an idle daemon: time between two wake-ups",
        unit=Unit.SECONDS,
        measure=daemon_wakeups,
        count=30,
        tiny=1,
        fixed=True,
        missing=without_proc,
    ),
    Row(
        name="bridge-memory",
        title="an idle stdio bridge: memory",
        unit=Unit.BYTES,
        measure=bridge_memory,
        count=1,
        tiny=1,
        fixed=True,
        limit=20e6,
        missing=without_proc,
    ),
    Row(
        name="bridge-start",
        title="a stdio bridge: start to first answer",
        unit=Unit.SECONDS,
        measure=bridge_start,
        count=11,
        tiny=1,
        fixed=True,
        limit=0.15,
        missing=without_proc,
    ),
)
