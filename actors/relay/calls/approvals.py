"""What stands allowed to agents, as the owner sees and revokes it, and the reset of the loop guard."""

from showcaller.actors.contract.approvals import (
    ApprovalItem,
    Approvals,
    ApprovalsResult,
    Revoke,
    RevokeResult,
)
from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.contract.provider_entries import EXTERNAL
from showcaller.actors.contract.summaries import SHORT_ID, counted, summary
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.owner_acts import Done, Unlock
from showcaller.actors.relay.card_messages import RestartCount, RevokeApprovals
from showcaller.actors.relay.cursors import PagedList
from showcaller.actors.relay.messages import ToSession


async def approvals(context: CallContext, asked: Approvals) -> ApprovalsResult:
    """Give a page of what stands allowed."""
    pages = PagedList(context.relay_id, "approvals", (), (str, str))
    after = None if asked.cursor is None else pages.read(asked.cursor)
    page = await context.read("approvals", limit=asked.limit, after=after)
    rows: list[Row] = page["approvals"]
    return ApprovalsResult(
        relay=context.relay,
        summary=summary("approvals", counted(len(rows), "approval")),
        approvals=tuple(
            ApprovalItem(
                session=row["conversation"],
                title=row["title"],
                kind=row["kind"],
                allowed_at=row["created_at"],
            )
            for row in rows
        ),
        next_cursor=None if page["next"] is None else pages.write(page["next"]),
    )


async def revoke(context: CallContext, call: Revoke, session: str) -> RevokeResult:
    """Have what was allowed in a conversation stand no more; raises ``Refusal`` when nothing of it does."""
    revoked: tuple[str, ...] | None = await context.ask(ToSession(session, RevokeApprovals(call.kind)))
    if revoked is None:
        what = "Nothing" if call.kind is None else f"No {call.kind}"
        raise Refusal(Code.NOT_FOUND, f"{what} stands allowed in session {session[SHORT_ID]}. {call.nothing}")
    told = f"revoked {', '.join(revoked)}"
    return RevokeResult(
        relay=context.relay,
        summary=summary(call.action, told, relay=context.relay, session=session),
        session=session,
        revoked=revoked,
    )


async def unlock(context: CallContext, call: Unlock, row: Row) -> Done:
    """Have the prompts of an external conversation to others count from 0 again, as a word of its owner."""
    if row["provider"] != EXTERNAL:
        raise invalid(
            f"Session {row['id'][SHORT_ID]} is no external conversation: type a message in it, and what its "
            f"agent sends to others counts from 0 again. {call.nothing}"
        )
    await context.ask(ToSession(row["id"], RestartCount()))
    told = "its prompts to others count from 0 again"
    return Done(
        relay=context.relay,
        summary=summary(call.action, told, relay=context.relay, session=row["id"]),
        session=row["id"],
    )
