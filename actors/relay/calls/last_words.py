"""Whether a reply ends in a question: a hint for whoever looks at a list of sessions. Pure."""

import re
from typing import Final

_MARKS: Final = ("?", "\uff1f", "\u061f")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_EMPHASIS: Final = " \t*_\u200b\u200e\u200f"


def last_words_ask(reply: str) -> bool:
    """Tell whether the last line that says something ends in a question mark of any script.

    A line of a code block or of a quotation says nothing of what the agent itself asks. Time is linear in
    the length of the reply.
    """
    fence, last = "", ""
    for line in reply.splitlines():
        fence, is_code = _after(fence, line)
        if is_code:
            last = ""
        elif line.strip():
            last = line
    return not last.lstrip().startswith(">") and last.rstrip(_EMPHASIS).endswith(_MARKS)


def _after(fence: str, line: str) -> tuple[str, bool]:
    """Give the fence of the code block that is open after this line, if any, and whether the line is code."""
    found = _FENCE.fullmatch(line)
    if not fence:
        opens = found is not None and not (found[1][0] == "`" and "`" in found[2])
        return (found[1], True) if found is not None and opens else ("", False)
    closes = found is not None and found[1].startswith(fence) and not found[2].strip()
    return ("" if closes else fence), True
