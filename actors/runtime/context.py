"""Where the current thread is: which dispatcher drives it, whose handler it runs."""

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from showcaller.actors.runtime.cell import Cell
    from showcaller.actors.runtime.dispatcher import BaseDispatcher
    from showcaller.actors.runtime.envelope import Envelope


class Here(threading.local):
    """Per-thread facts; the class attributes are what a thread sees that has set nothing."""

    cell: "Cell | None" = None
    dispatcher: "BaseDispatcher | None" = None
    envelope: "Envelope | None" = None
    left: "tuple[BaseDispatcher | None, ...]" = ()


here = Here()
