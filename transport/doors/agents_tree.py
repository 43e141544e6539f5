"""Whether this process runs where an agent of a relay does: below one of its workers."""

import os
from collections.abc import Mapping
from typing import Final

from showcaller.transport.worker.process_table import markers_of, stat_of

WORKERS_VARIABLE: Final = "SHOWCALLER_WORKERS"
"""Names the workers around, in the environment of all that they start."""
MOST_ANCESTORS: Final = 256


def is_below_a_worker(environment: Mapping[str, str], pid: int | None = None) -> bool:
    """Tell whether a worker's mark is in this environment, or on ``pid`` or a process above it.

    Left out, ``pid`` is this process's parent: an agent that has emptied its own environment stays one.
    """
    if environment.get(WORKERS_VARIABLE):
        return True
    above = os.getppid() if pid is None else pid
    for _ in range(MOST_ANCESTORS):
        stat = stat_of(above) if above > 1 else None
        if stat is None:
            return False
        if markers_of(above, WORKERS_VARIABLE):
            return True
        above = stat.parent
    return False
