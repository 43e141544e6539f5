"""What calls give back, in one place; each result stands beside its call. ``to_result`` makes JSON of it."""

from showcaller.actors.contract.calls.base import CallResult
from showcaller.actors.contract.calls.prompts import (
    Background,
    CreateSessionResult,
    GivenMessage,
    MessagesResult,
    ModelSource,
    Progress,
    PromptResult,
    PromptStatus,
    Reply,
)
from showcaller.actors.contract.calls.questions import (
    AnswerQuestionResult,
    AskResult,
    ListQuestionsResult,
    WithdrawResult,
)
from showcaller.actors.contract.calls.relays import (
    ListRelaysResult,
    RelayInfoResult,
    UsageResult,
)
from showcaller.actors.contract.calls.schedules import (
    ListSchedulesResult,
    ScheduleResult,
    UnscheduleResult,
)
from showcaller.actors.contract.calls.sessions import (
    ArchiveResult,
    ListSessionsResult,
    ReadSessionResult,
    ReadTaskOutputResult,
    StopResult,
    UpdateSessionResult,
)
from showcaller.actors.contract.calls.watching import (
    ListSubscriptionsResult,
    SubscribeResult,
    TransferSubscriptionsResult,
    UnsubscribeResult,
)

__all__ = [
    "AnswerQuestionResult",
    "ArchiveResult",
    "AskResult",
    "Background",
    "CallResult",
    "CreateSessionResult",
    "GivenMessage",
    "ListQuestionsResult",
    "ListRelaysResult",
    "ListSchedulesResult",
    "ListSessionsResult",
    "ListSubscriptionsResult",
    "MessagesResult",
    "ModelSource",
    "Progress",
    "PromptResult",
    "PromptStatus",
    "ReadSessionResult",
    "ReadTaskOutputResult",
    "RelayInfoResult",
    "Reply",
    "ScheduleResult",
    "StopResult",
    "SubscribeResult",
    "TransferSubscriptionsResult",
    "UnscheduleResult",
    "UnsubscribeResult",
    "UpdateSessionResult",
    "UsageResult",
    "WithdrawResult",
]
