"""A tool call: a short-lived actor that goes through the checks in order, and then acts; only it awaits."""

from typing import Any

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.idempotency import client_id_of
from showcaller.actors.contract.shape import ParsedCall, parse_call
from showcaller.actors.relay.calls import order, prompting, reading, relays
from showcaller.actors.relay.calls.caller import CallRequest
from showcaller.actors.relay.calls.context import CallContext
from showcaller.actors.relay.calls.conversations import Conversations
from showcaller.actors.relay.messages import AwaitReady, Identity
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_for
from showcaller.actors.runtime import Actor, ActorRef


class Call(Actor):
    """Answers one ``CallRequest`` with the result's JSON object, and stops. It never raises to the door."""

    registered = False

    def __init__(self, ports: Ports, supervisor: ActorRef[Any], conversations: Conversations) -> None:
        super().__init__()
        self._ports = ports
        self._supervisor = supervisor
        self._conversations = conversations

    async def on_receive(self, request: CallRequest) -> dict[str, Any]:
        """Carry the call out and give its result."""
        try:
            return await self._carry_out(request)
        except Exception as error:  # noqa: BLE001 - the caller gets it as a refusal, whatever it is
            return refusal_for(error).to_result()
        finally:
            self.stop()

    async def _carry_out(self, request: CallRequest) -> dict[str, Any]:
        longest_wait = self._ports.settings.longest_wait_minutes * 60
        parsed = parse_call(request.arguments, longest_wait_seconds=longest_wait)
        client_id = None if request.client_id is None else client_id_of(request.client_id)
        identity: Identity | None = await self._supervisor.request(AwaitReady())
        context = CallContext(
            ports=self._ports,
            supervisor=self._supervisor,
            conversations=self._conversations,
            caller=request.caller,
            relay=self._ports.relay_name if identity is None else identity.name,
            client_id=client_id,
            notes=list(parsed.notes),
        )
        try:
            found = await order.check(context, parsed.call, parsed.action)
            result = await _act(context, _on_this_relay(parsed.call), found)
        finally:
            context.started()
        return _finished(result, parsed, context.notes).to_result()


def _on_this_relay(call: calls.Call) -> calls.Call:
    """Give the call as what it means, whatever the relay was called in it."""
    return call if isinstance(call, calls.ListRelays) else call.model_copy(update={"relay": "this"})


async def _act(context: CallContext, call: calls.Call, found: order.Found) -> results.CallResult:
    match call:
        case calls.ListRelays():
            return relays.list_relays(context)
        case calls.ListSessions():
            return await reading.list_sessions(context, call)
        case calls.ReadSession():
            assert found.row is not None
            return await reading.read_session(context, call, found.session, found.row)
        case calls.Send():
            assert found.sending is not None
            return await prompting.send(context, call, found.session, found.sending)
        case calls.CreateSession():
            assert found.start is not None
            return await prompting.create_session(context, call, found.session, found.start)
        case calls.Wait():
            return await prompting.wait(context, call, found.session)


def _finished(result: results.CallResult, parsed: ParsedCall, notes: list[str]) -> results.CallResult:
    told = " ".join(note for note in (result.note, *notes) if note)
    return result.model_copy(update={"note": told or None, "ignored": parsed.ignored or None})
