"""What supervisors are answered: events, sessions as they stand, and lines of output, each with a cursor."""

from typing import ClassVar

from showcaller.actors.contract.calls.base import CallResult
from showcaller.actors.contract.views import LastTurn, Moment, ResultModel, State, Waiting


class EventView(ResultModel):
    """An event of the log: ``event`` is its name, ``text`` the start of a reply, an error or a description.

    ``message_id`` is the turn it tells of, ``task_id`` the background task. Of a turn's end, ``status``
    says which it was (``done``, ``failed`` or ``stopped``), and ``stop_reason`` refines the first two.
    """

    cursor: int
    event: str
    session: str
    title: str
    at: Moment
    message_id: str | None = None
    task_id: str | None = None
    status: str | None = None
    stop_reason: str | None = None
    text: str


class WatchedView(ResultModel):
    """How a watched session stands; ``message_id`` is the turn that runs."""

    session: str
    title: str
    state: State
    waiting: Waiting | None = None
    queued: int
    last_turn: LastTurn | None = None
    message_id: str | None = None


class MonitorResult(CallResult):
    """The answer to ``session_monitor``.

    ``fired`` is what happened after the cursor that was given, oldest first; ``already_idle`` and
    ``already_waiting`` the named sessions that were idle, or waited for an answer, when a call without a
    cursor came that waits for that; ``pending`` those in which something is still
    to come: a turn runs or waits, a background task runs, or somebody is asked. ``next`` is the cursor to go
    on with; with ``more`` there is more after it by now. ``gap``: the log was cut, and is whole from there.
    """

    null_said: ClassVar[frozenset[str]] = frozenset({"gap"})

    fired: tuple[EventView, ...]
    pending: tuple[WatchedView, ...]
    already_idle: tuple[WatchedView, ...] = ()
    already_waiting: tuple[WatchedView, ...] = ()
    next: int
    gap: int | None = None
    more: bool = False
    timed_out: bool = False


class EventsResult(CallResult):
    """The answer to ``session_events``; ``next``, ``more`` and ``gap`` are those of ``MonitorResult``."""

    null_said: ClassVar[frozenset[str]] = frozenset({"gap"})

    events: tuple[EventView, ...]
    next: int
    gap: int | None = None
    more: bool = False


class OutputLine(ResultModel):
    """A line that an agent has written in the turn of ``message_id``."""

    text: str
    message_id: str


class OutputResult(CallResult):
    """The answer to ``session_output``.

    ``next`` is the cursor to go on with; with ``more`` there are more lines after it by now. ``cut``: lines
    between the cursor that was given and these are not there, because only the end of what a running turn
    has written is kept; those of a turn that has ended are all there, from an older cursor on.
    """

    session: str
    state: State
    lines: tuple[OutputLine, ...]
    next: str
    more: bool = False
    cut: bool = False
