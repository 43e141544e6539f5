"""Where the current thread is: which dispatcher drives it, whose handler it runs."""

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from showcaller.actors.runtime.base_dispatcher import BaseDispatcher
    from showcaller.actors.runtime.cell import Cell


class Between:
    """Stands for a cell while a thread looks for the next one: something may be under way."""

    actor_class = None

    def __repr__(self) -> str:
        return "nothing in particular"


BETWEEN = Between()


class Turn:
    """What a thread that runs actors does right now; written by that thread only.

    ``runnable`` is the cell whose slice runs, ``BETWEEN`` two of them, or None at rest. ``handled`` is the
    envelope that a plain handler answers, or the coroutine that is driven.
    """

    __slots__ = ("handled", "runnable")

    def __init__(self) -> None:
        self.runnable: Any = None
        self.handled: Any = None


class Here(threading.local):
    """Per-thread facts; the class attributes are what a thread sees that has set nothing."""

    turn: Turn = Turn()
    dispatcher: "BaseDispatcher | None" = None
    outer: "tuple[Any, ...]" = ()


here = Here()


def current_cell() -> "Cell | None":
    """The cell whose handler this thread runs, or None outside of handlers."""
    runnable = here.turn.runnable
    cell: Cell | None = None if runnable is BETWEEN else runnable
    return cell


__all__ = ["BETWEEN", "Here", "Turn", "current_cell", "here"]
