"""Orders to an actor as system mail: kill it, begin a life, give up a ref that waits for one.

Each is carried out by whoever holds the cell's gate, between two messages or while a coroutine waits.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime import ending
from showcaller.actors.runtime.exits import KILLED, SHUTDOWN, Exit
from showcaller.actors.runtime.handler import LIMBO
from showcaller.actors.runtime.lineage import Recipe
from showcaller.actors.runtime.mailbox_terms import refuse_own

if TYPE_CHECKING:
    from showcaller.actors.runtime.actor import Actor
    from showcaller.actors.runtime.cell import Cell


class Kill:
    """End this life without ``on_stop``; ``keep`` the ref for another one, or None: as its link says.

    While one that ``breaks_off`` lies in its mail, the handler may not wait in ``future.get()``.
    """

    __slots__ = ("breaks_off", "keep")

    def __init__(self, *, keep: bool | None = None, breaks_off: bool = False) -> None:
        self.keep = keep
        self.breaks_off = breaks_off

    def carry_out(self, cell: "Cell", actor: "Actor") -> bool:
        """Kill; False when the slice is over."""
        if cell._hold is LIMBO:
            if self.keep is False:
                return GIVE_UP.carry_out(cell, actor)
            return True
        ending.end(cell, actor, KILLED, (), keep=self.keep)
        return False


class GiveUp:
    """Let a ref that waits for its next life end for good, for a reason that its watchers are told."""

    __slots__ = ("reason",)

    def __init__(self, reason: Exit = SHUTDOWN) -> None:
        self.reason = reason

    def carry_out(self, cell: "Cell", actor: "Actor") -> bool:
        """Give up; False when the slice is over."""
        if cell._hold is not LIMBO:
            return True  # it has ended already, or lives again by a later order
        ending.end(cell, actor, self.reason, (), keep=False)
        return False


class Begin:
    """Make the actor anew and run ``on_start``; its ref and its mailbox are those that are there."""

    __slots__ = ("again", "begun", "recipe")

    def __init__(self, recipe: Recipe, *, again: bool) -> None:
        self.recipe = recipe
        self.again = again
        self.begun = False  # true as soon as a ref that is in limbo is so because that life is over

    def carry_out(self, cell: "Cell", actor: "Actor") -> bool:
        """Begin; False when the slice is over, because it failed or waits in ``on_start``."""
        if cell._hold is not LIMBO:
            return True
        cell._hold = None
        self.begun = True
        recipe = self.recipe
        if self.again:
            cell.counters.restarts += 1
        rest: Iterable[Any] = ()
        try:
            cell._actor = actor = unborn(recipe, cell)
            actor.__init__(*recipe.args, **recipe.kwargs)  # type: ignore[misc]
            refuse_own(actor)
        except BaseException as error:
            ending.fail(cell, actor, error, rest, starting=True)
            return False
        return cell.start_actor(actor, rest)


def unborn(recipe: Recipe, cell: Any) -> "Actor":
    """Make the object without ``__init__``, already tied to its ref."""
    maker: Any = recipe.actor_class
    actor: Actor = maker.__new__(maker)
    actor._actor_ref = cell
    return actor


KILL = Kill()
KILL_FOR_GOOD = Kill(keep=False)
GIVE_UP = GiveUp()
