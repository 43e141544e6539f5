"""What a relay and its workers say to each other, as frozen pydantic models.

A *turn* is named by the id of the message that opened it, so handing the same turn over twice is
recognised by the worker and runs once.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from showcaller.actors.contract.agent_messages import (
    AgentSpec,
    AgentState,
    AnswerCard,
    CardAsked,
    CardWithdrawn,
    ResumedVia,
)
from showcaller.actors.contract.worker_model import Sequenced, WorkerModel

TurnOutcome = Literal["done", "failed", "stopped"]
StopReason = Literal["end", "length", "refused", "empty", "died", "timeout", "interrupted"]
ErrorClass = Literal["auth", "rate_limit", "overloaded", "other"]
TaskType = Literal["agent", "command", "monitor"]
TaskOutcome = Literal["done", "failed", "stopped", "interrupted"]


class FixedCommand(WorkerModel):
    """A command that gets a prompt as its input: its arguments, and what is added to its environment."""

    arguments: Sequenced[str] = Field(min_length=1)
    environment: dict[str, str] = Field(default_factory=dict)


class RunTurn(WorkerModel):
    """Relay to worker: run this prompt as a turn of its session.

    The same turn again, after the relay was restarted, asks how it stands: a worker that has it gives its
    receipt and what came of it once more; one that has not takes it.

    ``text`` is the sender's own text, never anything that the relay added; with ``has_item`` a
    ``callable`` gets the JSON value ``item`` instead; ``timeout`` is in seconds, None for none.
    ``continues``: nobody has prompted, the agent goes on by itself after a background task has ended.
    ``background``: what the turn's work leaves running becomes a task; without it, it is ended with the turn.
    ``worker`` is the one under whose name the store has the turn, and stays with the relay: no other may
    get it, or the next relay would ask in vain where it runs.
    ``agent``: it is a turn of an agent that speaks the Agent Client Protocol, and this is how that is run;
    with ``opens`` it is given no prompt: its process ends, and its conversation is opened in another one.
    ``command``: that gets the text as its input, instead of a shell's getting it as a command line.
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
    continues: bool = False
    background: bool = False
    agent: AgentSpec | None = None
    opens: bool = False
    command: FixedCommand | None = None
    worker: str | None = Field(default=None, exclude=True)


class StopTurn(WorkerModel):
    """Relay to worker: end this turn, first politely; what it produced so far comes with its end."""

    kind: Literal["stop_turn"] = "stop_turn"
    session: str
    turn: str


class SteerTurn(WorkerModel):
    """Relay to worker: give this message to the agent within the turn under way.

    Answered with one ``TurnSteered``, before the turn's end unless the message has crossed that on its way;
    one message is given once.
    """

    kind: Literal["steer_turn"] = "steer_turn"
    session: str
    turn: str
    message: str
    text: str


class TurnStored(WorkerModel):
    """Relay to worker: the end of this turn is stored, so nothing of it need be kept."""

    kind: Literal["turn_stored"] = "turn_stored"
    session: str
    turn: str


class KillAgent(WorkerModel):
    """Relay to worker: end the session's agent process with all that it has started, at once.

    A turn and the tasks that were under way have their ends told as ever.
    """

    kind: Literal["kill_agent"] = "kill_agent"
    session: str


class AskTask(WorkerModel):
    """Relay to worker: tell once more what is kept of this task's output, and its end if it has one.

    Asked by a session of the relay that has begun anew. Of a task that the worker does not have, an end is
    told.
    """

    kind: Literal["ask_task"] = "ask_task"
    session: str
    task: str


class TaskStored(WorkerModel):
    """Relay to worker: the end of this task is stored, so nothing of it need be kept."""

    kind: Literal["task_stored"] = "task_stored"
    session: str
    task: str


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


class TurnActivity(WorkerModel):
    """Worker to relay: what an agent has done lately in a turn, in lines: thoughts, plans, tools."""

    kind: Literal["turn_activity"] = "turn_activity"
    session: str
    turn: str
    lines: Sequenced[str]


class TurnEnded(WorkerModel):
    """Worker to relay: the one end of a turn.

    ``reply`` is the whole reply within the worker's bound (``truncated`` says that it was cut in the
    middle); ``exit_code`` is the command's, None for anything else; ``seconds`` is the turn's running time.
    ``agent_session`` is the agent's own id of the conversation, and ``resumed_via`` how it came to be there
    for this turn. ``activity`` is what the agent did in it beside its text, in lines, as far as it is kept.
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
    agent_session: str | None = None
    resumed_via: ResumedVia | None = None
    activity: Sequenced[str] = ()


class TurnSteered(WorkerModel):
    """Worker to relay: whether the agent has taken a message into the turn.

    One that was not ``accepted`` has not been shown to the agent and may be handed over later.
    """

    kind: Literal["turn_steered"] = "turn_steered"
    session: str
    turn: str
    message: str
    accepted: bool


class TurnReturned(WorkerModel):
    """Worker to relay: this turn was handed over and never reached an agent, nor will it: it waits again."""

    kind: Literal["turn_returned"] = "turn_returned"
    session: str
    turn: str


class TaskStarted(WorkerModel):
    """Worker to relay: something runs in the background of a session, by itself until its end is told.

    ``task`` is the worker's own name for it, unique in the session for good; ``turn`` is the one in which it
    began. Told before that turn's end, and to each relay that comes before its own end is stored.
    """

    kind: Literal["task_started"] = "task_started"
    session: str
    task: str
    type: TaskType
    description: str
    turn: str | None = None


class TaskOutput(WorkerModel):
    """Worker to relay: raw output of a background task, as a terminal would get it.

    ``again``: all that is kept of it is told once more, in place of what was told before; ``silent`` is for
    how many seconds the task has been.
    """

    kind: Literal["task_output"] = "task_output"
    session: str
    task: str
    text: str
    again: bool = False
    silent: float = Field(default=0.0, ge=0)


class TaskEnded(WorkerModel):
    """Worker to relay: the one end of a background task, told when nothing of it is left.

    ``interrupted``: its worker ended, and it with that. ``exit_code`` is None where nobody knows it.
    ``output`` is the end of all its raw output, None for what was told of it before.
    ``continues``: the agent wants to go on because of it, in a turn of its own that nobody has prompted.
    """

    kind: Literal["task_ended"] = "task_ended"
    session: str
    task: str
    outcome: TaskOutcome
    exit_code: int | None = Field(default=None, ge=-(2**31), lt=2**31)
    continues: bool = False
    output: str | None = None


ToWorkerMessage = RunTurn | SteerTurn | StopTurn | TurnStored | KillAgent | AskTask | TaskStored | AnswerCard
FromWorkerMessage = (
    TurnTaken
    | TurnOutput
    | TurnActivity
    | TurnSteered
    | TurnEnded
    | TurnReturned
    | TaskStarted
    | TaskOutput
    | TaskEnded
    | CardAsked
    | CardWithdrawn
    | AgentState
)

TO_WORKER: TypeAdapter[ToWorkerMessage] = TypeAdapter(Annotated[ToWorkerMessage, Field(discriminator="kind")])
FROM_WORKER: TypeAdapter[FromWorkerMessage] = TypeAdapter(
    Annotated[FromWorkerMessage, Field(discriminator="kind")]
)
