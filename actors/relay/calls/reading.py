"""``list_sessions`` and ``read_session``."""

from collections.abc import Sequence
from typing import Any

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.summaries import counted, quoted, summary
from showcaller.actors.contract.views import GroupMembers, PendingQuestion, SessionRow
from showcaller.actors.relay import views
from showcaller.actors.relay.calls.background import glance_at, task_views, tasks_of
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.last_words import last_words_ask
from showcaller.actors.relay.card_records import pending_questions
from showcaller.actors.relay.cursors import PagedList

MEMBERS = 50
"""Other members of a group that a reading names."""


async def list_sessions(context: CallContext, call: calls.ListSessions) -> results.ListSessionsResult:
    """Give a page of sessions."""
    narrowed = (call.scope, (call.query or "").casefold())
    pages = PagedList(context.relay_id, "sessions", narrowed, (int, str))
    after = None if call.cursor is None else pages.read(call.cursor)
    page = await context.read(
        "list_sessions",
        scope=call.scope,
        query=call.query,
        limit=call.limit,
        after=after,
        calling=context.conversations.external.running(),
    )
    sessions = await _session_views(context, [context.as_it_is(row) for row in page["sessions"]])
    waiting = sum(1 for session in sessions if session.waiting is not None)
    working = sum(1 for session in sessions if session.state == "running_turn" and session.waiting is None)
    told = f"{counted(len(sessions), 'session')}, {working} at work"
    return results.ListSessionsResult(
        relay=context.relay,
        summary=summary("list_sessions", f"{told}, {waiting} waiting for an answer" if waiting else told),
        sessions=sessions,
        next_cursor=None if page["next"] is None else pages.write(page["next"]),
    )


async def read_session(context: CallContext, call: calls.ReadSession, row: Row) -> results.ReadSessionResult:
    """Give the newest messages of a session, or a page of older ones, and its states."""
    session: str = row["id"]
    pages = PagedList(context.relay_id, "messages", (session,), (int,))
    before = None if call.before is None else pages.read(call.before)[0]
    page = await context.read(
        "read_messages", session=session, last=call.last, before=before, with_activity=call.include_activity
    )
    glance = await glance_at(context, session)
    running = row["running"] and await context.read("message", message=row["running"])
    (view,) = await _session_views(context, [row])
    older = page["older"]
    return results.ReadSessionResult(
        relay=context.relay,
        summary=summary("read_session", quoted(view.title), relay=context.relay, session=session),
        session=view,
        state=view.state,
        waiting=view.waiting,
        queued=view.queued,
        last_turn=view.last_turn,
        process=view.process,
        last_words_ask=view.last_words_ask,
        messages=views.message_views(page["messages"], call.max_chars),
        in_flight=views.in_flight_view(glance, running),
        pending_questions=await _pending_questions(context, row),
        tasks=await tasks_of(context, session, glance),
        group=await _group(context, row),
        older_cursor=None if older is None else pages.write([older]),
    )


async def _pending_questions(context: CallContext, row: Row) -> tuple[PendingQuestion, ...]:
    if not row["waits_on"]:
        return ()
    return pending_questions(await context.read("pending_cards", session=row["id"]))


async def _session_views(context: CallContext, rows: Sequence[Row]) -> tuple[SessionRow, ...]:
    replies = [context.read("last_words", session=row["id"]) if _may_ask(row) else None for row in rows]
    shown: list[SessionRow] = []
    for row, reply in zip(rows, replies, strict=True):
        last: Row | None = None if reply is None else await reply
        glance = await glance_at(context, row["id"]) if row["tasks"] else None
        view = views.session_view(row, context.caller.agent)
        more: dict[str, Any] = {
            "process": context.ports.agents.process_of(row["id"]) or view.process,
            "last_words_ask": last is not None and last_words_ask(last["text"], is_whole=last["is_whole"]),
            "tasks": () if glance is None else task_views(context, glance.tasks),
        }
        if row["repo"] is not None:
            more["cwd"] = context.ports.clones.folder(row["id"])
        shown.append(view.model_copy(update=more))
    return tuple(shown)


def _may_ask(row: Row) -> bool:
    return row["running"] is None and row["last_turn"] is not None and row["last_turn"]["status"] == "done"


async def _group(context: CallContext, row: Row) -> GroupMembers | None:
    place = views.group_place(row)
    if place is None:
        return None
    members = await context.read("group_members", group=place.id, but=row["id"], limit=MEMBERS)
    runs = context.conversations.external.runs
    shown = tuple(
        views.group_member(member, row["group_head"], calls=runs(member["id"])) for member in members
    )
    return GroupMembers(id=place.id, name=place.name, role=place.role, members=shown)
