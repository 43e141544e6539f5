"""``list_sessions`` and ``read_session``."""

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.errors import invalid
from showcaller.actors.contract.summaries import quoted, summary
from showcaller.actors.relay import views
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.cursors import read_cursor, write_cursor
from showcaller.actors.relay.messages import Glance, IfAwake, Look


async def list_sessions(context: CallContext, call: calls.ListSessions) -> results.ListSessionsResult:
    """Give a page of sessions."""
    after = None if call.cursor is None else read_cursor("sessions", call.cursor, (int, str))
    page = await context.read(
        "list_sessions", scope=call.scope, query=call.query, limit=call.limit, after=after
    )
    sessions = tuple(
        views.session_view(context.as_it_is(row), context.caller.agent) for row in page["sessions"]
    )
    working = sum(1 for session in sessions if session.state == "running_turn")
    return results.ListSessionsResult(
        relay=context.relay,
        summary=summary("list_sessions", f"{len(sessions)} sessions, {working} at work"),
        sessions=sessions,
        next_cursor=None if page["next"] is None else write_cursor("sessions", page["next"]),
    )


async def read_session(
    context: CallContext, call: calls.ReadSession, session: str, row: Row
) -> results.ReadSessionResult:
    """Give the newest messages of a session, or a page of older ones, and its states."""
    before = None if call.before is None else read_cursor("messages", call.before, (str, int))
    if before is not None and before[0] != session:
        raise invalid("This cursor is one of another session: start again without it.")
    page = await context.read("read_messages", session=session, last=call.last, before=before and before[1])
    glance: Glance | None = await context.ask(IfAwake(session, Look()))
    running = row["running"] and await context.read("message", message=row["running"])
    view = views.session_view(row, context.caller.agent)
    older = page["older"]
    return results.ReadSessionResult(
        relay=context.relay,
        summary=summary("read_session", quoted(view.title), relay=context.relay, session=session),
        session=view,
        state=view.state,
        queued=view.queued,
        last_turn=view.last_turn,
        process=view.process,
        messages=views.message_views(page["messages"], call.max_chars),
        in_flight=views.in_flight_view(glance, running),
        older_cursor=None if older is None else write_cursor("messages", [session, older]),
    )
