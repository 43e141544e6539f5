"""What a caller of ``read_task_output`` would get of the counts, short enough to write down."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from showcaller.actors.relay.terminal_text import render_tail
from showcaller.actors.relay.test_counts import count_tests

SAMPLES = Path(__file__).parent / "samples"


class Read(NamedTuple):
    """Passed, failed and skipped, as a runner told."""

    runner: str
    passed: int
    failed: int
    skipped: int
    final: bool = True


def read(*lines: str) -> Read | None:
    """Count the tests in lines, each of which may hold several."""
    counts = count_tests([line.rstrip() for each in lines for line in each.split("\n")])
    return Read(counts.runner, counts.passed, counts.failed, counts.skipped, counts.final) if counts else None


def raw(sample: str) -> str:
    """Give an output that is kept as its runner wrote it, with colours and movements."""
    with (SAMPLES / f"{sample}.txt").open(encoding="utf-8", newline="") as file:
        return file.read()


@cache
def rendered(sample: str) -> tuple[str, ...]:
    """Give the lines that a terminal shows of it."""
    return render_tail(raw(sample), 500).lines
