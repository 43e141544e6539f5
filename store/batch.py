"""Commands and answers as they cross the border to the writer: plain data with ids."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Command(NamedTuple):
    """One transaction to run: a function of ``store.commands`` by name, with plain-data arguments.

    ``number`` is unique and rising within one incarnation of the relay; ``arguments`` holds only what
    msgpack carries (None, bool, int, float, str, bytes, lists, dicts with str keys).
    """

    number: int
    name: str
    arguments: dict[str, Any]


class Answer(NamedTuple):
    """What became of one command: its value, or why it was not carried out.

    ``error`` is None when the command was committed; else ``conflict`` (a guard of the command did not
    hold: ``value`` says which), ``storage`` (disk full, read-only, locked, damaged: nothing was
    stored) or ``fault`` (a mistake of ours). ``detail`` is one sentence for people.
    """

    number: int
    value: Any
    error: str | None = None
    detail: str | None = None


class Batch(NamedTuple):
    """What the writer runs in one transaction: the relay's incarnation, a rising number, its commands."""

    incarnation: str
    number: int
    commands: Sequence[Command]


BatchDone = Callable[[Sequence[Answer]], None]
