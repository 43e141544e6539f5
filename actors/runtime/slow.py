"""The warning that names a handler which keeps others waiting."""

import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.context import BETWEEN
from showcaller.actors.runtime.unfailing_log import UnfailingLogger

if TYPE_CHECKING:
    from showcaller.actors.runtime.dispatcher import Dispatcher
    from showcaller.actors.runtime.threads import DispatcherThread

logger = UnfailingLogger("showcaller.actors")

_OURS = str(Path(__file__).parent)


class SlowWatch:
    """Told by a timer some time after a slice was overtaken: warns if that slice is still not over."""

    __slots__ = ("_dispatcher", "_runnable", "_seconds", "_thread")

    def __init__(self, dispatcher: "Dispatcher", thread: "DispatcherThread", seconds: float) -> None:
        self._dispatcher = dispatcher
        self._thread = thread
        self._seconds = seconds
        self._runnable = thread.runnable

    def tell(self, message: object) -> None:
        """Look at what the thread does, and warn."""
        thread = self._thread
        if (
            thread.watch is not self
            or self._runnable is BETWEEN
            or self._dispatcher.is_blocked(self._runnable)
        ):
            return
        frame = sys._current_frames().get(thread.ident)
        logger.warning(
            "%s is slow: %s has run for more than %g s while other actors waited; "
            "let it await, hand the work to another process, or pin the actor",
            self._runnable,
            name_of(frame, self._runnable.counters.actor_class),
            self._seconds,
        )


def name_of(frame: FrameType | None, actor_class: type[Any]) -> str:
    """Name the handler in whose call the frame is: the outermost function in the slice that is not ours.

    Just after a handler, while its end is told, that is what takes the messages of this class.
    """
    name = f"{actor_class.__qualname__}.on_receive"
    while frame is not None and frame.f_code.co_name != "run_slice":
        code = frame.f_code
        if not code.co_filename.startswith(_OURS):
            name = f"{code.co_qualname} (line {frame.f_lineno} of {code.co_filename})"
        frame = frame.f_back
    return name
