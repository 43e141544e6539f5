"""What is wrong with a value that a model does not take, in the contract's words and not its library's."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Limits = Mapping[str, Any]


def _bounded(words: str, limit: str) -> Callable[[Limits], str]:
    return lambda limits: f"{words} {_number(limits[limit])}"


def _short(unit: str) -> Callable[[Limits], str]:
    def told(limits: Limits) -> str:
        least = limits["min_length"]
        return "is empty" if least == 1 else f"has less than {_number(least)} {unit}"

    return told


def _long(unit: str) -> Callable[[Limits], str]:
    return lambda limits: f"has more than {_number(limits['max_length'])} {unit}"


def _number(limit: Any) -> str:
    if isinstance(limit, float) and limit.is_integer():
        limit = int(limit)
    return f"{limit:,}" if isinstance(limit, int | float) else str(limit)


_TOLD: Final[Mapping[str, Callable[[Limits], str]]] = MappingProxyType(
    {
        "less_than_equal": _bounded("must be at most", "le"),
        "less_than": _bounded("must be less than", "lt"),
        "greater_than_equal": _bounded("must be at least", "ge"),
        "greater_than": _bounded("must be more than", "gt"),
        "string_too_short": _short("characters"),
        "string_too_long": _long("characters"),
        "too_short": _short("entries"),
        "too_long": _long("entries"),
        "missing": lambda _: "is missing",
        "extra_forbidden": lambda _: "is not known here",
        "literal_error": lambda limits: f"must be {limits['expected']}",
        "string_pattern_mismatch": lambda limits: f"must match {limits['pattern']}",
        "finite_number": lambda _: "must be a finite number",
    }
)
_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "int": "a whole number",
        "float": "a number",
        "bool": "true or false",
        "string": "text",
        "list": "a list",
        "tuple": "a list",
        "dict": "an object",
        "model": "an object",
    }
)


def problem(detail: "ErrorDetails") -> str:
    """Give what is wrong, to stand behind the name of the value: ``must be at most 1,000``. Pure.

    What a check of the contract's own says is given as it is.
    """
    limits = detail.get("ctx", {})
    own = limits.get("error")
    if own is not None:
        return str(own)
    told = _TOLD.get(detail["type"])
    if told is not None:
        return told(limits)
    kind = _KINDS.get(detail["type"].partition("_")[0])
    return f"must be {kind}" if kind is not None else f"is refused: {detail['msg']}"


def named_problem(detail: "ErrorDetails") -> str:
    """Give what is wrong behind the name of the value, without a name for the whole: ``jobs must be …``."""
    name = ".".join(map(str, detail["loc"]))
    return f"{name} {problem(detail)}".strip()
