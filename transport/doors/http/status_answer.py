"""What ``GET /api/status`` answers."""

from typing import ClassVar, Literal

from showcaller.actors.contract.views import Moment, ResultModel


class RelayTold(ResultModel):
    """Which relay it is."""

    id: str
    name: str


class TurnsTold(ResultModel):
    """How many turns a worker has, and how many prompts wait."""

    running: int
    queued: int


class TasksTold(ResultModel):
    """How many tasks run in the background."""

    running: int


class FanoutTold(ResultModel):
    """A fan-out under way."""

    group: str
    name: str
    items: int
    ended: int
    running: int


class WorkerTold(ResultModel):
    """A worker process; its ``pid`` is None, written as null, while it starts or where it cannot be read."""

    null_said: ClassVar[frozenset[str]] = frozenset({"pid"})

    name: str
    pid: int | None
    version: str


class StatusAnswer(ResultModel):
    """How the relay does.

    Sessions whose caller names no folder work in ``default_folder``. With ``unsafe_no_cards`` what agents do
    goes through without anybody's consent.
    """

    ok: Literal[True] = True
    relay: RelayTold
    version: str
    pid: int
    address: str
    default_folder: str
    started_at: Moment
    sessions_awake: int
    turns: TurnsTold
    tasks: TasksTold
    fanouts: tuple[FanoutTold, ...]
    workers: tuple[WorkerTold, ...]
    unsafe_no_cards: bool
