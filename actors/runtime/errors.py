"""What the runtime raises beside pykka's own ``ActorDeadError`` and ``Timeout``."""

from collections.abc import Callable, Sequence
from typing import Any

import pykka


class RuntimeFault(Exception):
    """Base of the runtime's own errors."""


class DispatcherExhausted(RuntimeFault):
    """More handlers wait in ``future.get()`` than the dispatcher allows (``max_blocked``)."""


class DispatcherClosed(RuntimeFault):
    """A dispatcher that was closed runs nobody any more, and no timer of it fires."""


class AskCycle(RuntimeFault):
    """No reply can come: the actor that owes it waits for the asker. A wait with a timeout counts too.

    The text names the actors by class (of many the first and the last), so that it is the same whenever a
    run is repeated; ``actors`` holds the refs of those in the cycle, in the order in which each waits for
    the next.
    """

    def __init__(self, text: str, actors: "Sequence[pykka.ActorRef[Any]]" = ()) -> None:
        super().__init__(text)
        self.actors = tuple(actors)


class ForeignAwaitable(RuntimeFault):
    """A handler awaited what is not the runtime's, or used asyncio where no loop runs; see ``on_loop``."""


class LoopNotRunning(RuntimeFault):
    """A coroutine was given to an asyncio loop that does not run it; see ``on_loop``."""


class MailboxFull(RuntimeFault):
    """A bounded mailbox had no room for this message."""


class NothingToRun(RuntimeFault):
    """A test waits for a future that no step of the manual dispatcher can complete."""


class NeverSettles(RuntimeFault):
    """A test lets actors settle that always have more to do."""


class StartFailed(RuntimeFault):
    """A child could not be started: making it or its ``on_start`` raised the error that is the cause."""


class RestartsExceeded(RuntimeFault):
    """Children had to be restarted more often than the supervisor's restart intensity allows."""


class ReplyLost(pykka.ActorDeadError):
    """The life that had taken a reply over ended before it gave it; one that comes later is only counted."""

    def __init__(self, text: str, late: Callable[[], None]) -> None:
        super().__init__(text)
        self.late = late


class ReplyOverdue(pykka.Timeout):
    """No reply came within the time that ``request`` was given; one that comes later is only counted."""

    def __init__(self, asked: object, seconds: float, late: Callable[[], None]) -> None:
        whose = "" if asked is None or isinstance(asked, tuple) else f" from {asked}"
        super().__init__(f"no reply{whose} within {seconds:g} seconds")
        self.late = late
