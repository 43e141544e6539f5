"""What the owner may say in a call that is no argument of the tool, so that no agent can."""

from typing import Any, Final, NamedTuple

from showcaller.actors.contract.actions import Action
from showcaller.actors.contract.calls import OwnersUpdate
from showcaller.actors.contract.errors import invalid

RESUME: Final = "resume"
LONGEST_ID: Final = 200
"""Characters of an agent's own id of a conversation."""


_OWNERS: Final = {"update_session": OwnersUpdate}
"""Actions of which the owner may say more, with the model of such a call."""


def owners_row(row: Action) -> Action:
    """Give the row of an action as the owner may call it."""
    model = _OWNERS.get(row.name)
    return row if model is None else row._replace(model=model)


def is_owners(argument: str) -> bool:
    """Tell whether an argument is the owner's alone to set, in whatever way it is written."""
    plain = "".join(letter for letter in argument.casefold() if letter.isalnum())
    return plain == "maycreatesessions"


class OwnersCall(NamedTuple):
    """A call without what is the owner's; ``resume`` is the conversation that a new session continues."""

    arguments: Any
    resume: str | None = None


def owners_call(arguments: Any) -> OwnersCall:
    """Take out of an owner's call what only an owner may say; raises ``Refusal`` for what names nothing.

    ``resume`` of ``create_session`` is an agent's own id of a conversation that Showcaller has not run.
    """
    if not isinstance(arguments, dict) or arguments.get("action") != "create_session":
        return OwnersCall(arguments)
    resume = arguments.get(RESUME)
    rest = {name: value for name, value in arguments.items() if name != RESUME}
    if resume is None:
        return OwnersCall(rest)
    if not isinstance(resume, str) or not 0 < len(resume.strip()) <= LONGEST_ID or not resume.isprintable():
        raise invalid(
            f"create_session: resume is an agent's own id of a conversation, one line of 1 to {LONGEST_ID} "
            "characters. Nothing was created."
        )
    return OwnersCall(rest, resume.strip())
