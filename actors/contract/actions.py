"""The action table: all 23 actions, what each takes, needs and gives back, and which are carried out."""

from types import MappingProxyType
from typing import Final, Literal, NamedTuple, get_args

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.calls import Call, CallModel
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.results import CallResult

Level = Literal["none", "read", "prompt", "full", "this relay"]
"""The lowest level of a pairing that allows an action there; ``this relay``: not on a paired relay at all."""
When = Literal["never", "always", "with session"]


class Action(NamedTuple):
    """One row of the table.

    ``model`` is its call and ``result`` what that gives back; ``level`` is what a pairing must allow,
    ``level_with_session`` what it must allow when the call names a session there; ``write`` says when the
    call asks first in the modes ask and plan; ``prompt`` when it counts among the prompts that are allowed
    unasked; ``own_card`` that it has consent rules of its own.
    """

    name: str
    level: Level
    model: type[CallModel]
    result: type[CallResult]
    write: When = "never"
    prompt: When = "never"
    level_with_session: Level | None = None
    own_card: bool = False

    @property
    def available(self) -> bool:
        """True when this version carries the action out; False when only its call is known."""
        return self.model in get_args(Call)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of its arguments, in the order in which callers read of them."""
        fields = self.model.model_fields.items()
        return tuple(field.alias or name for name, field in fields if name != "action")

    @property
    def takes_relay(self) -> bool:
        """True when there is a relay to name."""
        return "relay" in self.model.model_fields

    @property
    def relay_optional(self) -> bool:
        """True when a missing relay means ``this``."""
        return self.takes_relay and not self.model.model_fields["relay"].is_required()

    def is_write(self, call: CallModel) -> bool:
        """Tell whether this call counts among the writes, and asks first in the modes ask and plan."""
        return _applies(self.write, call)

    def is_prompt(self, call: CallModel) -> bool:
        """Tell whether this call counts among the prompts that are allowed unasked."""
        return _applies(self.prompt, call)

    def level_of(self, call: CallModel) -> Level:
        """Say what a pairing must allow for this call."""
        return (self.level_with_session if _names_session(call) else None) or self.level


def _applies(when: When, call: CallModel) -> bool:
    return when == "always" or (when == "with session" and _names_session(call))


def _names_session(call: CallModel) -> bool:
    return getattr(call, "session", None) is not None


_ROWS: Final = (
    Action("list_relays", "none", calls.ListRelays, results.ListRelaysResult),
    Action("relay_info", "read", calls.RelayInfo, results.RelayInfoResult),
    Action("usage", "read", calls.Usage, results.UsageResult),
    Action("list_sessions", "read", calls.ListSessions, results.ListSessionsResult),
    Action("read_session", "read", calls.ReadSession, results.ReadSessionResult),
    Action("read_task_output", "read", calls.ReadTaskOutput, results.ReadTaskOutputResult),
    Action("send", "prompt", calls.Send, results.PromptResult, write="always", prompt="always"),
    Action(
        "create_session",
        "full",
        calls.CreateSession,
        results.CreateSessionResult,
        write="always",
        prompt="always",
    ),
    Action("update_session", "full", calls.UpdateSession, results.UpdateSessionResult, write="always"),
    Action("wait", "read", calls.Wait, results.PromptResult),
    Action(
        "answer_question",
        "full",
        calls.AnswerQuestion,
        results.AnswerQuestionResult,
        write="always",
        prompt="always",
    ),
    Action("stop", "full", calls.Stop, results.StopResult, write="always"),
    Action("archive", "full", calls.Archive, results.ArchiveResult, write="always"),
    Action("subscribe", "read", calls.Subscribe, results.SubscribeResult, own_card=True),
    Action("unsubscribe", "read", calls.Unsubscribe, results.UnsubscribeResult),
    Action("list_subscriptions", "read", calls.ListSubscriptions, results.ListSubscriptionsResult),
    Action(
        "transfer_subscriptions",
        "read",
        calls.TransferSubscriptions,
        results.TransferSubscriptionsResult,
        own_card=True,
    ),
    Action(
        "schedule",
        "this relay",
        calls.Schedule,
        results.ScheduleResult,
        write="with session",
        prompt="with session",
    ),
    Action("list_schedules", "this relay", calls.ListSchedules, results.ListSchedulesResult),
    Action("unschedule", "this relay", calls.Unschedule, results.UnscheduleResult),
    Action("ask", "none", calls.Ask, results.AskResult, write="with session", level_with_session="prompt"),
    Action("list_questions", "none", calls.ListQuestions, results.ListQuestionsResult),
    Action("withdraw", "none", calls.Withdraw, results.WithdrawResult),
)

ACTIONS: Final = MappingProxyType({row.name: row for row in _ROWS})
"""Every action by its name, in the order of the contract."""


def available_actions() -> list[Action]:
    """Give the actions that are carried out, in the order of the contract."""
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
    """Make the refusal of an action that this version does not carry out."""
    built = [each.name for each in available_actions()]
    return Refusal(
        Code.UNSUPPORTED,
        f"This version of the relay does not have {row.name} yet. It has: {', '.join(built)}.",
        actions=built,
    )
