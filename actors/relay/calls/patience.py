"""How long a call may wait whose client drops calls that take long."""

from typing import Final, TypeVar

from showcaller.actors.contract import calls, results
from showcaller.actors.relay.calls.context import CallContext

_Result = TypeVar("_Result", bound=results.CallResult)
_WAITS: Final = (calls.Send, calls.CreateSession, calls.Wait)
_UNFINISHED: Final = frozenset({"queued", "running", "waiting_for_answer"})
GO_ON: Final = (
    "Your client takes no longer calls, so this one has ended its waiting before the time that you gave: "
    "call wait with this session and message_id to go on."
)
BARE_GO_ON: Final = (
    "Your client takes no longer calls, so this one has ended its waiting before the time that you gave: "
    "call wait again to go on."
)


def cut_wait(call: calls.Call, seconds: int) -> calls.Call:
    """Give the call with a wait of so many seconds at most; the very same one when it asks for no more."""
    if not isinstance(call, _WAITS) or call.wait_seconds <= seconds:
        return call
    return call.model_copy(update={"wait_seconds": seconds})


def with_way_on(result: _Result, *, came: bool) -> _Result:
    """Add to what a call came to whose wait was cut how to go on; one that has its end needs nothing.

    ``came``: messages are given to the client with the answer, which is all that a bare wait is for.
    """
    way_on = GO_ON if getattr(result, "status", None) in _UNFINISHED else None
    if isinstance(result, results.MessagesResult) and not came:
        way_on = BARE_GO_ON
    if way_on is None:
        return result
    return result.model_copy(update={"note": way_on if result.note is None else f"{result.note} {way_on}"})


async def is_patient(context: CallContext) -> bool:
    """Tell whether the catalogue says of the calling agent's client that it waits as long as it has to."""
    own = await context.own_row()
    entry = None if own is None else context.ports.providers.find(own["provider"])
    return entry is not None and entry.patient
