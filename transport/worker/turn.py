"""A running turn as the host keeps it, and as its provider sees it (its ``Sink``)."""

from collections.abc import Callable

from showcaller.actors.contract.worker import RunTurn
from showcaller.transport.worker.ends import Halt
from showcaller.transport.worker.work import RunningWork


class RunningTurn(RunningWork):
    """One turn between its receipt and its end. Lives on the host's event loop; not thread-safe.

    ``wrote`` is called at the first write after each ``take_output``. ``ends_rest`` says why what the turn
    leaves running is to be ended with it.
    """

    def __init__(
        self, request: RunTurn, started: float, grace: float, wrote: "Callable[[RunningTurn], None]"
    ) -> None:
        super().__init__(grace, lambda: wrote(self))
        self.request = request
        self.started = started
        self.ends_rest: Halt | None = None
