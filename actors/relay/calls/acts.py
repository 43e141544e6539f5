"""Which function carries a call out, once all checks have let it through."""

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.approvals import Revoke
from showcaller.actors.contract.groups import DissolveGroup, NewGroup, OrderGroups, RenameGroup
from showcaller.actors.contract.inbox import Answer
from showcaller.actors.relay.calls import (
    answering,
    approvals,
    groups,
    inbox,
    prompting,
    reading,
    relays,
    stopping,
    subscribing,
    task_output,
    updating,
)
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.found import Found
from showcaller.actors.relay.calls.owner_acts import Delete, GoOn, Kill, OwnerAct, Restart, Unlock

Looking = calls.ListRelays | calls.RelayInfo | calls.ListSessions | calls.ReadSession | calls.ReadTaskOutput


async def act(  # noqa: C901, PLR0912 - one branch for each kind of call
    context: CallContext, call: calls.Call | OwnerAct, found: Found
) -> results.CallResult:
    """Carry a call out."""
    match call:
        case calls.Send():
            return await prompting.send(context, call, found)
        case calls.CreateSession():
            return await prompting.create_session(context, call, found)
        case calls.UpdateSession():
            return await updating.update_session(context, call, found)
        case calls.Wait(session=None):
            return await inbox.wait_for_messages(context, call)
        case calls.Wait():
            return await prompting.wait(context, call, found.session)
        case calls.AnswerQuestion() | Answer():
            return await answering.answer(context, call, found.card)
        case calls.Subscribe():
            return await subscribing.subscribe(context, call, found)
        case calls.Unsubscribe():
            return await subscribing.unsubscribe(context, call, found)
        case calls.ListSubscriptions():
            return await subscribing.list_subscriptions(context, call, found)
        case calls.Stop() | Kill():
            return await stopping.stop(context, call, found.row)
        case calls.Archive() | Delete():
            return await stopping.put_away(context, call, found.row)
        case GoOn():
            return await stopping.go_on(context, call, found.session)
        case Restart():
            return await stopping.restart(context, call, found.row)
        case Revoke():
            return await approvals.revoke(context, call, found.session)
        case Unlock():
            return await approvals.unlock(context, call, found.row)
        case NewGroup() | RenameGroup() | DissolveGroup() | OrderGroups():
            return await groups.change(context, call)
        case _:
            return await _look(context, call, found)


async def _look(context: CallContext, call: Looking, found: Found) -> results.CallResult:
    match call:
        case calls.ListRelays():
            return relays.list_relays(context)
        case calls.RelayInfo():
            return await relays.relay_info(context)
        case calls.ListSessions():
            return await reading.list_sessions(context, call)
        case calls.ReadSession():
            return await reading.read_session(context, call, found.row)
        case calls.ReadTaskOutput():
            return await task_output.read_task_output(context, call, found.session)


async def act_again(context: CallContext, call: calls.Call | OwnerAct, first: Row) -> results.CallResult:
    """Give what a write gave that was carried out before; ``first`` is what the store kept of it."""
    match call:
        case calls.Send():
            return prompting.sent_before(context, "send", first["session"], first["message"])
        case calls.CreateSession():
            return await prompting.created_before(context, call, first["session"], first["message"])
        case calls.UpdateSession():
            session = await _even_if_deleted(context, call.session)
            return await updating.updated(context, call, session, first["result"])
        case calls.Subscribe():
            return await subscribing.subscribed(context, call, first["result"])
        case calls.AnswerQuestion() | Answer():
            return await answering.answered_before(context, call, first["result"])
        case calls.Stop() | Kill():
            session = await _even_if_deleted(context, call.session)
            return stopping.stop_result(context, call, session, first["result"])
        case calls.Archive() | Delete():
            session = await _even_if_deleted(context, call.session)
            await stopping.note_clone(context, session, deletes=False)
            return stopping.put_away_result(context, call, session, first["result"])
        case _:
            raise TypeError(f"{call.action} has no effect that could be kept")


async def _even_if_deleted(context: CallContext, name: str) -> str:
    """Give the session that a call once named; as it was named when a part of its id finds it no more."""
    found: list[str] = await context.read("find_session", prefix=name)
    return found[0] if len(found) == 1 else name
