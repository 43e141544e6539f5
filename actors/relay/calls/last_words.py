"""Whether a reply ends in a question: a hint for whoever looks at a list of sessions. Pure."""

import re
from typing import Final

_MARKS: Final = ("?", "\uff1f", "\u061f")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_EMPHASIS: Final = " \t*_\u200b\u200e\u200f"


def last_words_ask(reply: str, *, is_whole: bool = True) -> bool:
    """Tell whether the last line that says something ends in a question mark of any script.

    A line of a code block or of a quotation says nothing of what the agent itself asks. Of a reply that is
    not whole only the end is given, which is taken to begin in no code block. Time is linear in the length.
    """
    lines = reply.splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines or lines[-1].lstrip().startswith(">") or not lines[-1].rstrip(_EMPHASIS).endswith(_MARKS):
        return False
    fence, is_code = "", False
    for line in lines if is_whole else ["", *lines[1:]]:  # what is left of a cut line begins no block
        fence, is_code = _after(fence, line)
    return not is_code


def _after(fence: str, line: str) -> tuple[str, bool]:
    """Give the fence of the code block that is open after this line, if any, and whether the line is code."""
    found = _FENCE.fullmatch(line)
    if not fence:
        opens = found is not None and not (found[1][0] == "`" and "`" in found[2])
        return (found[1], True) if found is not None and opens else ("", False)
    closes = found is not None and found[1].startswith(fence) and not found[2].strip()
    return ("" if closes else fence), True
