"""Where the current thread is: which dispatcher drives it, whose handler it runs."""

import threading
from _thread import get_ident
from collections.abc import Iterable
from contextvars import ContextVar
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
    dispatcher: "BaseDispatcher | None" = None  # which runs actors on this thread
    blocks: "tuple[Block, ...]" = ()


here = Here()


class Block:
    """A ``with dispatcher:`` block: it holds for the thread that entered it, and there only in that turn."""

    __slots__ = ("dispatcher", "open", "outer", "thread", "turn")

    def __init__(self, dispatcher: "BaseDispatcher", outer: "Block | None") -> None:
        self.dispatcher = dispatcher
        self.outer = outer
        self.thread = get_ident()
        self.turn = here.turn
        self.open = True

    def holds(self) -> bool:
        """Whether the caller is inside."""
        return self.open and self.turn is here.turn and self.thread == get_ident()


# Tasks of an asyncio loop are on one thread in blocks of their own; who has none is in the thread's last one.
_innermost: "ContextVar[Block | None]" = ContextVar("innermost", default=None)


def enter(dispatcher: "BaseDispatcher") -> None:
    """Begin a block."""
    block = Block(dispatcher, _innermost.get())
    here.blocks = (*here.blocks, block)
    _innermost.set(block)


def leave(dispatcher: "BaseDispatcher") -> None:
    """End the innermost block of this dispatcher; raises ``RuntimeError`` if this thread is in none."""
    block = _block_of(dispatcher)
    if block is None:
        raise RuntimeError("this thread is in no such `with` block: leave it on the thread that entered it")
    block.open = False
    here.blocks = tuple(each for each in here.blocks if each is not block)
    _innermost.set(block.outer)


def leave_all(dispatchers: "Iterable[BaseDispatcher]") -> None:
    """End all blocks of these dispatchers on this thread."""
    gone = list(dispatchers)
    for block in here.blocks:
        block.open = not any(block.dispatcher is each for each in gone)
    here.blocks = tuple(block for block in here.blocks if block.open)


def _block_of(dispatcher: "BaseDispatcher") -> Block | None:
    block = _innermost.get()
    if block is not None and block.dispatcher is dispatcher and block.holds():
        return block
    return next((each for each in reversed(here.blocks) if each.dispatcher is dispatcher), None)


def current_dispatcher() -> "BaseDispatcher | None":
    """The dispatcher of the surrounding block, or else the one that runs actors on this thread, if any."""
    block = _innermost.get()
    while block is not None:
        if block.holds():
            return block.dispatcher
        block = block.outer
    if here.blocks and here.blocks[-1].holds():
        return here.blocks[-1].dispatcher
    return here.dispatcher


def current_cell() -> "Cell | None":
    """The cell whose handler this thread runs, or None outside of handlers."""
    runnable = here.turn.runnable
    cell: Cell | None = None if runnable is BETWEEN else runnable
    return cell


__all__ = [
    "BETWEEN",
    "Here",
    "Turn",
    "current_cell",
    "current_dispatcher",
    "enter",
    "here",
    "leave",
    "leave_all",
]
