"""Erlang/OTP: processes of the virtual machine; its module is compiled before each measurement, untimed."""

import subprocess
import tempfile
from pathlib import Path

from bench.row import Measure

SOURCE = Path(__file__).with_name("showcaller_bench.erl")
ROWS = (
    "tell-one",
    "tell-many",
    "ping-pong",
    "ring",
    "fan-out",
    "ask",
    "idle-actor",
    "spawn",
    "stop",
    "timers-create",
    "timers-fire",
    "timers-lateness",
)


def measure(row: str, count: int) -> float:
    """Run one job in a virtual machine of its own, and give what it prints."""
    with tempfile.TemporaryDirectory(prefix="bench-erlang-") as folder:
        _run(["erlc", "-o", folder, str(SOURCE)])
        room = ["+P", str(max(262_144, 2 * count))]  # processes that the machine makes room for
        started = ["-run", SOURCE.stem, "main", row, str(count)]
        return float(_run(["erl", *room, "-noshell", "-pa", folder, *started]))


def _run(command: list[str]) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(
            f"{command[0]} ended with exit code {done.returncode}: {done.stderr or done.stdout}"
        )
    return done.stdout


def release() -> str:
    """Name the OTP release, as in ``OTP 25``."""
    show = 'io:format("~s", [erlang:system_info(otp_release)]), halt(0).'
    return f"OTP {_run(['erl', '-noshell', '-eval', show])}"


def job(row: str) -> Measure:
    """Give the measure of one row."""
    return lambda count: measure(row, count)


JOBS: dict[str, Measure] = {row: job(row) for row in ROWS}
