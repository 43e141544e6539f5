"""Commands of the owner refuse where an agent of a relay runs them: it acts by its own token or not."""

import os
from collections.abc import Mapping
from typing import Final

from showcaller.transport.doors.agent_tokens import TOKEN_VARIABLE
from showcaller.transport.doors.cli.exits import USAGE, CommandError
from showcaller.transport.worker.process_table import markers_of, stat_of

WORKERS_VARIABLE: Final = "SHOWCALLER_WORKERS"
"""Names the workers around, in the environment of all that they start."""
OPEN_TO_AGENTS: Final = frozenset({"call", "mcp", "completion"})
MOST_ANCESTORS: Final = 256


def check_owner(command: str, environment: Mapping[str, str], pid: int | None = None) -> None:
    """Refuse an owner's command in an agent's environment; raises ``CommandError``.

    What tells one is the agent's token, a worker's mark, or such a mark on a process above ``pid``, which is
    this process's parent if it is left out: an agent that has emptied its own environment stays one.
    """
    if command in OPEN_TO_AGENTS:
        return
    marked = environment.get(TOKEN_VARIABLE) or environment.get(WORKERS_VARIABLE)
    if marked or _is_below_a_worker(os.getppid() if pid is None else pid):
        raise CommandError(
            f"'showcaller {command}' is for the relay's owner, and this runs inside of an agent's session.",
            "An agent may use: showcaller call, showcaller mcp",
            USAGE,
        )


def _is_below_a_worker(pid: int) -> bool:
    for _ in range(MOST_ANCESTORS):
        stat = stat_of(pid) if pid > 1 else None
        if stat is None:
            return False
        if markers_of(pid, WORKERS_VARIABLE):
            return True
        pid = stat.parent
    return False
