"""What a relay and its workers say to each other about agents: how one is run, and what it asks people."""

from typing import Any, Literal

from pydantic import Field

from showcaller.actors.contract.agent_entries import KILL_GRACE, McpTransport
from showcaller.actors.contract.worker_model import Sequenced, WorkerModel

CardKind = Literal["permission", "ask_user"]
OptionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always", "choice"]
CardOutcome = Literal["answered", "dismissed", "timed_out", "withdrawn"]
AgentLife = Literal["starting", "alive", "none"]
WhyGone = Literal["idle", "died", "killed", "closed"]
ResumedVia = Literal["alive", "resume", "load", "new"]


class McpServer(WorkerModel):
    """An MCP server that an agent is told of: by ``url``, by ``command``, or both, of which it takes one.

    With ``has_token`` it is the relay's own door, and gets the token that is in the turn's environment: as a
    bearer by its url, as the variable by its command.
    """

    name: str
    url: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    command: Sequenced[str] = ()
    environment: dict[str, str] = Field(default_factory=dict)
    has_token: bool = False


class CloneSource(WorkerModel):
    """The repository that a session's folder is a clone of, and the hosts from which one may be cloned.

    Without an address the agent works on clones and its session names none, so that the turn fails.
    """

    url: str
    branch: str | None = None
    hosts: Sequenced[str] = ()


class AgentSpec(WorkerModel):
    """How a turn's agent is run; an agent that already runs for the session is kept.

    ``resume`` is the agent's own id of the conversation that the session had. With ``resume_required``, or
    once this worker has given that conversation a prompt, the turn fails when it cannot be continued; it is
    never begun anew under its name. ``folders`` are those that the agent's requests for files and terminals
    may reach, beside its own. With ``clone`` its own is a clone of that, made before the first turn.
    ``session_meta`` goes with each opening of a conversation. What is None of
    ``model``, ``mode`` and ``effort`` is left as the agent has it.
    """

    name: str
    label: str
    command: Sequenced[str]
    environment: dict[str, str] = Field(default_factory=dict)
    install: str = ""
    mcp: McpTransport = "both"
    servers: Sequenced[McpServer] = ()
    folders: Sequenced[str] = ()
    clone: CloneSource | None = None
    model: str | None = None
    mode: str | None = None
    effort: str | None = None
    resume: str | None = None
    resume_required: bool = False
    loads: bool = True
    resumes: bool = True
    model_option: str = "model"
    session_meta: dict[str, Any] = Field(default_factory=dict)
    kill_grace: float = Field(default=KILL_GRACE, ge=0)


class CardOption(WorkerModel):
    """One choice of a card; ``id`` is the agent's own for it."""

    id: str
    label: str
    kind: OptionKind = "choice"


class CardAsked(WorkerModel):
    """Worker to relay: an agent asks within this turn, and waits for the one ``AnswerCard`` of this card.

    ``card`` is the worker's own name for it, unique in the session for good; told again to a relay that is
    another than before. ``form`` is the JSON schema of a form, if it is one.
    """

    kind: Literal["card_asked"] = "card_asked"
    session: str
    turn: str
    card: str
    card_kind: CardKind
    question: str
    detail: str = ""
    options: Sequenced[CardOption] = ()
    multi_select: bool = False
    allow_freeform: bool = False
    form: dict[str, Any] | None = None


class CardWithdrawn(WorkerModel):
    """Worker to relay: nobody waits for this card any more; an answer under way is too late."""

    kind: Literal["card_withdrawn"] = "card_withdrawn"
    session: str
    turn: str
    card: str


class AnswerCard(WorkerModel):
    """Relay to worker: what became of a card. ``choices`` are ids of its options, ``values`` those of a form.

    The first answer counts; one of a card that is gone is dropped. ``via`` says who has answered.
    """

    kind: Literal["answer_card"] = "answer_card"
    session: str
    turn: str
    card: str
    outcome: CardOutcome
    choices: Sequenced[str] = ()
    text: str | None = None
    values: dict[str, Any] | None = None
    via: str = ""


class AgentState(WorkerModel):
    """Worker to relay: how the agent process of a session stands.

    ``turn`` is the one whose environment, and so whose token, the process has. ``agent_session`` is the
    agent's own id of the conversation, told just before that is given its first prompt and not earlier: from
    then on it has to be continued. ``models``, ``modes`` and ``efforts`` are what the agent offers there. Of
    one that is gone ``why`` tells the reason: to go to sleep is ``idle``.
    """

    kind: Literal["agent_state"] = "agent_state"
    session: str
    state: AgentLife
    turn: str | None = None
    agent_session: str | None = None
    models: Sequenced[str] = ()
    modes: Sequenced[str] = ()
    efforts: Sequenced[str] = ()
    model: str | None = None
    version: str | None = None
    why: WhyGone | None = None
