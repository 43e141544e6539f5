"""The items of a fan-out: from the command line, or from a file of JSON Lines."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, TextIO

import click

from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.fanout import Item, Template, note_for, read_items_jsonl, text_items
from showcaller.actors.contract.fanout.items import ITEM_BYTES
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.transport.doors.cli.exits import USAGE, CommandError

# A longer line cannot be an item; it may have no end, so it is refused without being read whole.
LONGEST_LINE = 6 * ITEM_BYTES + 2
MOST_NOTES = 3


def read_items(words: Sequence[str], source: str | None) -> list[Item]:
    """Give the items of the words, or those of the file ``source`` (``-`` is standard input) if it is named.

    Raises ``click.UsageError`` or ``CommandError`` that names the item or the line which cannot be one.
    """
    try:
        if source is None:
            return list(text_items(words))
        if source == "-":
            return list(read_items_jsonl(_lines(_standard_input())))
        with Path(source).open("rb") as file:
            return list(read_items_jsonl(_lines(file)))
    except OSError as error:
        raise click.UsageError(f"Cannot read the items from {source!r}: {error.strerror}.") from error
    except Refusal as refusal:
        raise _unusable(refusal, source) from refusal


def _standard_input() -> BinaryIO:
    stream: TextIO | None = sys.stdin
    if stream is None:  # the program was started with descriptor 0 closed
        raise click.UsageError("Cannot read the items from standard input: it is closed.")
    return stream.buffer


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Give the lines; without their ends; raises ``Refusal`` for one that no item can take."""
    number = 0
    while ended := file.readline(LONGEST_LINE + len(b"\r\n")):
        number += 1
        line = ended.rstrip(b"\r\n")
        if len(line) > LONGEST_LINE:
            raise invalid(
                f"Line {number} has more than {LONGEST_LINE} bytes; an item has {ITEM_BYTES} at most. "
                "Give a file's name instead.",
                line=number,
            )
        yield line


def _unusable(refusal: Refusal, source: str | None) -> CommandError:
    way_out = "Nothing was started."
    if source is not None:
        way_out += ' Each line is one JSON value, such as "docs/guide.md" with its quotes.'
    return CommandError(refusal.error, way_out, USAGE)


def notes(template: Template, items: Iterable[Item]) -> Iterator[str]:
    """Give warnings about items that a command may misread, a few of them and how many there are more."""
    more = 0
    for index, warning in enumerate(filter(None, (note_for(template, item.text) for item in items))):
        if index < MOST_NOTES:
            yield warning
        else:
            more += 1
    if more:
        yield f"{more:,} more items begin with a dash."


def template_note(words: Iterable[str]) -> str | None:
    """Say of the first word that looks like a command that it is an item for a function; else None."""
    template = next((word for word in words if "{}" in word), None)
    if template is None:
        return None
    return (
        f"{quote_foreign(template, 80)} looks like a command line, but is an item: with --callable every "
        "word is one, and the function gets it as it is."
    )
