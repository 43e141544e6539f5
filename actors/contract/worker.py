"""What a relay and its workers say to each other, as frozen pydantic models.

A *turn* is named by the id of the message that opened it, so handing the same turn over twice is
recognised by the worker and runs once.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

TurnOutcome = Literal["done", "failed", "stopped"]
StopReason = Literal["end", "length", "refused", "empty", "died", "timeout", "interrupted"]
ErrorClass = Literal["auth", "rate_limit", "overloaded", "other"]


class WorkerModel(BaseModel):
    """Base of every message of the worker protocol: frozen, and foreign fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class RunTurn(WorkerModel):
    """Relay to worker: run this prompt as a turn of its session.

    ``text`` is the sender's own text, never anything that the relay added; with ``has_item`` a
    ``callable`` gets the JSON value ``item`` instead; ``timeout`` is in seconds, None for none.
    """

    kind: Literal["run_turn"] = "run_turn"
    session: str
    turn: str
    provider: str
    text: str
    item: Any = None
    has_item: bool = False
    cwd: str | None = None
    environment: dict[str, str] = Field(default_factory=dict)
    timeout: float | None = Field(default=None, gt=0)


class StopTurn(WorkerModel):
    """Relay to worker: end this turn, first politely; what it produced so far comes with its end."""

    kind: Literal["stop_turn"] = "stop_turn"
    session: str
    turn: str


class TurnTaken(WorkerModel):
    """Worker to relay: the receipt, given before the agent gets the prompt."""

    kind: Literal["turn_taken"] = "turn_taken"
    session: str
    turn: str


class TurnOutput(WorkerModel):
    """Worker to relay: a piece of a reply that is still being written."""

    kind: Literal["turn_output"] = "turn_output"
    session: str
    turn: str
    text: str


class TurnEnded(WorkerModel):
    """Worker to relay: the one end of a turn.

    ``reply`` is the whole reply within the worker's bound (``truncated`` says that it was cut in the
    middle); ``exit_code`` is the command's, None for anything else; ``seconds`` is the turn's running time.
    """

    kind: Literal["turn_ended"] = "turn_ended"
    session: str
    turn: str
    outcome: TurnOutcome
    stop_reason: StopReason = "end"
    reply: str = ""
    truncated: bool = False
    error_text: str | None = None
    error_class: ErrorClass | None = None
    exit_code: int | None = Field(default=None, ge=-(2**31), lt=2**31)
    seconds: float = Field(default=0.0, ge=0)


ToWorker = Annotated[RunTurn | StopTurn, Field(discriminator="kind")]
FromWorker = Annotated[TurnTaken | TurnOutput | TurnEnded, Field(discriminator="kind")]

TO_WORKER: TypeAdapter[RunTurn | StopTurn] = TypeAdapter(ToWorker)
FROM_WORKER: TypeAdapter[TurnTaken | TurnOutput | TurnEnded] = TypeAdapter(FromWorker)
