"""The words in which people read a session's state: derived here and nowhere else in this door."""

from collections.abc import Mapping
from typing import Any

_RUNNING = {"running_turn": "working", "background_only": "background"}
_PROMPTS = {"waiting_for_answer": "waiting for you", "cancelled": "withdrawn"}
IDLE = "idle"
ARCHIVED = "archived"
BESIDE = " · "
_COLOURS = {
    "working": "green",
    "background": "cyan",
    "waiting for you": "yellow",
    "paused by a limit": "yellow",
    "failed": "red",
    "interrupted": "magenta",
    "done": "green",
}


def state_word(session: Mapping[str, Any]) -> str:
    """Give the word or phrase for a session as a call's result describes it; if idle, with its last turn.

    One that was archived is idle for good, and says that instead. What waits comes first, so that a session
    which waits for a person is never shown as working.
    """
    waiting = session.get("waiting")
    if waiting:
        return "paused by a limit" if waiting == "limit" else "waiting for you"
    running = _RUNNING.get(str(session.get("state")))
    if running:
        return running
    if session.get("queued"):
        return "queued"
    word, last = ARCHIVED if session.get("archived") else IDLE, session.get("lastTurn")
    return f"{word}{BESIDE}{last}" if last else word


def word_colour(word: str) -> str | None:
    """Give the colour in which a state or a status is shown, None for the terminal's own."""
    return _COLOURS.get(word.rpartition(BESIDE)[2])


def end_word(ended: Mapping[str, Any]) -> str:
    """Give the word for what became of a prompt, as ``wait`` describes it."""
    if ended.get("stopReason") == "interrupted":
        return "interrupted"
    status = str(ended.get("status"))
    return _PROMPTS.get(status, status)
