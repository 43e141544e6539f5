"""The lines that a session's agent has written, as pages with a cursor: pure.

What a turn has written is read while it runs and from its stored reply after that, and a cursor that was
given for the one holds for the other: it says how many characters of the turn were told, and how they ended.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from zlib import crc32

from showcaller.actors.contract.errors import invalid
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.limits import OUTPUT_LINE_CHARACTERS
from showcaller.actors.contract.outside import OutputLine
from showcaller.actors.relay.messages import OutputGlance

_FORM: Final = re.compile(r"(\d{1,18})(?:\.(msg_[0-9a-z]{12})\.(\d{1,18})\.([0-9a-f]{1,8}))?")
_CHECKED: Final = 64
"""Characters before a place by which a reply is known to go on from there."""


class Place(NamedTuple):
    """A place in a session's output: the last reply that was told whole, and how much of the turn after it.

    ``ends`` stands for the last characters that were told of that turn.
    """

    position: int = 0
    turn: str | None = None
    told: int = 0
    ends: int = 0

    def __str__(self) -> str:
        if self.turn is None:
            return str(self.position)
        return f"{self.position}.{self.turn}.{self.told}.{self.ends:x}"


class Page(NamedTuple):
    """Lines with the place after them; ``more``: there are more; ``cut``: some before them are not there."""

    lines: list[OutputLine]
    place: Place
    more: bool = False
    cut: bool = False


def read_place(text: str) -> Place:
    """Read what ``str`` makes of a place; raises ``Refusal`` for anything else."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise invalid(f"since {quote_foreign(text, 60)} is no cursor that session_output gave.")
    position, turn, told, ends = found.groups()
    if turn is None:
        return Place(int(position))
    return Place(int(position), turn, int(told), int(ends, 16))


def lines_from(text: str, start: int, *, whole: bool) -> Iterator[tuple[str, int]]:
    """Give each line from ``start`` on with the place after it, in pieces when it is very long.

    Only of a ``whole`` text is the last line one that has no end.
    """
    while start < len(text):
        end = text.find("\n", start, start + OUTPUT_LINE_CHARACTERS)
        if end >= 0:
            yield text[start:end].removesuffix("\r"), end + 1
            start = end + 1
            continue
        stop = start + OUTPUT_LINE_CHARACTERS
        if stop >= len(text):
            if not whole:
                return
            stop = len(text)
        yield text[start:stop], stop
        start = stop


def page_of(
    place: Place, replies: Sequence[Mapping[str, Any]], writing: OutputGlance | None, limit: int
) -> Page:
    """Give up to ``limit`` lines after a place.

    Args:
        place: what was told before.
        replies: those stored after its position, oldest first, without a hole.
        writing: what the turn under way has written, if these are all replies that there are.
        limit: how many lines at most, 1 or more.

    """
    lines: list[OutputLine] = []
    for reply in replies:
        turn, text = reply["reply_to"], reply["text"]
        for line, end in lines_from(text, _begin(place, turn, text), whole=True):
            if len(lines) == limit:
                return Page(lines, place, more=True)
            lines.append(OutputLine(text=line, message_id=turn))
            place = Place(place.position, turn, end, _ends(text, end))
        place = Place(reply["position"])
    if writing is None or writing.turn is None or any(r["reply_to"] == writing.turn for r in replies):
        return Page(lines, place)
    return _with_writing(place, lines, writing, limit)


def _with_writing(place: Place, lines: list[OutputLine], writing: OutputGlance, limit: int) -> Page:
    turn, text = writing.turn, writing.text
    assert turn is not None
    first = writing.size - len(text)  # what was written before it is not kept
    told = place.told if place.turn == turn else 0
    if told > writing.size:  # its worker tells a new relay all of it again, and is not so far yet
        return Page(lines, place)
    cut = told < first
    for line, end in lines_from(text, max(told - first, 0), whole=False):
        if len(lines) == limit:
            return Page(lines, place, more=True, cut=cut)
        lines.append(OutputLine(text=line, message_id=turn))
        place = Place(place.position, turn, first + end, _ends(text, end))
    return Page(lines, place, cut=cut and bool(lines))


def _begin(place: Place, turn: str, text: str) -> int:
    """Where to go on in a reply: at its beginning, unless it begins as what was told of its turn."""
    if place.turn != turn or place.told > len(text) or _ends(text, place.told) != place.ends:
        return 0
    return place.told


def _ends(text: str, end: int) -> int:
    return crc32(text[max(0, end - _CHECKED) : end].encode("utf-8", "surrogatepass"))


def last_page(
    replies: Sequence[Mapping[str, Any]], writing: OutputGlance | None, limit: int, newest: int
) -> Page:
    """Give the last ``limit`` lines of these replies, oldest first, and of the turn under way.

    ``newest`` is the position of the newest reply that there is, 0 without one.
    """
    lines: list[OutputLine] = []
    for reply in replies:
        turn, text = reply["reply_to"], reply["text"]
        lines += [OutputLine(text=line, message_id=turn) for line, _ in lines_from(text, 0, whole=True)]
    place = Place(newest)
    if (
        writing is not None
        and writing.turn is not None
        and writing.turn not in {r["reply_to"] for r in replies}
    ):
        page = _with_writing(place, [], writing, len(writing.text) + 1)
        lines += page.lines
        place = page.place
    return Page(lines[len(lines) - min(limit, len(lines)) :], place)
