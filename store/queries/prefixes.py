"""Ids that begin so, as a range that an index can serve."""


def prefix_end(prefix: str) -> str:
    """Give the first text that comes after every text beginning with ``prefix`` (not empty)."""
    return prefix + "\U0010ffff"
