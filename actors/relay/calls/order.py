"""The order of the checks. This page reads as the contract does; the first that fails gives the code."""

from typing import NamedTuple

from showcaller.actors.contract import calls
from showcaller.actors.contract.actions import Action
from showcaller.actors.relay.calls import agents, session_settings
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.session_settings import Sending, Start
from showcaller.actors.relay.calls.targets import check_relay, find_session


class Found(NamedTuple):
    """What the checks have found, for the act: the session named, and with what one runs."""

    session: str = ""
    row: Row | None = None
    start: Start | None = None
    sending: Sending | None = None


async def check(context: CallContext, call: calls.Call, action: Action) -> Found:
    """Go through the checks of a call of the right shape; raises the ``Refusal`` of the first that fails.

    What is asked of agents alone lets the owner through. What a pairing decides has nothing to decide yet:
    the one relay that can be named is this one, to whose agents it is wholly open.
    """
    agents.check_rate(context, is_write=action.is_write(call))
    check_relay(getattr(call, "relay", "this"), context.relay)
    agents.check_switch(context, call)
    # lock, level, inbound: of paired relays
    agents.check_own_session(context, call)
    found = await _target(context, call)
    await agents.check_nested(context, call)
    # hops: of prompts for a third relay
    found = await _limits(context, call, found)
    found = await _settings(context, call, found)
    agents.check_consent(context, call, action)
    return found


async def _target(context: CallContext, call: calls.Call) -> Found:
    match call:
        case calls.ListRelays() | calls.ListSessions():
            return Found()
        case calls.CreateSession():
            return Found(context.ports.new_id("ses_"))
        case calls.Wait():
            assert call.session is not None  # only an external caller may omit it, and the shape knows that
            return Found(await find_session(context, call.session))
        case _:
            session = await find_session(context, call.session)
            row: Row = await context.read("load_session", session=session)
            return Found(session, context.as_it_is(row))


async def _limits(context: CallContext, call: calls.Call, found: Found) -> Found:
    if isinstance(call, calls.CreateSession):
        await agents.check_active(context, call, found.session, starter=context.caller.agent)
    elif isinstance(call, calls.Send) and found.row is not None:
        await agents.check_active(context, call, found.session, starter=found.row["created_by"])
    return found


async def _settings(context: CallContext, call: calls.Call, found: Found) -> Found:
    """Look at provider, model, effort, group and folder."""
    if isinstance(call, calls.CreateSession):
        return found._replace(start=await session_settings.check_start(context, call))
    if isinstance(call, calls.Send) and found.row is not None:
        return found._replace(sending=await session_settings.check_send(context, call, found.row))
    return found
