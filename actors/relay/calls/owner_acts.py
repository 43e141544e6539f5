"""What an owner may do that is no action of the tool: the same shape of calls and results, no schema."""

from typing import ClassVar, Final, Literal

from showcaller.actors.contract.agent_messages import ResumedVia
from showcaller.actors.contract.approvals import Revoke
from showcaller.actors.contract.arguments import SessionName
from showcaller.actors.contract.arguments.names import session_name
from showcaller.actors.contract.calls import CallModel
from showcaller.actors.contract.errors import invalid
from showcaller.actors.contract.groups import GroupChange
from showcaller.actors.contract.inbox import Answer
from showcaller.actors.contract.results import CallResult


class Kill(CallModel):
    """Stop a session and end its agent's process at once."""

    nothing: ClassVar[str] = "Nothing was ended."

    action: Literal["kill"] = "kill"
    session: SessionName


class Delete(CallModel):
    """Delete a session that is not at work, with all that was said in it."""

    nothing: ClassVar[str] = "Nothing was deleted."

    action: Literal["delete"] = "delete"
    session: SessionName


class GoOn(CallModel):
    """Let run what waits in a session's queue after a stop."""

    nothing: ClassVar[str] = "Nothing was changed."

    action: Literal["go_on"] = "go_on"
    session: SessionName


class Restart(CallModel):
    """Go on with a session's conversation in a new process of its agent."""

    nothing: ClassVar[str] = "Nothing was restarted."

    action: Literal["restart"] = "restart"
    session: SessionName


class Unlock(CallModel):
    """Have the prompts of an external conversation to others count from 0 again."""

    nothing: ClassVar[str] = "Nothing was changed."

    action: Literal["unlock"] = "unlock"
    session: SessionName


OwnerAct = Kill | Delete | GoOn | Restart | Unlock | Answer | Revoke | GroupChange


OwnerActName = Literal["kill", "delete", "go_on", "restart", "unlock"]
NamedAct = Kill | Delete | GoOn | Restart | Unlock
_ACTS: Final[dict[str, type[NamedAct]]] = {
    "kill": Kill,
    "delete": Delete,
    "go_on": GoOn,
    "restart": Restart,
    "unlock": Unlock,
}


def read_act(name: OwnerActName, session: object) -> NamedAct:
    """Make the act of that name on the session that a text names; raises ``Refusal`` for what names none."""
    try:
        named = session_name(session)
    except ValueError as error:
        raise invalid(f"{name}: session {error}. {_ACTS[name].nothing}") from error
    return _ACTS[name](session=named)


class Done(CallResult):
    """The answer to ``delete`` and ``unlock``."""

    session: str


class GoOnResult(Done):
    """The answer to ``go_on``: whether a stop held the queue."""

    released: bool


class RestartResult(Done):
    """The answer to ``restart``: how the conversation came to be in the new process."""

    resumed_via: ResumedVia
