"""``update_session``: settings of another session are changed, for its next turns."""

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.calls.sessions import SessionSettings
from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.summaries import summary
from showcaller.actors.relay import messages, views
from showcaller.actors.relay.calls import repeats, session_updates
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.found import Found
from showcaller.actors.relay.calls.modes import known_mode, looser_than
from showcaller.actors.relay.messages import Repeated, ToSession
from showcaller.actors.relay.update_messages import Update, Updated


async def update_session(
    context: CallContext, call: calls.UpdateSession, found: Found
) -> results.UpdateSessionResult:
    """Have the session store what becomes different, and its agent go to another folder if that does."""
    update = found.update
    assert update is not None
    if not update.changed:
        return _result(context, call, found.row, {"changed": []})
    mode = update.values.get("mode")
    order = Update(
        update.values,
        update.changed,
        place=_place(context, update),
        only_if_idle="cwd" in update.values,
        looser=() if mode is None else looser_than(mode),
        call=repeats.write_id(context, call),
    )
    answer: Updated | Repeated = await context.ask(ToSession(found.session, order))
    if isinstance(answer, Repeated):
        return await updated(context, call, found.session, answer.result)
    told = {"changed": list(update.changed), "group_created": answer.group_created}
    if "cwd" in update.values:
        told["relaunched"] = await _relaunched(context, found.row)
    return await updated(context, call, found.session, told)


def _place(context: CallContext, update: session_updates.Update) -> dict[str, str | None] | None:
    """Say in the store's words where the session is moved."""
    if update.new_group is not None:
        origin = "owner" if context.caller.agent is None else "agent"
        return {"group": context.ports.new_id("grp_"), "name": update.new_group, "origin": origin}
    if update.group is not None:
        return {"group": update.group["id"]}
    return {"group": None} if update.leaves else None


async def _relaunched(context: CallContext, row: Row) -> bool:
    """Have the agent of a session that has one go on in its new folder; tells whether it has.

    The folder is stored by now, so nothing that fails here takes it back.
    """
    if row["agent_session_id"] is None:
        return False  # it has not been started, or is no agent: the next turn begins there
    try:
        await context.ask(ToSession(row["id"], messages.Restart()))
    except Refusal as refusal:
        context.notes.append(
            f"The folder is kept for the next start of its agent, which was not restarted now: {refusal} "
            f"It worked in {quote_foreign(row['cwd'] or '')}."
        )
        return False
    return True


async def updated(
    context: CallContext, call: calls.UpdateSession, session: str, told: Row
) -> results.UpdateSessionResult:
    """Give what a caller reads of an update; ``told`` is what is known of it, as the store keeps it."""
    return _result(context, call, await context.read("load_session", session=session), told)


def _result(
    context: CallContext, call: calls.UpdateSession, row: Row, told: Row
) -> results.UpdateSessionResult:
    changed = tuple(told["changed"])
    if told.get("group_created"):
        context.notes.append(f"No group was called {quote_foreign(call.group or '')}, so it is a new one.")
    said = ", ".join(changed) or "nothing to change"
    return results.UpdateSessionResult(
        relay=context.relay,
        summary=summary(call.action, said, relay=context.relay, session=row["id"]),
        session=row["id"],
        settings=SessionSettings(
            model=row["model"],
            effort=row["effort"],
            mode=known_mode(row["mode"]),
            auto_compact_window=row["auto_compact_window"],
            title=row["title"],
            group=views.group_place(row),
            thinking_enabled=row["thinking_enabled"],
            thinking_display=row["thinking_display"],
            cwd=row["cwd"],
        ),
        changed=changed,
        relaunched=told.get("relaunched"),
        group_created=True if told.get("group_created") else None,
    )
