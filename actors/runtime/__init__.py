"""An actor runtime with pykka's interface: shared dispatchers, async handlers, timers and a test kit.

It knows nothing of relays.
"""

from pykka import ActorDeadError, ActorProxy, ActorRegistry, CallableProxy, Timeout, get_all, traversable

from showcaller.actors.runtime.actor import Actor
from showcaller.actors.runtime.base_dispatcher import BaseDispatcher
from showcaller.actors.runtime.bridge import on_loop
from showcaller.actors.runtime.child_spec import Backoff, ChildSpec
from showcaller.actors.runtime.clock import SYSTEM_CLOCK, Clock, SystemClock
from showcaller.actors.runtime.counters import Counters
from showcaller.actors.runtime.debts import hand_on, take_reply
from showcaller.actors.runtime.dispatcher import Dispatcher
from showcaller.actors.runtime.errors import (
    AskCycle,
    DispatcherClosed,
    DispatcherExhausted,
    ForeignAwaitable,
    LoopNotRunning,
    MailboxFull,
    NeverSettles,
    NothingToRun,
    ReplyOverdue,
    RestartsExceeded,
    RuntimeFault,
    StartFailed,
)
from showcaller.actors.runtime.exits import DeadLetter, Exit, Terminated
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.mailbox_terms import MailboxPolicy
from showcaller.actors.runtime.program import default_dispatcher
from showcaller.actors.runtime.ref import ActorRef
from showcaller.actors.runtime.restart_intensity import RestartIntensity
from showcaller.actors.runtime.sleeping import sleep
from showcaller.actors.runtime.strategy import Strategy
from showcaller.actors.runtime.supervision import Supervisor
from showcaller.actors.runtime.supervisor_mail import (
    ChildInfo,
    GetChild,
    ListChildren,
    RemoveChild,
    RestartChild,
    StartChild,
    StopChild,
)
from showcaller.actors.runtime.timers import Timer, Timers

__all__ = [
    "SYSTEM_CLOCK",
    "Actor",
    "ActorDeadError",
    "ActorProxy",
    "ActorRef",
    "ActorRegistry",
    "AskCycle",
    "Backoff",
    "BaseDispatcher",
    "CallableProxy",
    "ChildInfo",
    "ChildSpec",
    "Clock",
    "Counters",
    "DeadLetter",
    "Dispatcher",
    "DispatcherClosed",
    "DispatcherExhausted",
    "Exit",
    "ForeignAwaitable",
    "Future",
    "GetChild",
    "ListChildren",
    "LoopNotRunning",
    "MailboxFull",
    "MailboxPolicy",
    "NeverSettles",
    "NothingToRun",
    "RemoveChild",
    "ReplyOverdue",
    "RestartChild",
    "RestartIntensity",
    "RestartsExceeded",
    "RuntimeFault",
    "StartChild",
    "StartFailed",
    "StopChild",
    "Strategy",
    "Supervisor",
    "SystemClock",
    "Terminated",
    "Timeout",
    "Timer",
    "Timers",
    "default_dispatcher",
    "get_all",
    "hand_on",
    "on_loop",
    "sleep",
    "take_reply",
    "traversable",
]
