"""How tokens are called and begin; their names are names of files too: what could lead elsewhere is refused.

The standard library alone: clients that have to start at once check names and make tokens as well.
"""

from typing import Final

PREFIXES: Final = {"external": "sce_", "supervisor": "scs_"}
"""How tokens of each kind begin, so that a person, or who looks for leaked secrets, sees what they are."""
RANDOM_BYTES: Final = 32
"""How much chance is in a token."""
LONGEST: Final = 64
"""Characters of a name."""
LONGEST_BYTES: Final = 200
"""Bytes that its UTF-8 takes, so that it fits into the name of a file."""


def check_token_name(name: str) -> str:
    """Give a name back if a token may have it; raises ValueError with the words that follow it otherwise."""
    if not name or name != name.strip():
        raise ValueError("must not be empty, nor begin or end with a space")
    if len(name) > LONGEST or len(name.encode("utf-8", "replace")) > LONGEST_BYTES:
        raise ValueError(f"must have at most {LONGEST} characters ({LONGEST_BYTES} bytes)")
    if not name.isprintable() or "/" in name or "\\" in name or name.startswith("."):
        raise ValueError("must be printable, without / and \\, and must not begin with a dot")
    return name
