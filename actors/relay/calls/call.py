"""A tool call: a short-lived actor that goes through the checks in order, and then acts; only it awaits."""

from typing import Any, NamedTuple

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.idempotency import client_id_of
from showcaller.actors.contract.owner_arguments import OwnersCall, owners_call
from showcaller.actors.contract.shape import parse_call
from showcaller.actors.relay.calls import inbox, order
from showcaller.actors.relay.calls.acts import act, act_again
from showcaller.actors.relay.calls.caller import (
    ActRequest,
    AnswerRequest,
    Caller,
    CallRequest,
    GroupRequest,
    RevokeRequest,
    WatchRequest,
)
from showcaller.actors.relay.calls.context import CallContext
from showcaller.actors.relay.calls.conversations import Conversations
from showcaller.actors.relay.calls.found import Found
from showcaller.actors.relay.calls.outside import answer_outside
from showcaller.actors.relay.calls.owner_acts import OwnerAct, read_act
from showcaller.actors.relay.calls.patience import cut_wait, is_patient, with_way_on
from showcaller.actors.relay.calls.repeats import on_this_relay
from showcaller.actors.relay.messages import AwaitReady, Identity
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import CheckedTooEarly, OneTooMany, refusal_for
from showcaller.actors.runtime import Actor, ActorRef

WriteRequest = CallRequest | ActRequest | AnswerRequest | RevokeRequest | GroupRequest
AnyRequest = WriteRequest | WatchRequest


class _Wish(NamedTuple):
    """What a request comes to when it has the right shape."""

    call: calls.Call | OwnerAct
    is_write: bool
    notes: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    answer_within: int | None = None
    resume: str | None = None


class Call(Actor):
    """Answers one request, of any kind in ``caller.py``, with the result's JSON object, and stops.

    It never raises to the door.
    """

    registered = False

    def __init__(self, ports: Ports, supervisor: ActorRef[Any], conversations: Conversations) -> None:
        super().__init__()
        self._ports = ports
        self._supervisor = supervisor
        self._conversations = conversations

    async def on_receive(self, request: AnyRequest) -> dict[str, Any]:
        """Carry the call out and give its result."""
        try:
            if isinstance(request, WatchRequest):
                result = await self._answer_outside(request)
            else:
                result = await self._carry_out(request)
        except Exception as error:  # noqa: BLE001 - the caller gets it as a refusal, whatever it is
            result = refusal_for(error).to_result()
        self.stop()
        return result

    async def _carry_out(self, request: WriteRequest) -> dict[str, Any]:
        wish = self._wish(request)
        client_id = None if request.client_id is None else client_id_of(request.client_id)
        identity = await self._identity(wish.call)
        context = self._context(request.caller, identity, client_id, wish.notes)
        context.resume = wish.resume
        if not isinstance(request, CallRequest) or request.external is None:
            return (await _result(context, wish)).to_result()
        context.external = request.external
        return await _with_messages(context, wish)

    async def _answer_outside(self, request: WatchRequest) -> dict[str, Any]:
        context = self._context(request.caller, await self._identity(request.asked))
        result = await answer_outside(context, request.asked)
        note = " ".join(context.notes) or None
        return result.model_copy(update={"note": note}).to_result()

    def _context(
        self,
        caller: Caller,
        identity: Identity | None,
        client_id: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> CallContext:
        return CallContext(
            ports=self._ports,
            supervisor=self._supervisor,
            conversations=self._conversations,
            caller=caller,
            relay=self._ports.relay_name if identity is None else identity.name,
            relay_id="" if identity is None else identity.id,
            client_id=client_id,
            notes=list(notes),
        )

    async def _identity(self, call: object) -> Identity | None:
        """Give which relay this is, when it takes calls; a prompt's checks ask the supervisor themselves."""
        known = self._conversations.identity
        if known is None or not isinstance(call, calls.Send):
            known = self._conversations.identity = await self._supervisor.request(AwaitReady())
        return known

    def _wish(self, request: WriteRequest) -> _Wish:
        if isinstance(request, AnswerRequest):
            return _Wish(request.answer, is_write=True)
        if isinstance(request, RevokeRequest):
            return _Wish(request.revoke, is_write=True)
        if isinstance(request, GroupRequest):
            return _Wish(request.change, is_write=True)
        if isinstance(request, ActRequest):
            return _Wish(read_act(request.action, request.session), is_write=True)
        longest_wait = self._ports.settings.longest_wait_minutes * 60
        external = request.caller.kind == "external"
        is_owner = request.caller.kind == "owner"
        arguments, resume = owners_call(request.arguments) if is_owner else OwnersCall(request.arguments)
        parsed = parse_call(arguments, longest_wait_seconds=longest_wait, external=external, owner=is_owner)
        is_write = parsed.action.is_write(parsed.call)
        return _Wish(parsed.call, is_write, parsed.notes, parsed.ignored, request.answer_within, resume)


async def _with_messages(context: CallContext, wish: _Wish) -> dict[str, Any]:
    """Give the answer to a call of an external conversation, be it a refusal, with what waits for it."""
    try:
        result = (await _result(context, wish)).to_result()
    except Exception as error:  # noqa: BLE001 - the caller gets it as a refusal, whatever it is
        result = refusal_for(error).to_result()
    return await inbox.with_messages(context, wish.call, result)


async def _carried_out(
    context: CallContext, call: calls.Call | OwnerAct, found: Found, *, is_write: bool
) -> results.CallResult:
    if found.first is None:
        try:
            return await act(context, call, found)
        except (OneTooMany, CheckedTooEarly):  # others came first: now the owner may have to be asked
            context.started()
            found = await order.check_again(context, call)
            return await _carried_out(context, call, found, is_write=is_write)
        except Refusal as refusal:
            if not is_write:
                raise
            found = await order.overtaken(context, call, refusal)
    assert found.first is not None
    return await act_again(context, call, found.first)


async def _within_its_time(context: CallContext, wish: _Wish) -> calls.Call | OwnerAct:
    """Give the call as its client can wait for it; the very same one when it can wait as long as it asked."""
    if wish.answer_within is None or isinstance(wish.call, OwnerAct) or await is_patient(context):
        return wish.call
    return cut_wait(wish.call, wish.answer_within)


async def _result(context: CallContext, wish: _Wish) -> results.CallResult:
    try:
        found = await order.check(context, wish.call, is_write=wish.is_write)
        call = await _within_its_time(context, wish)
        result = await _carried_out(context, on_this_relay(call), found, is_write=wish.is_write)
    finally:
        context.started()
    if call is not wish.call:
        result = with_way_on(result, came=bool(context.collected))
    if not context.notes and not wish.ignored:
        return result
    told = " ".join(note for note in (result.note, *context.notes) if note)
    return result.model_copy(update={"note": told or None, "ignored": wish.ignored or None})
