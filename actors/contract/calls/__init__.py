"""The calls: one model for each action, its fields in the order in which callers read of them.

Each family of actions has its module, in which every call stands beside its result. The description of a
field stands in the published schema. Values arrive as JSON; ``shape`` removes what is empty before it makes
one of these.
"""

from showcaller.actors.contract.calls.base import CallModel, OwnRelayCall, RelayCall
from showcaller.actors.contract.calls.prompts import (
    CreateSession,
    Send,
    Wait,
)
from showcaller.actors.contract.calls.questions import (
    AnswerQuestion,
    Ask,
    ListQuestions,
    Withdraw,
)
from showcaller.actors.contract.calls.relays import (
    ListRelays,
    RelayInfo,
    Usage,
)
from showcaller.actors.contract.calls.schedules import (
    ListSchedules,
    Schedule,
    Unschedule,
)
from showcaller.actors.contract.calls.sessions import (
    Archive,
    ListSessions,
    OwnersUpdate,
    ReadSession,
    ReadTaskOutput,
    Stop,
    UpdateSession,
)
from showcaller.actors.contract.calls.watching import (
    ListSubscriptions,
    Subscribe,
    TransferSubscriptions,
    Unsubscribe,
)

Call = (
    ListRelays
    | RelayInfo
    | ListSessions
    | ReadSession
    | ReadTaskOutput
    | Send
    | CreateSession
    | UpdateSession
    | Wait
    | AnswerQuestion
    | Stop
    | Archive
    | Subscribe
    | Unsubscribe
    | ListSubscriptions
)
"""The calls that this version carries out: an action joins them when what it does is built."""

__all__ = [
    "AnswerQuestion",
    "Archive",
    "Ask",
    "Call",
    "CallModel",
    "CreateSession",
    "ListQuestions",
    "ListRelays",
    "ListSchedules",
    "ListSessions",
    "ListSubscriptions",
    "OwnRelayCall",
    "OwnersUpdate",
    "ReadSession",
    "ReadTaskOutput",
    "RelayCall",
    "RelayInfo",
    "Schedule",
    "Send",
    "Stop",
    "Subscribe",
    "TransferSubscriptions",
    "Unschedule",
    "Unsubscribe",
    "UpdateSession",
    "Usage",
    "Wait",
    "Withdraw",
]
