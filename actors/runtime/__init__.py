"""An actor runtime with pykka's interface: shared dispatchers, async handlers, timers and a test kit.

It knows nothing of relays.
"""

from pykka import ActorDeadError, ActorProxy, ActorRegistry, CallableProxy, Timeout, get_all, traversable

from showcaller.actors.runtime.actor import Actor
from showcaller.actors.runtime.bridge import on_loop
from showcaller.actors.runtime.clock import SYSTEM_CLOCK, Clock, SystemClock
from showcaller.actors.runtime.dispatcher import BaseDispatcher, Dispatcher, default_dispatcher
from showcaller.actors.runtime.envelope import take_reply
from showcaller.actors.runtime.errors import (
    AskCycle,
    DispatcherExhausted,
    ForeignAwaitable,
    NothingToRun,
    RuntimeFault,
)
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.ref import ActorRef
from showcaller.actors.runtime.timers import Timer, Timers

__all__ = [
    "SYSTEM_CLOCK",
    "Actor",
    "ActorDeadError",
    "ActorProxy",
    "ActorRef",
    "ActorRegistry",
    "AskCycle",
    "BaseDispatcher",
    "CallableProxy",
    "Clock",
    "Dispatcher",
    "DispatcherExhausted",
    "ForeignAwaitable",
    "Future",
    "NothingToRun",
    "RuntimeFault",
    "SystemClock",
    "Timeout",
    "Timer",
    "Timers",
    "default_dispatcher",
    "get_all",
    "on_loop",
    "take_reply",
    "traversable",
]
