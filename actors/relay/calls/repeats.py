"""Writes that their caller has named: the same name again gives what the first gave, and does nothing."""

from typing import TypeVar

from showcaller.actors.contract.calls import CallModel
from showcaller.actors.contract.idempotency import check_repeat, fingerprint
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.messages import WriteId

C = TypeVar("C", bound=CallModel)


def on_this_relay(call: C) -> C:
    """Give a call as what it means on this relay, whatever the relay was called in it."""
    return call.model_copy(update={"relay": "this"}) if "relay" in type(call).model_fields else call


def write_id(context: CallContext, call: CallModel) -> WriteId | None:
    """Give the name of a write, for whoever stores its effect; None for one without."""
    if context.client_id is None:
        return None
    return WriteId(context.caller.agent or "", context.client_id, fingerprint(on_this_relay(call)))


async def first_time(context: CallContext, call: CallModel) -> Row | None:
    """Look for a write of the same caller under the same name; gives its row, None when there is none.

    Raises ``Refusal`` when that one asked for something else.
    """
    if context.client_id is None:
        return None
    row: Row | None = await context.read(
        "client_call", caller=context.caller.agent or "", client_id=context.client_id
    )
    if row is not None:
        check_repeat(context.client_id, row["fingerprint"], on_this_relay(call))
    return row
