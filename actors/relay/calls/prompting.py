"""``send``, ``create_session`` and ``wait``."""

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.summaries import summary
from showcaller.actors.relay import prompts, views
from showcaller.actors.relay.calls import outcomes
from showcaller.actors.relay.calls.consent import unasked_limit
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.found import Found
from showcaller.actors.relay.messages import Accepted, CreateSession, Prompt, ToSession
from showcaller.actors.relay.refusals import refusal_for

NOT_PLACED = "the group that it was to be in was gone by then"


async def send(context: CallContext, call: calls.Send, found: Found) -> results.PromptResult:
    """Store a prompt, and say what has become of it."""
    assert found.sending is not None
    message = await _message(context, call, found.sending.hops)
    message |= found.sending.named
    limit = unasked_limit(context)
    mode = None if context.caller.agent is None else found.row["mode"]
    prompt = Prompt(message, only_if_idle=call.if_busy == "fail", unasked_limit=limit, mode_then=mode)
    accepted: Accepted = await context.ask(ToSession(found.session, prompt))
    context.started()
    return await _outcome(context, "send", accepted, call, may_join=found.sending.may_join)


async def create_session(
    context: CallContext, call: calls.CreateSession, found: Found
) -> results.CreateSessionResult:
    """Store a session with its first prompt, and say what has become of that."""
    assert found.start is not None
    start = found.start
    message = await _message(context, call, start.hops)
    row: Row = {
        "id": found.session,
        "title": _title(call),
        "provider": start.provider,
        "mode": start.mode,
        "effort": start.effort,
        "model": start.model,
        "origin": "owner" if context.caller.agent is None else "agent",
        "created_by": context.caller.agent,
        "created_at": message["created_at"],
        "cwd": start.cwd,
        "group": None if start.group is None else start.group["id"],
    }
    if start.repo is not None:
        row |= {"repo": start.repo, "branch": call.branch}
        context.notes.append(f"It works on a fresh clone in {context.ports.clones.folder(found.session)}.")
    if context.resume is not None:
        row["agent_session_id"] = context.resume
    if context.caller.agent is not None and start.group is None:
        row["starter_group"] = context.ports.new_id("grp_")
    accepted: Accepted = await context.ask(
        CreateSession(row, Prompt(message, unasked_limit=unasked_limit(context)))
    )
    context.started()
    if accepted.duplicate:
        return await created_before(context, call, accepted.session, accepted.message)
    outcome = await _outcome(context, "create_session", accepted, call)
    if "starter_group" not in row and start.group is None:
        return _created(outcome, row, start.model_source, start.model_note)
    row, outcome = await _with_group(context, row, outcome)
    result = _created(outcome, row, start.model_source, start.model_note)
    if row["group"] is not None or row.get("group_unread"):
        return result
    told = f"{result.summary} (no group: {NOT_PLACED})"
    return result.model_copy(update={"group_warning": f"It is in no group: {NOT_PLACED}.", "summary": told})


def _title(call: calls.CreateSession) -> str:
    return call.title or prompts.title_of(call.text)


async def _with_group(
    context: CallContext, row: Row, outcome: results.PromptResult
) -> tuple[Row, results.PromptResult]:
    """Look up in which group the new session is; it is stored all the same when that cannot be read now."""
    try:
        stored: Row = await context.read("load_session", session=row["id"])
    except Exception as error:  # noqa: BLE001 - whatever it is, the session is stored
        why = f"It is stored; in which group it is cannot be read now: {refusal_for(error)}"
        note = why if outcome.note is None else f"{outcome.note} {why}"
        return {**row, "group": None, "group_unread": True}, outcome.model_copy(update={"note": note})
    return stored, outcome


async def _message(context: CallContext, call: calls.Send | calls.CreateSession, hops: int) -> Row:
    own = await context.own_row()
    return prompts.message_row(call, context.ports, context.client_id, agent=own, hops=hops)


def _created(
    outcome: results.PromptResult,
    row: Row,
    model_source: results.ModelSource,
    model_note: str | None = None,
) -> results.CreateSessionResult:
    return results.CreateSessionResult(
        **dict(outcome),
        provider=row["provider"],
        model=row["model"],
        model_source=model_source,
        model_note=model_note,
        mode=row["mode"],
        effort=row["effort"],
        title=row["title"],
        cwd=row["cwd"],
        repo=row.get("repo"),
        branch=row.get("branch"),
        group=views.group_place(row),
    )


async def wait(context: CallContext, call: calls.Wait, session: str) -> results.PromptResult:
    """Say what has become of a prompt that was sent before."""
    assert call.message_id is not None  # only an external caller may omit it, and the shape knows that
    outcome = await outcomes.outcome_of(context, session, call.message_id, call.wait_seconds)
    return outcomes.prompt_result("wait", context.relay, session, call.message_id, outcome, "")


async def _outcome(
    context: CallContext,
    action: str,
    accepted: Accepted,
    call: calls.Send | calls.CreateSession,
    *,
    may_join: bool = False,
) -> results.PromptResult:
    """Say what has become of a prompt that was just stored: nothing that fails now may read as not sent."""
    session, message = accepted.session, accepted.message
    if accepted.duplicate:
        return sent_before(context, action, session, message)
    try:
        outcome = await outcomes.outcome_of(context, session, message, call.wait_seconds, may_join=may_join)
        return outcomes.prompt_result(action, context.relay, session, message, outcome, call.text)
    except Exception as error:  # noqa: BLE001 - whatever it is, the prompt is stored
        return results.PromptResult(
            relay=context.relay,
            session=session,
            message_id=message,
            summary=summary(action, "stored", relay=context.relay, session=session),
            note=f"It is stored, do not send it again; waiting for it failed: {refusal_for(error)}",
            status="queued",
        )


def sent_before(context: CallContext, action: str, session: str, message: str) -> results.PromptResult:
    """Give what a caller reads of a prompt that was sent before under the same name."""
    return results.PromptResult(
        relay=context.relay,
        session=session,
        message_id=message,
        summary=summary(action, "sent before", relay=context.relay, session=session),
        status="duplicate",
    )


async def created_before(
    context: CallContext, call: calls.CreateSession, session: str, message: str
) -> results.CreateSessionResult:
    """Give what a caller reads of a session that was created before under the same name.

    Of one that was deleted the store knows no more where it worked; the call itself says it again.
    """
    stored: Row = await context.read("load_session", session=session)
    row = {**stored, "title": _title(call)}
    if stored["deleted_at"] is not None:
        row |= {"cwd": None if call.repo else call.cwd or context.ports.default_folder, "repo": call.repo}
        context.notes.append("That session was deleted since.")
    source: results.ModelSource = "default" if context.caller.agent is None else "caller"
    if call.model is not None or (call.provider is not None and stored["model"] is None):
        source = "requested"
    return _created(sent_before(context, "create_session", session, message), row, source)
