"""One measurement in this fresh process: ``python -m bench.measuring ROW BY COUNT`` prints the figure."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from bench import catalogue, peer
from bench.row import PLAIN, US, Measure, Row

ROOT = Path(__file__).resolve().parents[1]


class MeasurementFailed(Exception):
    """A job did not come to a figure; the message says why."""


def job(row: Row, by: str) -> Measure:
    """Find who does the job of a row."""
    if by == US:
        return row.measure
    if by == PLAIN:
        if row.plain is None:
            raise KeyError(f"{row.name} has no plain form to compare with")
        return row.plain
    return peer.by_name(by).jobs()[row.name]


def in_fresh_process(row: Row, by: str, count: int, limit: float) -> float:
    """Measure in a process of its own, ended with all its children after ``limit`` seconds.

    Raises ``MeasurementFailed``.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.measuring", row.name, by, str(count)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired as expired:
        raise MeasurementFailed(f"{by} came to no end within {limit:.0f} s") from expired
    finally:
        _end(process)
    if process.returncode != 0:
        last = errors.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
        raise MeasurementFailed(f"{by}: {last[0]}")
    return float(json.loads(output.splitlines()[-1]))


def _end(process: "subprocess.Popen[str]") -> None:
    """Leave nothing behind: a peer may have started processes of its own."""
    with suppress(ProcessLookupError):  # when all of them have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def main(row_name: str, by: str, count: str) -> None:
    """Measure and print; the process ends at once, whatever threads the job has left."""
    figure = job(catalogue.by_name(row_name), by)(int(count))
    print(json.dumps(figure), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
