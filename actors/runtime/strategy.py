"""Which children share the fate of one that failed."""

from collections.abc import Iterable
from typing import Literal

Strategy = Literal["one_for_one", "one_for_all", "rest_for_one"]


def affected(strategy: Strategy, order: Iterable[str], failed: str) -> list[str]:
    """Give the names to be restarted, in starting order; ``failed`` stands in ``order``. Read if need be."""
    if strategy == "one_for_one":
        return [failed]
    if strategy == "one_for_all":
        return list(order)
    names = list(order)
    return names[names.index(failed) :]
