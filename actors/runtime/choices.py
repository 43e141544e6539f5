"""Whether what a program gives is what we can use; type checkers know, and not everybody asks one."""

from typing import Any


def refuse_unknown(what: str, given: object, choices: tuple[str, ...]) -> None:
    """Raise ``ValueError``, which names the choices, unless ``given`` is one of them."""
    if given not in choices:
        *others, last = map(repr, choices)
        raise ValueError(f"{what} cannot be {given!r}: choose {', '.join(others)} or {last}")


def is_a(given: object, *kinds: type[Any]) -> bool:
    """As ``isinstance``, for what is annotated to be one in any case."""
    return isinstance(given, kinds)
