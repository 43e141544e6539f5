"""The table of approval cards: which are due for a call, what *Allow* grants, what a refusal is called. Pure.

It reads as the specification's table does, row by row. The rows of actions that this version does not carry
out yet stand in it as well: they are due for nothing until such a call comes.
"""

from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from showcaller.actors.contract.arguments import Mode
from showcaller.actors.contract.errors import Code
from showcaller.actors.contract.limits import PROMPTS_UNASKED
from showcaller.actors.contract.provider_entries import Kind

Standing = Literal["create", "subscribe", "settings"]
"""What an *Allow* can go on covering in a conversation, on one relay."""
RowName = Literal[
    "first create",
    "ask or plan",
    "first subscribe",
    "settings of others",
    "transfer",
    "loop guard",
    "for another session",
    "command",
]
Rows = tuple[RowName, ...]

STRICT: Final[frozenset[Mode]] = frozenset({"ask", "plan"})
"""The modes in which an agent asks before every write."""
_TO_A_COMMAND: Final = frozenset({"create_session", "send", "update_session", "answer_question", "schedule"})


class Write(NamedTuple):
    """What decides about a call which cards are due for it.

    ``is_write`` and ``is_prompt`` are what the table of actions says of this very call. ``mode`` is that of
    the caller's turn. ``names_session``: the call is about another session, which ``started_here`` says was
    started by this conversation, and whose turns are run as ``runs`` (None for one that no relay runs).
    ``loosens``: it names a looser mode than that session has. ``standing`` and ``prompts_unasked`` are what
    was allowed in this conversation so far, and how much its agent has prompted since.
    """

    action: str
    is_write: bool
    is_prompt: bool
    mode: Mode
    names_session: bool = False
    started_here: bool = False
    runs: Kind | None = None
    loosens: bool = False
    standing: frozenset[Standing] = frozenset()
    prompts_unasked: int = 0


class Row(NamedTuple):
    """A row: ``is_due`` for which calls, and what its *Allow* covers beside the call itself.

    ``stands``: all later calls of this kind, for good; ``restarts_count``: the loop guard begins again.
    """

    name: RowName
    is_due: Callable[[Write], bool]
    stands: Standing | None = None
    restarts_count: bool = False


class Grants(NamedTuple):
    """What the *Allow* of a card grants beside the call that it shows."""

    stands: tuple[Standing, ...] = ()
    restarts_count: bool = False


def _is_first_create(write: Write) -> bool:
    return write.action == "create_session" and "create" not in write.standing


def _is_strict(write: Write) -> bool:
    return write.is_write and write.mode in STRICT


def _is_first_subscribe(write: Write) -> bool:
    return write.action == "subscribe" and "subscribe" not in write.standing


def _is_about_others_settings(write: Write) -> bool:
    changes = write.action == "update_session" or (write.action == "send" and write.loosens)
    return changes and not write.started_here and "settings" not in write.standing


def _is_transfer(write: Write) -> bool:
    return write.action == "transfer_subscriptions"


def _is_one_prompt_too_many(write: Write) -> bool:
    return write.is_prompt and write.prompts_unasked >= PROMPTS_UNASKED


def _is_for_another(write: Write) -> bool:
    return write.action in {"schedule", "ask"} and write.names_session and write.mode in STRICT


def _is_about_a_command(write: Write) -> bool:
    return write.action in _TO_A_COMMAND and write.runs in {"command", "callable"}


TABLE: Final = (
    Row("first create", _is_first_create, stands="create"),
    Row("ask or plan", _is_strict),
    Row("first subscribe", _is_first_subscribe, stands="subscribe"),
    Row("settings of others", _is_about_others_settings, stands="settings"),
    Row("transfer", _is_transfer),
    Row("loop guard", _is_one_prompt_too_many, restarts_count=True),
    Row("for another session", _is_for_another),
    Row("command", _is_about_a_command),
)
"""The rows in the order of the specification."""
_BY_NAME: Final = {row.name: row for row in TABLE}


def due(write: Write) -> Rows:
    """Give the rows that want a card before this call is carried out; none: nobody is asked."""
    return tuple(row.name for row in TABLE if row.is_due(write))


def granted(rows: Rows) -> Grants:
    """Give what the *Allow* of a card grants that is due for these rows: what each of them does."""
    found = [_BY_NAME[name] for name in rows]
    stands: tuple[Standing, ...] = tuple(row.stands for row in found if row.stands is not None)
    return Grants(stands, restarts_count=any(row.restarts_count for row in found))


def denied_code(rows: Rows) -> Code:
    """Give the code of a call whose card was answered with *Deny*."""
    return Code.PERMISSION if "settings of others" in rows else Code.APPROVAL_DENIED


def can_be_shared(rows: Rows) -> bool:
    """Tell whether calls for which just these rows are due may share one card.

    An *Allow* of it covers each later call of the kind, so that none of them can pass by an answer which was
    given before it was listed. Where each call is asked about by itself, each has a card of its own.
    """
    return rows == ("first create",)
