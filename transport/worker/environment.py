"""What a turn's work sees of the environment of the process that runs it."""

from collections.abc import Mapping
from typing import Final

from showcaller.transport.worker.process_table import marks_in
from showcaller.transport.worker.remains import WORKERS_VARIABLE

OURS: Final = "SHOWCALLER_"
TOKEN_VARIABLE: Final = "SHOWCALLER_TOKEN"  # noqa: S105 - the name of a variable
"""What a turn's agent process shows to be let in by its relay: good while the turn goes on, and a secret."""
HANDED_ON: Final = frozenset({"SHOWCALLER_HOME", "SHOWCALLER_DEBUG", WORKERS_VARIABLE})
"""Of ours, what a person sets for every program of ours that is started below, and a guardian's mark."""
SERVICE: Final = frozenset(
    {"NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PID", "WATCHDOG_PID", "WATCHDOG_USEC"}
)
"""What a service manager says to the one process that it has started."""


def inherited(around: Mapping[str, str]) -> dict[str, str]:
    """Give what work may see of the environment ``around`` it. Pure.

    Left out is what of ours is for somebody else: the variables of a turn in which this relay itself runs,
    which would pass for the turn's own, and whatever else bears our name.
    """
    handed_on = {name: value for name, value in around.items() if _is_handed_on(name)}
    if WORKERS_VARIABLE in handed_on:
        handed_on[WORKERS_VARIABLE] = marks_in(handed_on[WORKERS_VARIABLE])
    return handed_on


def _is_handed_on(name: str) -> bool:
    return name in HANDED_ON if name.startswith(OURS) else name not in SERVICE
