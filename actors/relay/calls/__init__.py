"""Tool calls: each is a short-lived actor that goes through the checks of ``order.py`` and then acts."""

from showcaller.actors.relay.calls.call import Call
from showcaller.actors.relay.calls.caller import OWNER, Caller, CallRequest
from showcaller.actors.relay.calls.conversations import Conversations

__all__ = ["OWNER", "Call", "CallRequest", "Caller", "Conversations"]
