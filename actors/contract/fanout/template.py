r"""The template that turns an item into a prompt or a command line.

In a template exactly three forms are replaced: ``{}`` by the item, ``{raw}`` by the item as it is and ``{n}``
by its number, from 1. Every other brace stays as it is: ``{a,b}``, ``{{``, ``${x}``.

In a command, ``{}`` is the item quoted for the shell, so it must stand outside of all quotes. ``\{}``,
``\{raw}`` and ``\{n}`` outside of quotes are the shell's own escapes and stay, and so do ``${raw}`` and
``${n}``, which are the shell's variables. Quoting protects from the shell that runs the line; a program that
evaluates its arguments again (``eval``, ``sh -c``) makes code of them, as ``{raw}`` does.

With the kinds ``prompt`` and ``callable`` nothing is quoted and every form is replaced wherever it stands.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from showcaller.actors.contract import shell_quoting
from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.fanout.items import check_characters
from showcaller.actors.contract.foreign_text import quote_foreign

Kind = Literal["command", "prompt", "callable"]
Sort = Literal["text", "slot"]

TEMPLATE_CHARACTERS: Final = 100_000
"""Characters of a template at most, as for any prompt."""

_SLOT: Final = re.compile(r"\{(?:raw|n)?\}")
_FUNCTION: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def names_function(text: str) -> bool:
    """Whether a text can name a function that is imported: ``module:function``, either with dots in it."""
    return _FUNCTION.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Template:
    """A template taken apart: its literal texts and its slots (``{}``, ``{raw}``, ``{n}``) in their order."""

    kind: Kind
    pieces: tuple[tuple[Sort, str], ...]

    @property
    def item_begins_word(self) -> bool:
        """True when an item stands where a program may take it for an option: at the start of a word."""
        before = ""
        for sort, piece in self.pieces:
            if sort == "slot" and piece != "{n}" and (not before or before[-1].isspace()):
                return True
            before = piece
        return False


def parse_template(text: str, kind: Kind) -> Template:
    """Take a template apart.

    Args:
        text: 1 to 100,000 characters. A ``callable`` may be a bare ``module:function``, which gets the item
            as its argument; every other template has at least one of ``{}``, ``{raw}`` and ``{n}``.
        kind: decides whether ``{}`` is quoted for the shell.

    Raises:
        Refusal: when there is no slot, or when ``{}`` stands in a command where its quoting would not hold;
            the text says how to write it.

    """
    _check_text(text)
    pieces: list[tuple[Sort, str]] = []
    end = 0
    for start, slot in _slots(text, kind):
        if start > end:
            pieces.append(("text", text[end:start]))
        pieces.append(("slot", slot))
        end = start + len(slot)
    if end == 0:
        _check_without_slots(text, kind)
    if end < len(text):
        pieces.append(("text", text[end:]))
    return Template(kind, tuple(pieces))


def _check_text(text: str) -> None:
    if not text.strip():
        raise invalid("The template is empty: write what to run for each item, as in: wc -l {}")
    if len(text) > TEMPLATE_CHARACTERS:
        raise invalid(f"The template has {len(text)} characters; {TEMPLATE_CHARACTERS} are the most.")
    check_characters(text, "The template")


def _check_without_slots(text: str, kind: Kind) -> None:
    if kind != "callable":
        raise invalid(
            f"The template {quote_foreign(text)} has none of {{}}, {{raw}} and {{n}}, so every item would "
            "give the same: write {} where the item belongs, as in: wc -l {}"
        )
    if not names_function(text):
        raise invalid(
            f"The callable {quote_foreign(text)} is not of the form module:function, as in mymodule:work."
        )


def _slots(text: str, kind: Kind) -> Iterator[tuple[int, str]]:
    if kind != "command":
        yield from ((match.start(), match.group()) for match in _SLOT.finditer(text))
        return
    where = shell_quoting.contexts(text)
    for match in _SLOT.finditer(text):
        start, slot = match.start(), match.group()
        quoted = where[start]
        if quoted == shell_quoting.ESCAPED or (slot != "{}" and text[:start].endswith("$")):
            continue
        if slot == "{}" and quoted is not None:
            raise _misplaced(quoted)
        yield start, slot


def _misplaced(quoted: str) -> Refusal:
    return invalid(
        f"{{}} stands inside {quoted}, where an item could break out. It is quoted for the shell already: "
        "write it outside of all quotes, as in: wc -l {} (or set a variable first and use that inside the "
        'quotes, as in: item={}; echo "the item is $item"). {raw} puts the item in as it is, unprotected.'
    )


def render(template: Template, item: str, number: int) -> str:
    """Give the prompt or the command line for one item.

    Args:
        template: from ``parse_template``.
        item: text that passed ``check_item``.
        number: the item's place among all, from 1.

    """
    quoted = shlex.quote(item) if template.kind == "command" else item
    values = {"{}": quoted, "{raw}": item, "{n}": str(number)}
    return "".join(values[piece] if sort == "slot" else piece for sort, piece in template.pieces)


def note_for(template: Template, item: str) -> str | None:
    """Warn of an item that a command may take for an option; None when there is nothing to say."""
    if template.kind != "command" or not item.startswith("-") or not template.item_begins_word:
        return None
    return (
        f"The item {quote_foreign(item, 80)} begins with a dash and may be taken for an option: write ./{{}} "
        "for a file, or -- before {} if the program takes that."
    )
