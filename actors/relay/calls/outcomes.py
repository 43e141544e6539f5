"""What became of a prompt: from whoever has it while it is under way, and else from the store."""

from typing import Any, Literal

from showcaller.actors.contract import results
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.summaries import SHORT_ID, quoted, summary
from showcaller.actors.relay import views
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.waits import WAITED_FOR
from showcaller.actors.relay.fanout_steps import stored_end
from showcaller.actors.relay.messages import AwaitEnd, Glance, IfAwake, Look, TurnOver
from showcaller.actors.relay.turn_records import cut_end
from showcaller.actors.runtime import Timeout

End = TurnOver | Glance | Literal["cancelled"]
"""What became of a prompt: its end, a look at the session that has it, or that it was taken out."""


async def end_of(context: CallContext, session: str, message: str, wait_seconds: int) -> End:
    """Wait for a message's end; gives how it stands when the time is up first, or nothing will come.

    A call of an agent for which the session waits does not wait, and its note says why.
    """
    with context.conversations.waits.waiting(context.caller.agent, session) as may_wait:
        if not may_wait:
            context.notes.append(WAITED_FOR)
        return await _waited(context, session, message, wait_seconds if may_wait else 0)


async def _waited(context: CallContext, session: str, message: str, wait_seconds: int) -> End:
    try:
        over: TurnOver | None = await context.ask(
            IfAwake(session, AwaitEnd(message)), timeout=float(wait_seconds)
        )
    except Timeout:
        over = None
        glance: Glance | None = await context.ask(IfAwake(session, Look()))
        if glance is not None and message in {glance.turn, *glance.queued}:
            return glance
    return over if over is not None else await _stored_end(context, session, message)


async def _stored_end(context: CallContext, session: str, message: str) -> End:
    row: Row | None = await context.read("message", message=message)
    if row is None or row["session"] != session or row["role"] != "user":
        raise Refusal(
            Code.NOT_FOUND,
            f"Session {session[SHORT_ID]} has no prompt {quote_foreign(message, 60)}.",
            missing=[message],
        )
    if row["status"] == "cancelled":
        return "cancelled"
    if row["status"] == "queued":
        return Glance(turn=None, phase=None, text="", queued=(message,))
    if row["status"] == "handed" and not context.ports.relay_runs():
        return TurnOver(session, message, cut_end(session, message), None)
    if row["status"] == "handed":
        return Glance(turn=message, phase="running", text="", queued=())
    reply = row["reply"]
    return TurnOver(session, message, stored_end(row), None if reply is None else reply["id"])


def prompt_result(
    action: str, relay: str, session: str, message: str, found: End, text: str
) -> results.PromptResult:
    """Give what a caller reads of it; ``text`` is the prompt's, empty when the call did not bring it."""
    told = quoted(text) if text else "what became of it"
    common: dict[str, Any] = {
        "relay": relay,
        "summary": summary(action, told, relay=relay, session=session),
        "session": session,
        "message_id": message,
    }
    if found == "cancelled":
        return results.PromptResult(**common, status="cancelled")
    if isinstance(found, Glance):
        if found.turn != message:
            return results.PromptResult(**common, status="queued")
        return results.PromptResult(**common, status="running", progress=views.progress_view(found))
    reply = views.reply_view(found)
    if reply is not None and reply.truncated:
        common["note"] = "The reply was cut: read_session shows more of it."
    end = found.end
    return results.PromptResult(
        **common,
        status=end.outcome,
        stop_reason=end.stop_reason if end.outcome != "stopped" else None,
        error_class=end.error_class,
        error_text=end.error_text,
        reply=reply,
    )
