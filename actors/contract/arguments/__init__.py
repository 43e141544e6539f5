"""The kinds of arguments that actions take: how a value that came as JSON becomes one, or why it does not.

Each kind is an annotated type. Its check runs before pydantic's own and raises ``ValueError`` with the words
that follow the argument's name in a refusal; the limits beside it are what the published schema shows.
"""

from showcaller.actors.contract.arguments.hearing import Hearing
from showcaller.actors.contract.arguments.lists import (
    ALL,
    OR_TEXT,
    Choices,
    EventNames,
    Excluded,
    Matches,
    Options,
    Sessions,
)
from showcaller.actors.contract.arguments.names import (
    Branch,
    RelayName,
    Repository,
    SessionName,
    SubscriptionName,
)
from showcaller.actors.contract.arguments.numbers import (
    CompactWindow,
    Count50,
    Count100,
    Count500,
    DayMinutes,
    HeartbeatMinutes,
    MaxChars,
    WaitSeconds,
    YearMinutes,
    whole_number,
)
from showcaller.actors.contract.arguments.texts import (
    AS_SENT,
    Detail,
    IfBusyChoice,
    Line64,
    Line200,
    Line1000,
    Mode,
    ModeChoice,
    Prompt,
    Question,
    Recommendation,
    ScopeChoice,
    Switch,
    Word,
)

__all__ = [
    "ALL",
    "AS_SENT",
    "OR_TEXT",
    "Branch",
    "Choices",
    "CompactWindow",
    "Count50",
    "Count100",
    "Count500",
    "DayMinutes",
    "Detail",
    "EventNames",
    "Excluded",
    "Hearing",
    "HeartbeatMinutes",
    "IfBusyChoice",
    "Line64",
    "Line200",
    "Line1000",
    "Matches",
    "MaxChars",
    "Mode",
    "ModeChoice",
    "Options",
    "Prompt",
    "Question",
    "Recommendation",
    "RelayName",
    "Repository",
    "ScopeChoice",
    "SessionName",
    "Sessions",
    "SubscriptionName",
    "Switch",
    "WaitSeconds",
    "Word",
    "YearMinutes",
    "whole_number",
]
