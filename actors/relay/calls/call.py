"""A tool call: a short-lived actor that goes through the checks in order, and then acts; only it awaits."""

from typing import Any

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.idempotency import client_id_of
from showcaller.actors.contract.shape import ParsedCall, parse_call
from showcaller.actors.relay.calls import order, prompting, reading
from showcaller.actors.relay.calls.caller import CallRequest
from showcaller.actors.relay.calls.context import CallContext
from showcaller.actors.relay.messages import AwaitReady, Identity
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_for
from showcaller.actors.runtime import Actor, ActorRef


class Call(Actor):
    """Answers one ``CallRequest`` with the result's JSON object, and stops. It never raises to the door."""

    registered = False

    def __init__(self, ports: Ports, supervisor: ActorRef[Any]) -> None:
        super().__init__()
        self._ports = ports
        self._supervisor = supervisor

    async def on_receive(self, request: CallRequest) -> dict[str, Any]:
        """Carry the call out and give its result."""
        try:
            return await self._carry_out(request)
        except Exception as error:  # noqa: BLE001 - the caller gets it as a refusal, whatever it is
            return refusal_for(error).to_result()
        finally:
            self.stop()

    async def _carry_out(self, request: CallRequest) -> dict[str, Any]:
        parsed = parse_call(request.arguments)
        client_id = None if request.client_id is None else client_id_of(request.client_id)
        identity: Identity | None = await self._supervisor.request(AwaitReady())
        relay = self._ports.relay_name if identity is None else identity.name
        context = CallContext(
            self._ports, self._supervisor, request.caller, relay, client_id, list(parsed.notes)
        )
        found = await order.check(context, parsed.call)
        result = await _act(context, parsed.call.model_copy(update={"relay": "this"}), found)
        return _finished(result, parsed, context.notes).to_result()


async def _act(context: CallContext, call: calls.Call, found: order.Found) -> results.CallResult:
    match call:
        case calls.ListSessions():
            return await reading.list_sessions(context, call)
        case calls.ReadSession():
            assert found.row is not None
            return await reading.read_session(context, call, found.session, found.row)
        case calls.Send():
            return await prompting.send(context, call, found.session)
        case calls.CreateSession():
            assert found.start is not None
            return await prompting.create_session(context, call, found.start)
        case calls.Wait():
            return await prompting.wait(context, call, found.session)


def _finished(result: results.CallResult, parsed: ParsedCall, notes: list[str]) -> results.CallResult:
    told = " ".join(note for note in (result.note, *notes) if note)
    return result.model_copy(update={"note": told or None, "ignored": parsed.ignored or None})
