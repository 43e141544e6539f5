"""Ids: a prefix that says of what, then 12 random characters; order lives in the store, not in the id."""

import re
import secrets
from collections.abc import Callable
from typing import Final, Literal, get_args

Prefix = Literal["ses_", "msg_", "grp_", "sub_", "sch_", "ask_", "q_", "tsk_", "wrk_", "rly_"]
"""Session, message, group, subscription, schedule, non-blocking question, card, task, worker, relay."""

ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
LENGTH: Final = 12
SHORTEST: Final = 6
"""Characters after ``ses_`` or ``grp_`` that name one at least, where a prefix is taken."""

_PAIRS: Final = tuple(first + second for second in ALPHABET for first in ALPHABET)
_BODY: Final = re.compile(rf"[0-9a-z]{{{LENGTH}}}")
_START: Final = re.compile(rf"[0-9a-z]{{{SHORTEST},{LENGTH}}}")


def new_id(prefix: Prefix, below: Callable[[int], int] = secrets.randbelow) -> str:
    """Make a new id.

    Args:
        prefix: what the id is of.
        below: gives a random whole number from 0 up to, not including, its argument. Tests and
            simulations pass ``random.Random(seed).randrange``.

    Thread-safe with the default.

    """
    number = below(len(ALPHABET) ** LENGTH)
    body = ""
    for _ in range(LENGTH // 2):
        number, pair = divmod(number, len(_PAIRS))
        body += _PAIRS[pair]
    return prefix + body


def is_id(text: str, prefix: Prefix | None = None) -> bool:
    """Tell whether a text is a whole id, with this prefix or, when None, with any."""
    prefixes = get_args(Prefix) if prefix is None else (prefix,)
    return any(text.startswith(known) and _BODY.fullmatch(text[len(known) :]) for known in prefixes)


def session_start(text: str) -> str | None:
    """Give the start of the ids that a name of a session can mean, ``ses_`` and 6 to 12 characters.

    Args:
        text: a whole id or a prefix of 6 or more characters, with or without ``ses_``.

    Returns None for a text that can name no session.

    """
    return _start(text, "ses_")


def group_start(text: str) -> str | None:
    """Give the start of the ids that a name of a group can mean, as ``session_start`` does for ``grp_``."""
    return _start(text, "grp_")


def _start(text: str, prefix: Prefix) -> str | None:
    body = text.removeprefix(prefix)
    return f"{prefix}{body}" if _START.fullmatch(body) else None


def names_session(text: str, session: str) -> bool:
    """Tell whether a caller's text (see ``session_start``) names the session with this whole id."""
    start = session_start(text)
    return start is not None and session.startswith(start)
