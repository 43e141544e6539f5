"""What the relay's actors tell each other; plain data, read top down along one prompt's way."""

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from showcaller.actors.contract.agent_messages import ResumedVia
from showcaller.actors.contract.worker import TaskType, TurnEnded
from showcaller.actors.relay.turn_signals import Why
from showcaller.store.batch import Answer

if TYPE_CHECKING:
    from showcaller.actors.runtime import ActorRef


class ItemLink(NamedTuple):
    """The item of a fan-out that a prompt is an attempt at."""

    group: str
    number: int


class Prompt(NamedTuple):
    """A prompt to store and then to run: the row of the message, and who hears of its end.

    ``row`` is what ``store.commands`` takes as a new message; ``item`` makes it an attempt at a fan-out's
    item; with ``only_if_idle`` it is refused as busy when anything waits or runs; ``listener`` gets a
    ``TurnOver`` besides those that ask to wait. An agent's is refused when ``unasked_limit`` were sent
    already (``OneTooMany``), or the session has another mode than ``mode_then`` (``CheckedTooEarly``).
    """

    row: dict[str, Any]
    item: ItemLink | None = None
    only_if_idle: bool = False
    listener: "ActorRef[Any] | None" = None
    unasked_limit: int | None = None
    mode_then: str | None = None


class CreateSession(NamedTuple):
    """To the supervisor: make a session with its first prompt. Answered with ``Accepted`` or a Refusal."""

    row: dict[str, Any]
    prompt: Prompt


class ToSession(NamedTuple):
    """To the supervisor: pass this on to the session, which is woken if it sleeps."""

    session: str
    message: Any


class AwaitReady(NamedTuple):
    """To the supervisor: answer with the relay's ``Identity`` once it has recovered and takes calls."""


class Identity(NamedTuple):
    """Which relay this is: what its store was given first, whatever the host is called now."""

    id: str
    name: str


class Close(NamedTuple):
    """To the supervisor: end, and answer when nothing is under way here and all is stored.

    What runs is interrupted, unless its worker outlives the relay and it ``leaves`` it to that.
    """

    leaves: bool = False


class WriteId(NamedTuple):
    """What a caller named a write: kept with its effect, so that a repeat gives the first result.

    Whoever sends one has looked in the store whether it is a repeat; only two at the same time both act.
    """

    caller: str
    client_id: str
    fingerprint: str


class GoOn(NamedTuple):
    """To a session: let run what waits in its queue, also what a stop has held, as its owner wishes.

    With a ``message`` its fan-out wishes so: of what fan-outs have set aside only this one goes on. Answered
    with None once it is stored that nothing holds the queue, or with a Refusal; then it is held as before.
    """

    message: str | None = None


class Wake(NamedTuple):
    """To a session: be awake, so that what waits goes on unless a stop holds it; answered with None."""


class IfAwake(NamedTuple):
    """To the supervisor: pass this on to the session unless it sleeps; then the answer is None."""

    session: str
    message: Any


class Accepted(NamedTuple):
    """The answer to a prompt: it is stored, or was already (``duplicate``); ``handed``: its turn begins."""

    session: str
    message: str
    duplicate: bool = False
    handed: bool = False


class AwaitEnd(NamedTuple):
    """To a session: answer with a ``TurnOver`` once this message has its end.

    None says that no end will come of it here: the store says how it stands.
    """

    message: str


class Listen(NamedTuple):
    """To a session: tell ``listener`` when this message, queued or running, has its end; answered at once."""

    message: str
    listener: "ActorRef[Any]"


class AwaitTurnGone(NamedTuple):
    """To a session: answer with True once neither this turn nor a task that it began goes on, as stored.

    False or None says that the session cannot tell: ask again.
    """

    turn: str


class AwaitMessage(NamedTuple):
    """To an external conversation's session: answer with True once a message waits that is not ``known``.

    False says that it ends without one.
    """

    known: frozenset[str] = frozenset()


class TakeMessages(NamedTuple):
    """To an external conversation's session: its client has these messages, so they are done.

    Answered with None once that is stored, or with a Refusal; then they wait as before.
    """

    messages: tuple[str, ...]


class Look(NamedTuple):
    """To a session: answer with its ``Glance``."""


class LookFacts(NamedTuple):
    """To a session: answer with its ``Facts``; None when it does not know them, or is archived or deleted.

    Neither counted nor kept until it has loaded: who asks has the store besides.
    """


class Facts(NamedTuple):
    """What a session is and stays, as its row in the store has it; ``created_by`` is None for the owner's."""

    id: str
    provider: str
    mode: str
    model: str | None
    effort: str | None
    created_by: str | None


class TaskGlance(NamedTuple):
    """A background task that runs; ``id`` is the relay's own, times are milliseconds since the epoch (UTC).

    ``last_output_at`` is when it was last heard of, its start included; ``has_output`` whether it wrote.
    """

    id: str
    type: TaskType
    description: str
    status: Literal["running"]
    started_at: int
    last_output_at: int
    has_output: bool


