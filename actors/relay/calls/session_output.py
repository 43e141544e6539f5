"""``session_output``: the lines that a session's agent has written, after a cursor or the last ones."""

from typing import Any, Final

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.limits import OUTPUT_LINES
from showcaller.actors.contract.outside import Output, OutputLine, OutputResult
from showcaller.actors.contract.summaries import counted, summary
from showcaller.actors.relay import views
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.targets import find_session, refuse_deleted
from showcaller.actors.relay.calls.watching import NOTHING_COMES
from showcaller.actors.relay.event_feed import AwaitEvent
from showcaller.actors.relay.messages import AwaitOutput, IfAwake, OutputGlance
from showcaller.actors.relay.output_lines import Page, Place, last_page, page_of, read_place
from showcaller.actors.runtime import ActorDeadError, Timeout

_REPLIES: Final = 8
"""Replies read at once: each may have a mebibyte."""
_LAST: Final = 50
"""Lines when nobody says how many."""


async def read_output(context: CallContext, asked: Output) -> OutputResult:
    """Give lines after a cursor, or the last ones; waits for one when there is none and time is given."""
    clock = context.ports.clock
    until = clock.monotonic() + asked.wait
    session = await find_session(context, asked.session)
    place = None if asked.since is None else read_place(asked.since)
    while True:
        cursor, _ = await _standing(context, session)
        writing = await _writing(context, session)
        _, row = await _standing(context, session)
        if writing is not None and writing.turn != row["running"]:
            writing = None  # the store has its reply by now, or it has begun just now
        if place is None:
            page = await _last(context, session, writing, _LAST if asked.last is None else asked.last)
        else:
            page = await _after(context, session, writing, place)
        left = until - clock.monotonic()
        if page.lines or left <= 0 or not await _news(context, session, writing, cursor, left):
            return _result(context, row, page)
        place = page.place


async def _standing(context: CallContext, session: str) -> tuple[int, Row]:
    standing: dict[str, Any] = await context.read("watched_sessions", sessions=[session])
    (row,) = standing["sessions"]
    refuse_deleted(row)
    return standing["cursor"], context.as_it_is(row)


async def _writing(context: CallContext, session: str) -> OutputGlance | None:
    """Give what the turn under way has written, before the store is asked whether it has ended."""
    try:
        glance: OutputGlance | None = await context.ask(IfAwake(session, AwaitOutput(None, -1)))
    except ActorDeadError:  # it has just failed; the store knows
        return None
    return glance


async def _after(context: CallContext, session: str, writing: OutputGlance | None, place: Place) -> Page:
    lines: list[OutputLine] = []
    while True:
        replies: list[Row] = await context.read(
            "replies_after", session=session, position=place.position, limit=_REPLIES
        )
        are_all = len(replies) < _REPLIES
        if writing is not None and any(reply["reply_to"] == writing.turn for reply in replies):
            writing = None  # it has ended meanwhile
        page = page_of(place, replies, writing if are_all else None, OUTPUT_LINES - len(lines))
        lines += page.lines
        place = page.place
        if page.more or are_all:
            return page._replace(lines=lines)
        if len(lines) == OUTPUT_LINES:
            return page._replace(lines=lines, more=True)


async def _last(context: CallContext, session: str, writing: OutputGlance | None, limit: int) -> Page:
    replies: list[Row] = []
    newest, position, count = 0, None, 0
    while count < limit or not replies:
        found = await context.read("last_replies", session=session, limit=_REPLIES, position=position)
        if not found:
            break
        newest = newest or found[0]["position"]
        for reply in found:
            replies.append(reply)
            position = reply["position"]
            count += reply["text"].count("\n") + 1
            if count >= limit:
                break
    return last_page(list(reversed(replies)), writing, limit, newest)


async def _news(
    context: CallContext, session: str, writing: OutputGlance | None, cursor: int, left: float
) -> bool:
    """Wait until more is written, or something else happens in the session; False when time is up first."""
    if context.ports.writer is None:
        raise Refusal(Code.UNAVAILABLE, NOTHING_COMES)
    wish: AwaitEvent | IfAwake = AwaitEvent(cursor, frozenset([session]), frozenset(["any"]))
    if writing is not None and writing.turn is not None:
        wish = IfAwake(session, AwaitOutput(writing.turn, writing.size))
    try:
        await context.ask(wish, timeout=left)
    except Timeout:
        return False
    return True


def _result(context: CallContext, row: Row, page: Page) -> OutputResult:
    return OutputResult(
        relay=context.relay,
        summary=summary("session_output", counted(len(page.lines), "line"), session=row["id"]),
        session=row["id"],
        state=views.state_of(row),
        lines=tuple(page.lines),
        next=str(page.place),
        more=page.more,
        cut=page.cut,
    )
