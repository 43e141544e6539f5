"""The order of the checks. This page reads as the contract does; the first that fails gives the code."""

from typing import NamedTuple

from showcaller.actors.contract import calls
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.calls import settings
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.settings import Start
from showcaller.actors.relay.calls.targets import check_relay, find_session


class Found(NamedTuple):
    """What the checks have found, for the act: the session named and its row, or how to start one."""

    session: str = ""
    row: Row | None = None
    start: Start | None = None


async def check(context: CallContext, call: calls.Call) -> Found:
    """Go through the checks of a call of the right shape; raises the ``Refusal`` of the first that fails."""
    _check_caller(context)
    check_relay(call.relay, context.relay)
    match call:
        case calls.CreateSession():
            return Found(start=await settings.check_start(context, call))
        case calls.Send():
            session, row = await _target(context, call.session)
            settings.check_send(context, call, row)
            return Found(session, row)
        case calls.ReadSession():
            return Found(*await _target(context, call.session))
        case calls.Wait():
            assert call.session is not None  # only an external caller may omit it, and the shape knows that
            return Found(await find_session(context, call.session))
        case calls.ListSessions():
            return Found()


def _check_caller(context: CallContext) -> None:
    if context.caller.kind != "owner":
        raise Refusal(Code.FORBIDDEN, "This relay does not take calls of agents yet: only its owner's.")


async def _target(context: CallContext, name: str) -> tuple[str, Row]:
    session = await find_session(context, name)
    row: Row = await context.read("load_session", session=session)
    return session, context.as_it_is(row)
