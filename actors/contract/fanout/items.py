"""The items of a fan-out, checked and numbered."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.json_text import parse_json

ITEM_BYTES: Final = 1_048_576
"""Bytes of UTF-8 that one item takes at most."""


class Item(NamedTuple):
    """One item: its place from 1, the JSON value it is (for a callable), and its text (for a template)."""

    number: int
    value: JsonValue
    text: str


def check_item(item: str, number: int) -> None:
    """Refuse an item that no command line and no prompt can carry.

    Args:
        item: the item's text; bytes that were no UTF-8 may stand in it as lone surrogates, as Python's
            ``surrogateescape`` leaves them.
        number: its place among all, from 1.

    Raises:
        Refusal: for a NUL character, text that is no valid UTF-8, and more than 1 MiB; it shows the item.

    """
    subject = f"Item {number}, {quote_foreign(item, 120)},"
    check_characters(item, subject)
    size = len(item.encode())
    if size > ITEM_BYTES:
        raise invalid(f"{subject} has {size} bytes; {ITEM_BYTES} are the most. Give a file's name instead.")


def check_characters(text: str, subject: str) -> None:
    """Refuse text with NUL or without a UTF-8 form; ``subject`` begins the sentence that says so.

    Raises:
        Refusal: with the way out.

    """
    if "\0" in text:
        raise invalid(f"{subject} holds a NUL character, which no command line can carry; leave it out.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise invalid(
            f"{subject} is not valid UTF-8 from character {error.start + 1} on: rename the file, or reach it "
            "by a name that is."
        ) from error


def text_items(texts: Iterable[str]) -> Iterator[Item]:
    """Number and check items that are texts, such as arguments of a command line.

    Raises:
        Refusal: from ``check_item``.

    """
    for number, text in enumerate(texts, start=1):
        check_item(text, number)
        yield Item(number, text, text)


def read_items_jsonl(lines: Iterable[str | bytes]) -> Iterator[Item]:
    """Read items from JSON Lines: one JSON value a line; blank lines are skipped and not counted.

    A string is an item whose text is the string; any other value has its compact JSON text.

    Raises:
        Refusal: names the line that is no JSON value, or whose item ``check_item`` refuses.

    """
    number = 0
    for line_number, line in enumerate(lines, start=1):
        if line.strip():
            number += 1
            yield _line_item(line, number, line_number)


def _line_item(line: str | bytes, number: int, line_number: int) -> Item:
    try:
        # An escape takes up to six bytes for one, so the text may be longer than the item.
        value = parse_json(line, 6 * ITEM_BYTES + 2)
        text = value if isinstance(value, str) else compact_json(value)
        check_item(text, number)
    except Refusal as refusal:
        raise invalid(f"Line {line_number}: {refusal.error}", line=line_number) from refusal
    return Item(number, value, text)


def compact_json(value: Any) -> str:
    """Write a JSON value without spaces and with its characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
