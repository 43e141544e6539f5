"""``send``, ``create_session`` and ``wait``."""

from typing import Any

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.summaries import summary
from showcaller.actors.relay import prompts, views
from showcaller.actors.relay.calls import outcomes
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.session_settings import Sending, Start
from showcaller.actors.relay.messages import Accepted, CreateSession, Prompt, ToSession
from showcaller.actors.relay.refusals import refusal_for


async def send(
    context: CallContext, call: calls.Send, session: str, sending: Sending
) -> results.PromptResult:
    """Store a prompt, and say what has become of it."""
    message = _message(context, call, sending.hops)
    prompt = Prompt(message, only_if_idle=call.if_busy == "fail")
    accepted: Accepted = await context.ask(ToSession(session, prompt))
    context.started()
    return await _outcome(context, "send", accepted, call.text, call.wait_seconds)


async def create_session(
    context: CallContext, call: calls.CreateSession, session: str, start: Start
) -> results.CreateSessionResult:
    """Store a session with its first prompt, and say what has become of that."""
    message = _message(context, call, start.hops)
    row: Row = {
        "id": session,
        "title": call.title or prompts.title_of(call.text),
        "provider": start.provider,
        "mode": start.mode,
        "origin": context.caller.kind,
        "created_by": context.caller.agent,
        "created_at": message["created_at"],
        "cwd": start.cwd,
        "group": None if start.group is None else start.group["id"],
    }
    accepted: Accepted = await context.ask(CreateSession(row, Prompt(message)))
    context.started()
    outcome = await _outcome(context, "create_session", accepted, call.text, call.wait_seconds)
    if accepted.duplicate:
        row = await context.read("load_session", session=accepted.session)
    elif start.group is not None:
        row |= {"group_name": start.group["name"], "group_head": None}
    return _created(outcome, row, start.model_source)


def _message(context: CallContext, call: calls.Send | calls.CreateSession, hops: int) -> Row:
    return prompts.message_row(call, context.ports, context.client_id, caller=context.caller.agent, hops=hops)


def _created(
    outcome: results.PromptResult, row: Row, model_source: results.ModelSource
) -> results.CreateSessionResult:
    return results.CreateSessionResult(
        **dict(outcome),
        provider=row["provider"],
        model_source=model_source,
        mode=row["mode"],
        title=row["title"],
        cwd=row["cwd"],
        group=views.group_place(row),
    )


async def wait(context: CallContext, call: calls.Wait, session: str) -> results.PromptResult:
    """Say what has become of a prompt that was sent before."""
    assert call.message_id is not None  # only an external caller may omit it, and the shape knows that
    end = await outcomes.end_of(context, session, call.message_id, call.wait_seconds)
    return outcomes.prompt_result("wait", context.relay, session, call.message_id, end, "")


async def _outcome(
    context: CallContext, action: str, accepted: Accepted, text: str, wait_seconds: int
) -> results.PromptResult:
    """Say what has become of a prompt that was just stored: nothing that fails now may read as not sent."""
    session, message = accepted.session, accepted.message
    stored: dict[str, Any] = {"relay": context.relay, "session": session, "message_id": message}
    if accepted.duplicate:
        told = summary(action, "sent before", relay=context.relay, session=session)
        return results.PromptResult(**stored, summary=told, status="duplicate")
    try:
        end = await outcomes.end_of(context, session, message, wait_seconds)
        return outcomes.prompt_result(action, context.relay, session, message, end, text)
    except Exception as error:  # noqa: BLE001 - whatever it is, the prompt is stored
        return results.PromptResult(
            **stored,
            summary=summary(action, "stored", relay=context.relay, session=session),
            note=f"It is stored, do not send it again; waiting for it failed: {refusal_for(error)}",
            status="queued",
        )
