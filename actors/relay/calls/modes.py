"""How freely a prompted agent works: what a call named, its caller's mode, and what the session has: pure."""

from collections.abc import Mapping
from typing import Any, Final

from showcaller.actors.contract.arguments import Mode

STRICT_TO_LOOSE: Final[tuple[Mode, ...]] = ("ask", "plan", "agent", "autopilot")


def mode_of_turn(row: Mapping[str, Any]) -> Mode:
    """Give the mode of the turn that runs in a session, else the session's own; ``row`` as it is loaded."""
    for message in row["unfinished"]:
        if message["status"] == "handed" and message["steered_into"] is None and message["mode"] is not None:
            return known_mode(message["mode"])
    return known_mode(row["mode"])


def known_mode(mode: str) -> Mode:
    """Give a mode that was stored; what is none, after damage, is the strictest."""
    modes: dict[str, Mode] = {each: each for each in STRICT_TO_LOOSE}
    return modes.get(mode, STRICT_TO_LOOSE[0])


def mode_of_prompt(named: str | None, callers: str | None, sessions: str, *, started_by_caller: bool) -> str:
    """Say in which mode a session runs a prompt.

    Args:
        named: the mode that the call names, which holds.
        callers: the mode of the calling agent's session, which comes along; None for the owner.
        sessions: the mode that the session has; the caller's never loosens one that it did not start.
        started_by_caller: the caller started the session.

    """
    if named is not None:
        return named
    if callers is None:
        return sessions
    return callers if started_by_caller else min(callers, sessions, key=STRICT_TO_LOOSE.index)


def looser_than(mode: str) -> tuple[Mode, ...]:
    """Give the modes in which an agent is freer."""
    return STRICT_TO_LOOSE[STRICT_TO_LOOSE.index(known_mode(mode)) + 1 :]
