"""A fan-out as the program that started it sees it: results to iterate over, and a way to stop."""

import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from showcaller.actors.contract.errors import invalid
from showcaller.actors.contract.fanout import FanoutSpec
from showcaller.actors.contract.problems import named_problem
from showcaller.actors.contract.times import time_text
from showcaller.actors.relay.fanout_messages import Room, StopFanout
from showcaller.actors.runtime import ActorDeadError, ActorRef, Future
from showcaller.transport.doors.opener import Opener

if TYPE_CHECKING:
    from showcaller.actors.contract.fanout import ItemResult

MOST_RESULTS = 1_000
MOST_TEXT = 64_000_000  # characters


class LocalFanout:
    """Hears of a fan-out on the dispatcher's thread and hands on to the thread that iterates.

    ``started`` and ``running`` may be read from any thread. ``results`` gives each result once, to
    whoever asks first. While 1,000 results wait to be taken, or 64 million characters of replies, the
    fan-out takes up no further items: whoever starts one must take its results, or stop it.
    """

    def __init__(self, group: str) -> None:
        self.group = group
        self.name = group
        self.total = 0
        self.started = 0
        self.running = 0
        self._spec: FanoutSpec | None = None
        self._begun: Future[None] = Future()
        self._results: SimpleQueue[ItemResult | None] = SimpleQueue()
        self._lock = threading.Lock()  # guards the three below
        self._waiting = 0
        self._text = 0
        self._owes_room = False
        self._error: Exception | None = None
        self._ref: ActorRef[Any] | None = None
        self._opener = Opener()

    # -- as the fan-out's listener -----------------------------------------------------------------

    def ready(self, spec: "FanoutSpec", name: str, total: int) -> None:
        """It is stored, or was found, and begins."""
        self._spec, self.name, self.total = spec, name, total
        self._begun.try_set()

    def moved(self, started: int, running: int) -> None:
        """So many items were started in this run, and so many run now."""
        self.started, self.running = started, running

    def result(self, result: "ItemResult") -> None:
        """An item has its end."""
        with self._lock:
            self._waiting += 1
            self._text += len(result.reply)
        self._results.put(result)

    def has_room(self) -> bool:
        """Tell whether fewer results wait than are kept; if not, the fan-out is told when they are taken."""
        with self._lock:
            has_room = self._waiting < MOST_RESULTS and self._text < MOST_TEXT
            self._owes_room = not has_room
            return has_room

    def finished(self, error: Exception | None) -> None:
        """Nothing more comes."""
        self._error = error
        self._results.put(None)
        self._begun.try_set()

    # -- for whoever started it --------------------------------------------------------------------

    def follow(self, ref: ActorRef[Any]) -> None:
        """Wait until the fan-out has begun; raises what kept it from that."""
        self._ref = ref
        self._begun.get()
        if self._spec is None and self._error is not None:
            raise self._error

    @property
    def spec(self) -> "FanoutSpec":
        """What was asked for."""
        if self._spec is None:
            raise RuntimeError(f"the fan-out {self.group} has not begun")
        return self._spec

    def results(self) -> "Iterator[ItemResult]":
        """Give one result per item, the recorded ones first, then each as it ends; blocks between them.

        Raises what ended the fan-out early, such as a ``Refusal`` because the disk is full.
        """
        self._opener.check()
        while (result := self._results.get()) is not None:
            self._taken(result)
            yield result
        self._results.put(None)  # for whoever asks again
        if self._error is not None:
            raise self._error

    def __iter__(self) -> "Iterator[ItemResult]":
        """Iterate over the results, as ``results`` gives them."""
        return self.results()

    def _taken(self, result: "ItemResult") -> None:
        with self._lock:
            self._waiting -= 1
            self._text -= len(result.reply)
            is_due = self._owes_room and self._waiting <= MOST_RESULTS // 2 and self._text <= MOST_TEXT // 2
            self._owes_room = self._owes_room and not is_due
        if is_due:
            self._tell(Room())

    def stop(self) -> None:
        """Start no more items and interrupt those that run. Thread-safe; a second call is harmless."""
        self._tell(StopFanout())

    def _tell(self, message: Room | StopFanout) -> None:
        if self._ref is None or not self._opener.is_here:
            return
        try:
            self._ref.tell(message)
        except ActorDeadError:
            return  # it has ended by itself


def fanout_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give stored fan-outs as their owner reads of them.

    Each has ``group``, ``name``, ``createdAt``, ``items``, ``ended``, ``notDone`` (of those that ended),
    ``endedAs`` (how many of these ended in which way) and ``state``: ``ended`` or ``unfinished``.
    """
    return [
        {
            "group": row["group"],
            "name": row["name"],
            "createdAt": time_text(row["created_at"]),
            "items": row["total"],
            "ended": row["recorded"],
            "notDone": row["recorded"] - row["counts"].get("done", 0),
            "endedAs": dict(sorted(row["counts"].items())),
            "state": "ended" if row["recorded"] == row["total"] else "unfinished",
        }
        for row in rows
    ]


def checked_spec(spec: object) -> FanoutSpec:
    """Check a specification once more, as a changed copy may hold anything; raises ``Refusal``."""
    if not isinstance(spec, FanoutSpec):
        raise invalid(f"A fan-out is told what to do by a FanoutSpec; {type(spec).__name__} came.")
    try:
        return FanoutSpec.model_validate(dict(spec))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise invalid(f"The FanoutSpec: {named_problem(first)}.") from error
