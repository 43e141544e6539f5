"""The one line that says what a call did: ``send → desk session 3f9c2a1e: "Did last night's…"``."""

from typing import Final

from showcaller.actors.contract.foreign_text import quote_foreign

SHORT_ID: Final = slice(4, 12)
"""The part of a session's id that lines for people show."""


def summary(action: str, told: str, *, relay: str | None = None, session: str | None = None) -> str:
    """Make the summary of a call.

    Args:
        action: the action's name.
        told: what came of it, in words of ours; text of others in it is quoted (``quoted``).
        relay: the relay it worked on, for actions that name one.
        session: the whole id of the session it worked on, if any.

    """
    place = "" if relay is None else f" → {_plain(relay)}"
    if session is not None:
        place += f" session {session[SHORT_ID]}"
    return f"{action}{place}: {told}"


def quoted(text: str, longest: int = 40) -> str:
    """Quote the beginning of a text's first line that says something, for a summary."""
    first = text.strip().split("\n", 1)[0].strip()
    shown = f"{first}…" if first != text.strip() and len(first) + 3 <= longest else first
    return quote_foreign(shown, longest)


def counted(count: int, thing: str) -> str:
    """Say how many there are of a thing whose plural is regular."""
    return f"1 {thing}" if count == 1 else f"{count:,} {thing}s"


def _plain(name: str) -> str:
    """Give the name of a relay as it is, or quoted where it could be taken for more than a name."""
    shown = quote_foreign(name, 64)
    return name if shown == f'"{name}"' and " " not in name and ":" not in name else shown
