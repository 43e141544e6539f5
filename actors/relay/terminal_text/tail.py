"""The last lines of what a terminal shows."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, groupby, islice
from typing import Final

from showcaller.actors.relay.terminal_text.screen import Screen
from showcaller.actors.relay.terminal_text.sequences import play

# What is left of a sequence whose beginning was cut off: of a string up to its end, of a colour or movement.
# The second must have a bracket and a number, or two numbers, since "10ms" and "[K8s]" are words.
_STRING_END: Final = re.compile(r"[^\x07\x1b\n]*(?:\x1b\\|\x9c)|\]?[0-9]{1,4};[^\x07\x1b\n]*\x07")
_COMMAND_END: Final = re.compile(r"\[[?>=]?[0-9]+(?:[;:][0-9]*)*[A-Za-z]|\[?[0-9]*(?:[;:][0-9]*)+[mHfhlr]")


@dataclass(frozen=True, slots=True)
class Tail:
    """Plain lines, oldest first; ``truncated`` when there were more before them."""

    lines: tuple[str, ...]
    truncated: bool


def render_tail(raw: str, lines: int, *, cut: bool = False) -> Tail:
    """Give the last lines that a terminal would show of a program's output.

    Without colours, titles and links; cursor movement, erasing and redrawn progress bars have left what they
    leave on a terminal, and what was drawn on the alternate screen is dropped. Lines have no blanks at their
    ends, there are no blank lines at the end, several in a row become one, and any other line repeated N
    times in a row stands there once, followed by `` [×N]``. No control character, no direction mark and no
    lone surrogate is in them.

    Args:
        raw: the output, decoded; it may begin in the middle of an escape sequence. Time and memory are in
            proportion to its length, whatever it holds.
        lines: how many lines at most, counted after repeated ones were joined.
        cut: whether ``raw`` is the end of something longer: its first line, which is then a piece of one, is
            left out if there is another.

    """
    screen = Screen()
    play(screen, _whole_lines(raw) if cut else _whole_sequences(raw))
    found = list(islice(_joined(screen.rows), lines + 1))
    return Tail(tuple(reversed(found[:lines])), cut or len(found) > lines)


def _whole_lines(raw: str) -> str:
    first, _, rest = raw.partition("\n")
    return rest or _whole_sequences(first)


def _whole_sequences(raw: str) -> str:
    if rest := _STRING_END.match(raw) or _COMMAND_END.match(raw):
        return raw[rest.end() :]
    return raw


def _joined(rows: Sequence[list[str]]) -> Iterator[str]:
    """Give the lines from the last one backwards, repeated ones joined."""
    texts = ("".join(row).rstrip() for row in reversed(rows))
    for text, repeated in groupby(dropwhile(lambda text: not text, texts)):
        count = sum(1 for _ in repeated)
        yield f"{text} [×{count}]" if text and count > 1 else text
