"""Versions of the worker protocol: which a program speaks, and which one two programs use. Pure.

A version stands for all that a relay and its workers write to each other: packets, and the messages in them.
Only ``Hello`` and ``Refused`` are the same in all, so that two programs can always find out.
"""

from collections.abc import Sequence
from typing import Final


def spoken_by(newest: int) -> tuple[int, ...]:
    """Give the versions, newest first, that a program speaks whose newest is this: it and the one before.

    So the workers that a relay has left go on with the next one after an upgrade.
    """
    return tuple(version for version in (newest, newest - 1) if version > 0)


def agreed(ours: Sequence[int], theirs: Sequence[int]) -> int | None:
    """Give the version that two programs use: the newest that both speak; None when there is none."""
    return max(set(ours) & set(theirs), default=None)


def nothing_in_common(ours: Sequence[int], theirs: Sequence[int]) -> str:
    """Say that two programs cannot speak with each other, and what to do."""
    older = max(theirs, default=0) < max(ours)
    ends = "the peer is too old: end it with the version that has started it" if older else "upgrade this one"
    return f"the peer speaks {_named(theirs)} of the worker protocol, and this program {_named(ours)}: {ends}"


def _named(versions: Sequence[int]) -> str:
    if not versions:
        return "no version"
    listed = " and ".join(str(version) for version in sorted(versions, reverse=True)[:4])
    return f"version{'s' if len(versions) > 1 else ''} {listed}"


PROTOCOL: Final = 5
"""The newest version that this program speaks: raised with any change of what crosses a link."""
SPOKEN: Final = spoken_by(PROTOCOL)
