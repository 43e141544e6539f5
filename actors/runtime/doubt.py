"""What becomes of an actor when whoever sends to it is interrupted.

An exception may reach a sender at any place where Python looks for signals: ``KeyboardInterrupt``, or
what another signal handler raises. Between taking the gate and putting the cell into the ready queue it
would leave the gate locked with nobody to let go of it, and the actor would never run again. The sender
cannot know whether that happened, as the exception may hide from it that it got the gate. So it leaves
behind a ``Doubt``, which the dispatcher runs like a cell, on a thread that gets no signals. A sender
whose stack is full cannot even call ``look_after``: a new thread does, which no call of Python's starts.

A doubt puts itself into the cell's system mail, which every slice takes out first. If it is still there
while the gate is locked, the cell neither ready nor running, and no thread on its way from the gate to
the ready queue, then the gate was lost, and the doubt schedules the cell in its holder's place.
"""

import sys
from _thread import get_ident
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.envelope import START

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell
    from showcaller.actors.runtime.counters import Counters

SOON = 0.01  # seconds until a doubt that could not be settled looks again

_OURS = str(Path(__file__).parent)
# The functions that take a cell's gate, and schedule the cell.
_SENDERS = frozenset({"_ask", "_try_gate", "let_go", "post", "post_system", "tell", "wake"})


def look_after(cell: "Cell", *, starting: bool = False) -> None:
    """Have a cell run whose gate an interrupted sender may have left locked.

    ``starting``: the caller was to schedule it for the first time.
    """
    cell._dispatcher.unpinned().schedule(Doubt(cell, starting=starting))


class Doubt:
    """Stands in the ready queue for a cell that may be lost; see above."""

    __slots__ = ("_cell", "_left", "_starting", "counters")

    def __init__(self, cell: Any, *, starting: bool) -> None:
        self._cell = cell
        self._left = False  # in the system mail
        self._starting = starting
        self.counters: Counters = cell.counters

    @property
    def actor_class(self) -> type[Any]:
        """The class of the actor, for who asks whether it is a daemon."""
        return self.counters.actor_class

    def run_slice(self) -> int:
        """Look; gives 0, the number of messages handled."""
        lost = self._look()
        if lost:
            self._cell._dispatcher.schedule(self._cell)
        elif lost is None:
            self._cell._dispatcher.timers.after(SOON, self, None)
        return 0

    def _look(self) -> bool | None:
        """True when nobody will run the cell, which then is ours; None if that is open."""
        cell = self._cell
        if not self._starting and any(mail is START for mail in cell._mail.copy()):
            return False  # whoever starts the actor has the gate, or has left a doubt of its own
        if not self._left:
            self._left = True
            cell._system_mail().insert(0, self)
            if cell._gate.acquire(False):
                cell._dispatcher.schedule(cell)
                return False
        # Who is on the way at the look in the middle has arrived at the last one, or has run the cell.
        looks = (cell._dispatcher.will_run(cell), _on_its_way(cell), cell._dispatcher.will_run(cell))
        if True in (looks[0], looks[2]) or self not in cell._system or not cell._gate.locked():
            return False
        return None if looks[1] or None in (looks[0], looks[2]) else True

    def tell(self, message: object) -> None:
        """Look again: told by a timer."""
        self._cell._dispatcher.unpinned().schedule(self)

    def abandon(self) -> None:
        """Look for the last time, on a dispatcher that is closed."""
        if self._look():
            self._cell.abandon()

    def carry_out(self, cell: "Cell", actor: Any) -> bool:
        """Do nothing, as system mail: that it was taken out is what counts."""
        return True


def _on_its_way(cell: "Cell") -> bool:
    """Whether another thread is in a function that takes the gate of this cell."""
    for ident, top in sys._current_frames().items():
        frame: FrameType | None = None if ident == get_ident() else top
        while frame is not None:
            code = frame.f_code
            if code.co_name in _SENDERS and code.co_filename.startswith(_OURS):
                its = frame.f_locals
                if its.get("self") is cell or its.get("cell") is cell:
                    return True
            frame = frame.f_back
    return False
