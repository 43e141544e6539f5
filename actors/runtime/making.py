"""Actors whose ``__init__`` still runs: they take mail, and handle none before it has returned."""

import inspect
from typing import TYPE_CHECKING, Any, cast

from showcaller.actors.runtime.envelope import START
from showcaller.actors.runtime.errors import AskCycle

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell
    from showcaller.actors.runtime.ref import ActorRef


def refuse_wait_while_making(owner: "Cell") -> None:
    """Raise ``AskCycle`` if this thread, about to wait for a reply of ``owner``, is just making it."""
    if _waits_for_its_start(owner) and _is_made_here(owner._actor):
        raise AskCycle(
            f"no reply can come while the __init__ of {owner} waits for it: call the method itself, "
            "or ask in on_start and await the reply",
            [cast("ActorRef[Any]", owner)],
        )


def _waits_for_its_start(cell: "Cell") -> bool:
    mail = cell._mail
    try:
        return (getattr(mail, "passed", None) or mail)[0] is START
    except IndexError:  # somebody runs it just now
        return False


def _is_made_here(actor: Any) -> bool:
    frame = inspect.currentframe()
    while frame is not None:
        code = frame.f_code
        if (
            code.co_name == "__init__"
            and code.co_argcount
            and frame.f_locals.get(code.co_varnames[0]) is actor
        ):
            return True
        frame = frame.f_back
    return False
