"""Letting time pass in a handler, on the clock that its timers have."""

from showcaller.actors.runtime.context import here
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.program import default_dispatcher


def sleep(seconds: float) -> Future[None]:
    """Give a future that is done in ``seconds``, to ``await`` in a handler; others are served meanwhile.

    The time is that of the dispatcher that runs the handler (elsewhere of the surrounding ``with
    dispatcher:``, or the process's own), so a test moves it. 0 or less lets those go first who have mail
    now. Ends in ``DispatcherClosed`` when that dispatcher is closed before. Thread-safe.
    """
    dispatcher = here.dispatcher
    slept: Future[None] = Future()
    (default_dispatcher() if dispatcher is None else dispatcher).timers.wake(slept, seconds)
    return slept
