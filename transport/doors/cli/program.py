"""How this program was called, so that a line which calls it again can be pasted."""

import shutil
import sys
from pathlib import Path

NAME = "showcaller"


def program_words(typed: str) -> tuple[str, ...]:
    """Give the words that call the program again, from the first word of its command line, ``sys.argv[0]``.

    The path as it was typed; its name alone where the shell finds the same file by that.
    """
    path = Path(typed)
    if path.name == "__main__.py":
        return sys.executable, "-m", NAME
    if path.name in {"", "-c", "-m"}:
        return (NAME,)
    found = shutil.which(path.name)
    if "/" not in typed or (found is not None and path.exists() and path.samefile(found)):
        return (path.name,)
    return (typed,)
