"""What is asked from outside: who may ask, and which function answers."""

from showcaller.actors.contract.approvals import Approvals
from showcaller.actors.contract.calls.base import CallResult
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.groups import Groups
from showcaller.actors.contract.inbox import Inbox
from showcaller.actors.contract.outside import Events, Monitor, Output, OutsideRequest
from showcaller.actors.relay.calls import agents, answering, approvals, groups, session_output, watching
from showcaller.actors.relay.calls.context import CallContext


async def answer_outside(context: CallContext, asked: OutsideRequest) -> CallResult:
    """Check who asks, and answer; raises ``Refusal``."""
    await agents.check_caller(context)
    if context.caller.kind != "owner" and not context.caller.supervises:
        raise Refusal(
            Code.FORBIDDEN,
            f"{asked.name} is for this relay's owner, and for who has a supervisor's token from its owner.",
        )
    if isinstance(asked, Inbox | Approvals | Groups) and context.caller.kind != "owner":
        raise Refusal(Code.FORBIDDEN, f"{asked.name} is for this relay's owner.")
    agents.check_rate(context, is_write=False)
    match asked:
        case Inbox():
            return await answering.inbox(context, asked)
        case Approvals():
            return await approvals.approvals(context, asked)
        case Groups():
            return await groups.groups(context, asked)
        case Monitor():
            return await watching.monitor(context, asked)
        case Events():
            return await watching.events(context, asked)
        case Output():
            return await session_output.read_output(context, asked)
        case _:
            raise TypeError(f"nobody answers {asked.name}")