class Glance(NamedTuple):
    """What only a session's actor knows: the turn under way and what it has written so far.

    ``steered`` are the messages that have joined the turn or are being given to its agent; ``held``: a stop
    holds the queue; ``tasks`` run in the background; ``asks``: the turn may wait on a card;
    ``activity`` are the last lines of what it does.
    """

    turn: str | None
    phase: str | None
    text: str
    queued: tuple[str, ...]
    steered: tuple[str, ...] = ()
    held: bool = False
    tasks: tuple[TaskGlance, ...] = ()
    asks: bool = False
    activity: tuple[str, ...] = ()


class LookTask(NamedTuple):
    """To a session: answer with the ``TaskTail`` of a task by the relay's id; None when none of it runs."""

    task: str


class TaskTail(NamedTuple):
    """The raw end of what a running task has written, as a terminal would get it; ``cut``: not all of it."""

    task: TaskGlance
    raw: str
    cut: bool


class AwaitOutput(NamedTuple):
    """To a session: answer with its ``OutputGlance`` when there is news of what its agent writes.

    At once when another turn than ``turn`` is under way, or none, or when it has written more than ``size``
    characters; else when one of these is so.
    """

    turn: str | None
    size: int


class OutputGlance(NamedTuple):
    """What the turn under way (None without one) has written: ``size`` characters, the last are kept."""

    turn: str | None
    text: str
    size: int


class NotUnderWay(NamedTuple):
    """From a session to a listener: no end will come of this message here; the store says how it stands."""

    message: str


class StoreTrouble(NamedTuple):
    """From a session to a listener: what this message needs stored was refused, and is tried again."""

    message: str
    error: Exception


class StopRunning(NamedTuple):
    """To a session: end the turn under way, and begin no other by itself.

    ``why``: ``stopped`` is somebody's wish, answered with ``Stopped`` once the hold of the queue is stored,
    or with a Refusal when it cannot be (the turn is ended all the same); ``interrupted`` a fan-out's that
    cuts its own ``message``, which leaves other messages' turns alone; ``closing`` says that the relay ends,
    and ``leaving`` that its workers go on with what they have. These are answered with whether a turn was
    under way. ``call`` names the write that somebody's wish is; ``cut``: a call of an external conversation
    was cut, which is the turn that such a one has.
    """

    why: Why = "stopped"
    message: str | None = None
    call: WriteId | None = None
    cut: bool = False


class Kill(NamedTuple):
    """To a session: stop it, and end its agent's process at once with all that it has started.

    Answered as a stop is; background tasks of the agent end with it, each with an end of its own.
    """

    call: WriteId | None = None
    cut: bool = False


class Stopped(NamedTuple):
    """The answer to a stop; ``requested`` is false when nothing was under way that could be ended.

    ``waiting``: how many messages stay in the queue.
    """

    requested: bool
    waiting: int = 0


class Restart(NamedTuple):
    """To a session: have its agent's process end, and its conversation go on in another one.

    Answered with ``Restarted`` once it is open, or with a Refusal.
    """


class Restarted(NamedTuple):
    """The answer to a restart: how the conversation came to be in the new process."""

    via: ResumedVia


class Archive(NamedTuple):
    """To a session: put it away unless it works (a Refusal, busy); answered with ``PutAway``."""

    call: WriteId | None = None


class Delete(NamedTuple):
    """To a session: delete it for good unless it works (a Refusal, busy); answered with ``PutAway``."""

    call: WriteId | None = None


class PutAway(NamedTuple):
    """The answer to ``Archive`` and ``Delete``; ``cancelled`` are the messages that waited in the queue."""

    cancelled: tuple[str, ...] = ()


class Repeated(NamedTuple):
    """The answer to a write that was sent before under its ``WriteId``: the store's first result."""

    result: Any


class TurnOver(NamedTuple):
    """A message has its end, and that is stored; ``reply`` is the id of the agent's message, if any.

    ``leaves_tasks``: background tasks may be running in its session.
    """

    session: str
    message: str
    end: TurnEnded
    reply: str | None
    leaves_tasks: bool = True


class Loaded(NamedTuple):
    """From the readers to a session that was woken: its row with its unfinished messages, or what failed."""

    row: dict[str, Any] | None
    error: Exception | None


class Write(NamedTuple):
    """To the writer: one command; ``sender`` gets a ``Written`` with the same ``tag`` after the commit."""

    name: str
    arguments: dict[str, Any]
    sender: "ActorRef[Any]"
    tag: Any


class Written(NamedTuple):
    """From the writer: what became of a command."""

    tag: Any
    answer: Answer


class StoreGone(NamedTuple):
    """From the supervisor to all: nothing can be stored any more in this run of the relay; end with this."""

    error: Exception


class AwaitStored(NamedTuple):
    """To the writer: answer once everything told before is stored or refused, or the writer has ended."""


class MaySleep(NamedTuple):
    """From a session that has nothing to do: let me sleep if you have sent me no more than ``handled``.

    ``ref`` is its own: the session of that id may be awake again by the time this is read. ``at_once``: it is
    not worth to be kept awake for what may come.
    """

    session: str
    handled: int
    ref: "ActorRef[Any]"
    at_once: bool = False


class FallAsleep(NamedTuple):
    """From the supervisor to a session that was kept awake: sleep at once if there is nothing to do."""


class Fell(NamedTuple):
    """From a session that fails because of a mistake of ours: this life of it has ended."""

    session: str
    ref: "ActorRef[Any]"
