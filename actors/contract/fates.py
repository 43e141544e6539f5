"""What becomes of a turn whose worker has died, told from what that worker has left."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from showcaller.actors.contract.worker import TurnEnded


class Left(NamedTuple):
    """What a dead worker has left: the turns that it had taken, each with its end if it had one.

    Not ``is_whole``: it may have taken others too, for the machine has gone down since, and with it what was
    on its way to the disk.
    """

    turns: Mapping[str, TurnEnded | None]
    is_whole: bool = True


Fate = TurnEnded | Literal["untaken", "unknown"]
"""Its end; or that no agent has had it; or that it may have run in part, and nobody knows."""


def fate_of(turn: str, left: Left | None) -> Fate:
    """Give the fate of a turn; ``left`` is None for a worker of which nothing is known. Pure."""
    if left is None:
        return "unknown"
    if turn not in left.turns:
        return "untaken" if left.is_whole else "unknown"
    return left.turns[turn] or "unknown"
