"""What becomes of a turn whose worker has died, told from what that worker has left."""

from collections.abc import Mapping
from typing import Literal

from showcaller.actors.contract.worker import TurnEnded

Left = Mapping[str, TurnEnded | None]
"""The turns that a dead worker had taken, each with its end if it had one."""
Fate = TurnEnded | Literal["untaken", "unknown"]
"""Its end; or that no agent has had it; or that it may have run in part, and nobody knows."""


def fate_of(turn: str, left: Left | None) -> Fate:
    """Give the fate of a turn; ``left`` is None for a worker of which nothing is known. Pure."""
    if left is None:
        return "unknown"
    if turn not in left:
        return "untaken"
    return left[turn] or "unknown"
