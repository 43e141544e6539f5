"""The order of the checks. This page reads as the contract does; the first that fails gives the code."""

from showcaller.actors.contract import calls
from showcaller.actors.contract.actions import find_action
from showcaller.actors.contract.approvals import Revoke
from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.groups import DissolveGroup, NewGroup, OrderGroups, RenameGroup
from showcaller.actors.contract.inbox import Answer
from showcaller.actors.relay.calls import (
    agents,
    answering,
    consent,
    inbox,
    session_settings,
    session_updates,
    subscribing,
)
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.found import Found
from showcaller.actors.relay.calls.owner_acts import Delete, GoOn, Kill, OwnerAct, Restart, Unlock
from showcaller.actors.relay.calls.repeats import first_time
from showcaller.actors.relay.calls.targets import check_relay, find_session, refuse_archived, refuse_deleted
from showcaller.actors.relay.messages import Facts, IfAwake, LookFacts
from showcaller.actors.runtime import ActorDeadError


async def check(context: CallContext, call: calls.Call | OwnerAct, *, is_write: bool) -> Found:
    """Go through the checks of a call of the right shape; raises the ``Refusal`` of the first that fails.

    What is asked of agents alone lets the owner through. What a pairing decides has nothing to decide yet:
    the one relay that can be named is this one, to whose agents it is wholly open. Where the owner has to be
    asked, and allows it, all is checked again, since time has passed; but a call counts once.
    """
    await agents.check_caller(context)
    agents.check_rate(context, is_write=is_write)
    check_relay(getattr(call, "relay", "this"), context.relay)
    agents.check_switch(context, call)
    await inbox.confirm(context)
    # lock, level, inbound: of paired relays
    agents.check_own_session(context, call)
    if not (is_write or _asks_itself(call)):
        return await _rules(context, call)
    return await _allowed(context, call) or await check_again(context, call)


def _asks_itself(call: calls.Call | OwnerAct) -> bool:
    """Tell whether a call that is no write may have the owner asked all the same."""
    return not isinstance(call, OwnerAct) and find_action(call.action).own_card


async def check_again(context: CallContext, call: calls.Call | OwnerAct) -> Found:
    """Go through the checks of a write once more, as often as something has changed while it waited."""
    found: Found | None = None
    while found is None:
        context.check_anew()
        await agents.check_caller(context)
        agents.check_switch(context, call)
        found = await _allowed(context, call)
    return found


async def _allowed(context: CallContext, call: calls.Call | OwnerAct) -> Found | None:
    """Check a write, and have the owner asked where that is due; None: all is to be checked again."""
    first = await first_time(context, call)
    if first is not None:
        return Found(first=first)
    try:
        found = await _rules(context, call)
        rows = await consent.rows_due(context, call, found)
        if rows and not await consent.is_approved(context, call, found):
            await consent.ask(context, call, found, rows)
            return None
        if isinstance(call, agents.Starts):
            await agents.take_place(context, call, found.session, _starter(context, call, found))
    except Refusal as refusal:
        return await overtaken(context, call, refusal)
    return found


async def overtaken(context: CallContext, call: calls.Call | OwnerAct, refusal: Refusal) -> Found:
    """Give the write whose repeat was refused for what it did itself meanwhile; else raise the refusal.

    So a repeat that comes beside its first is refused for nothing that would not have refused the first.
    """
    first = await first_time(context, call)
    if first is None:
        raise refusal
    return Found(first=first)


async def _rules(context: CallContext, call: calls.Call | OwnerAct) -> Found:
    """Go through the checks that a repeat of a write is not put to."""
    found = await _target(context, call)
    await agents.check_nested(context, call)
    # hops: of prompts for a third relay
    await _limits(context, call, found)
    return await _settings(context, call, found)


async def _target(context: CallContext, call: calls.Call | OwnerAct) -> Found:
    match call:
        case calls.ListRelays() | calls.RelayInfo() | calls.ListSessions():
            return Found()
        case NewGroup() | RenameGroup() | DissolveGroup() | OrderGroups():
            return Found()
        case calls.CreateSession():
            return Found(context.ports.new_id("ses_"))
        case calls.Subscribe() | calls.Unsubscribe() | calls.ListSubscriptions():
            return await subscribing.find(context, call)
        case calls.Wait(session=session):
            return Found() if session is None else Found(await find_session(context, session))
        case calls.ReadSession() | calls.ReadTaskOutput() | Delete() | Revoke() | Unlock():
            return await _session(context, call.session)
        case calls.Send(session=session) if (facts := await _facts(context, session)) is not None:
            return Found(session, facts._asdict())
        case calls.AnswerQuestion() | Answer():
            card = await answering.find_card(context, call)
            return (await _session(context, card["session"]))._replace(card=card)
        case (
            calls.Send()
            | calls.UpdateSession()
            | calls.Stop()
            | calls.Archive()
            | Kill()
            | GoOn()
            | Restart()
        ):
            found = await _session(context, call.session)
            refuse_archived(found.row, call.nothing)
            return found


async def _session(context: CallContext, name: str) -> Found:
    session = await find_session(context, name)
    row: Row = await context.read("load_session", session=session)
    refuse_deleted(row)
    return Found(session, context.as_it_is(row))


async def _facts(context: CallContext, session: str) -> Facts | None:
    """Give what is asked of a session before a prompt, if it is named by its whole id and awake.

    Then it knows, and the store need not be read: no session changes in these facts.
    """
    try:
        facts: Facts | None = await context.ask(IfAwake(session, LookFacts()))
    except ActorDeadError:  # it has just failed; the store knows
        return None
    return facts


async def _limits(context: CallContext, call: calls.Call | OwnerAct, found: Found) -> None:
    if isinstance(call, agents.Starts):
        await agents.check_active(context, call, found.session, _starter(context, call, found))


def _starter(context: CallContext, call: agents.Starts, found: Found) -> str | None:
    """Give the agent that started the session which would be set to work."""
    starter: str | None = found.row["created_by"] if isinstance(call, calls.Send) else context.caller.agent
    return starter


async def _settings(context: CallContext, call: calls.Call | OwnerAct, found: Found) -> Found:
    """Look at provider, model, effort, group and folder."""
    if isinstance(call, calls.CreateSession):
        return found._replace(start=await session_settings.check_start(context, call))
    if isinstance(call, calls.Send):
        return found._replace(sending=await session_settings.check_send(context, call, found.row))
    if isinstance(call, calls.UpdateSession):
        return found._replace(update=await session_updates.check_update(context, call, found.row))
    if isinstance(call, calls.AnswerQuestion):
        session_settings.check_answer(context, call, found.row)
    return found
