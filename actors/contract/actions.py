"""The action table: all 23 actions, what each needs, and which of them are built."""

from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from showcaller.actors.contract.calls import Call, CreateSession, ListSessions, ReadSession, Send, Wait
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.foreign_text import quote_foreign

Level = Literal["none", "read", "prompt", "full", "this relay"]
"""The lowest level of a pairing that allows an action there; ``this relay``: not on a paired relay at all."""
When = Literal["never", "always", "with session"]


class Action(NamedTuple):
    """One row of the table.

    ``level`` is what a pairing must allow, ``level_with_session`` what it must allow when the call names
    a session there; ``write`` says when the call asks first in the modes ask and plan; ``prompt`` when it
    counts among the prompts that are allowed unasked; ``own_card`` that it has consent rules of its own;
    ``relay_optional`` that a missing relay means ``this``; ``takes_relay`` that there is one at all;
    ``model`` is None for an action that is not built.
    """

    name: str
    level: Level
    write: When = "never"
    prompt: When = "never"
    level_with_session: Level | None = None
    own_card: bool = False
    relay_optional: bool = False
    takes_relay: bool = True
    model: type[Call] | None = None

    @property
    def available(self) -> bool:
        """True when the action is built."""
        return self.model is not None


_ROWS: Final = (
    Action("list_relays", "none", takes_relay=False),
    Action("relay_info", "read"),
    Action("usage", "read"),
    Action("list_sessions", "read", model=ListSessions),
    Action("read_session", "read", model=ReadSession),
    Action("read_task_output", "read"),
    Action("send", "prompt", write="always", prompt="always", model=Send),
    Action("create_session", "full", write="always", prompt="always", model=CreateSession),
    Action("update_session", "full", write="always"),
    Action("wait", "read", model=Wait),
    Action("answer_question", "full", write="always", prompt="always"),
    Action("stop", "full", write="always"),
    Action("archive", "full", write="always"),
    Action("subscribe", "read", own_card=True, relay_optional=True),
    Action("unsubscribe", "read", relay_optional=True),
    Action("list_subscriptions", "read", relay_optional=True),
    Action("transfer_subscriptions", "read", own_card=True, relay_optional=True),
    Action("schedule", "this relay", write="with session", prompt="with session", relay_optional=True),
    Action("list_schedules", "this relay", relay_optional=True),
    Action("unschedule", "this relay", relay_optional=True),
    Action("ask", "none", write="with session", level_with_session="prompt", relay_optional=True),
    Action("list_questions", "none", relay_optional=True),
    Action("withdraw", "none", relay_optional=True),
)

ACTIONS: Final = MappingProxyType({row.name: row for row in _ROWS})
"""Every action by its name, in the order of the contract."""


def available_actions() -> list[Action]:
    """Give the actions that are built, in the order of the contract."""
    return [row for row in ACTIONS.values() if row.available]


def find_action(name: str) -> Action:
    """Give the row of an action's name, in any case.

    Raises:
        Refusal: for an unknown name, with the names that there are.

    """
    row = ACTIONS.get(name.lower())
    if row is None:
        raise unknown_action(name)
    return row


def unknown_action(name: str | None) -> Refusal:
    """Make the refusal of an action that does not exist, or of a call that names none."""
    known = list(ACTIONS)
    problem = (
        "The call names no action." if name is None else f"There is no action {quote_foreign(name, 80)}."
    )
    return Refusal(Code.INVALID_INPUT, f"{problem} Actions: {', '.join(known)}.", actions=known)


def unsupported(row: Action) -> Refusal:
    """Make the refusal of an action that this version does not have."""
    built = [each.name for each in available_actions()]
    return Refusal(
        Code.UNSUPPORTED,
        f"This version of the relay does not have {row.name} yet. It has: {', '.join(built)}.",
        actions=built,
    )
