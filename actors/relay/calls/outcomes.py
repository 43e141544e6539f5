"""What became of a prompt: from whoever has it while it is under way, and else from the store."""

from typing import Any, Final, Literal, NamedTuple

from showcaller.actors.contract import results
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.provider_entries import EXTERNAL
from showcaller.actors.contract.summaries import SHORT_ID, quoted, summary
from showcaller.actors.relay import views
from showcaller.actors.relay.calls.background import background_of, glance_at
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.waiting_cards import Cards, look_at_cards
from showcaller.actors.relay.calls.waits import WAITED_FOR
from showcaller.actors.relay.fanout_steps import stored_end
from showcaller.actors.relay.messages import (
    AwaitEnd,
    AwaitReady,
    Facts,
    Glance,
    IfAwake,
    LookFacts,
    ToSession,
    TurnOver,
)
from showcaller.actors.relay.turn_records import cut_end
from showcaller.actors.runtime import ActorDeadError, Timeout, sleep

UNFINISHED: Final = frozenset({"queued", "handed"})
SHORTEST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 0.5
"""Seconds between two looks at a message, in a relay that only reads."""
NO_RELAY: Final = "No relay runs on this data folder now, so nothing more becomes of it until one is opened."
HELD: Final = (
    "A stop holds this session's queue: the message waits until somebody prompts the session again, or its "
    "owner lets it go on."
)

WITH_ITS_NEXT_CALL: Final = (
    "It stays queued: that conversation belongs to a client that the relay does not run, so it cannot be "
    "prompted into action and gets the message with its next call."
)
TAKEN: Final = (
    "The conversation has the message. Its client is not run by the relay, so there is no reply here."
)

End = TurnOver | Glance | Literal["cancelled", "taken"]
"""What became of a prompt: its end, a look at the session that has it, or that it was taken out.

``taken``: it went to an external conversation, which has it.
"""


class Outcome(NamedTuple):
    """What became of a prompt.

    ``steered``: it joined a turn that was running; ``background``: what its turn has left running;
    ``external``: it waits for an external conversation; ``cards``: its turn waits for an answer to these.
    """

    end: End
    steered: bool = False
    background: results.Background | None = None
    external: bool = False
    cards: Cards | None = None


async def outcome_of(
    context: CallContext, session: str, message: str, wait_seconds: int, *, may_join: bool = True
) -> Outcome:
    """Wait for a message's end; gives how it stands when the time is up first, or nothing will come.

    A call of an agent for which the session waits does not wait, and its note says why. ``may_join``: the
    message may have joined a running turn, so whether it did is looked up.
    """
    own = context.caller.agent
    turn = None if own is None else await _turn_that_waits(context, own, session)
    with context.conversations.waits.waiting(own, turn, session) as may_wait:
        if not may_wait:
            context.notes.append(WAITED_FOR)
        end, row, cards = await _waited_beside_cards(
            context, session, message, wait_seconds if may_wait else 0
        )
    if row is None and may_join and isinstance(end, TurnOver):
        row = await context.read("message", message=message)
    if isinstance(end, Glance) and message in end.queued and await _is_external(context, session):
        return Outcome(end, external=True)
    steered = message in end.steered if isinstance(end, Glance) else row is not None and _joined(row)
    if not isinstance(end, TurnOver) or end.end.outcome != "done":
        return Outcome(end, steered, cards=cards)
    if not end.leaves_tasks:
        return Outcome(end, steered)
    turn = row["steered_into"] if row is not None and steered else message
    return Outcome(end, steered, await background_of(context, session, turn))


async def _is_external(context: CallContext, session: str) -> bool:
    try:
        facts: Facts | None = await context.ask(IfAwake(session, LookFacts()))
    except ActorDeadError:
        facts = None
    if facts is not None:
        return facts.provider == EXTERNAL
    row: Row | None = await context.read("load_session", session=session)
    return row is not None and row["provider"] == EXTERNAL


async def _turn_that_waits(context: CallContext, own: str, target: str) -> str | None:
    """Give the turn in which an agent calls, None for none; waits of turns that are over are forgotten.

    Only those are looked at that would keep the call from waiting.
    """
    waits = context.conversations.waits
    while chain := waits.chain(own, target):
        over = [each for each in chain if await _running_turn(context, each.session) != each.turn]
        for each in over:
            waits.over(each)
        if not over:
            break
    return await _running_turn(context, own)


async def _running_turn(context: CallContext, session: str) -> str | None:
    """Give the turn that an agent is in; None when its turn is over, or was asked to end."""
    if context.conversations.external.runs(session):
        return session  # the turn of an external conversation is the time in which it calls
    try:
        glance = await glance_at(context, session)
    except ActorDeadError:
        return None
    return None if glance is None or glance.phase != "running" else glance.turn


async def _waited_beside_cards(
    context: CallContext, session: str, message: str, wait_seconds: float
) -> tuple[End, Row | None, Cards | None]:
    """Give how a message stands at last: also when its turn waits on cards, which come with it.

    A card that is gone before anybody has read of it ends no waiting.
    """
    clock = context.ports.clock
    until = clock.monotonic() + wait_seconds
    while True:
        end, row = await _waited(context, session, message, max(0.0, until - clock.monotonic()))
        if not isinstance(end, Glance) or not end.asks or message not in {end.turn, *end.steered}:
            return end, row, None
        look = await look_at_cards(context, session, end)
        if look.is_over and look.cards is None:
            end, row = await _waited(context, session, message, 0)
            return end, row, None
        if look.cards is not None or not look.goes_on or clock.monotonic() >= until:
            return look.glance, row, look.cards


async def _waited(
    context: CallContext, session: str, message: str, wait_seconds: float
) -> tuple[End, Row | None]:
    """Give how a message stands at last, with its row if that had to be read."""
    clock = context.ports.clock
    until = clock.monotonic() + wait_seconds
    live = await _live(context, session, IfAwake(session, AwaitEnd(message)), wait_seconds)
    if live is not None:
        return live, None
    row: Row | None = await context.read("message", message=message)
    if row is not None and row["session"] == session and row["status"] == "queued":
        # Its session sleeps, such as one that was stopped: only awake does that tell of the end.
        left = until - clock.monotonic()
        if left > 0 and context.ports.writer is not None:
            live = await _live(context, session, ToSession(session, AwaitEnd(message)), left)
            if live is not None:
                return live, None
            row = await context.read("message", message=message)
    if row is not None and row["session"] == session and context.ports.writer is None:
        row = await _watched(context, row, until)
    return _stored(context, session, message, row), row


async def _watched(context: CallContext, row: Row, until: float) -> Row:
    """Look at a message in the store until it has its end: no session tells that to a relay that only reads.

    Without a relay that runs nothing becomes of it, so that is not waited for.
    """
    clock = context.ports.clock
    began = clock.monotonic()
    while row["status"] in UNFINISHED and (now := clock.monotonic()) < until:
        if not context.ports.relay_runs():
            context.notes.extend([NO_RELAY] if row["status"] == "queued" else [])
            break
        await sleep(min(look_again_after(now - began), until - now))
        await context.ask(AwaitReady())  # refused once this relay closes
        if row["status"] == "handed" and await context.read("pending_cards", session=row["session"]):
            break
        row = await context.read("message", message=row["id"])
    return row


def look_again_after(waited: float) -> float:
    """Say in how many seconds to look again for what has been waited for so many seconds."""
    return min(LONGEST_PAUSE, max(SHORTEST_PAUSE, waited / 10))


async def _live(
    context: CallContext, session: str, asked: IfAwake | ToSession, seconds: float
) -> TurnOver | Glance | None:
    """Ask the session for the message's end; None when the store says how the message stands."""
    message: str = asked.message.message
    asking = context.ask(asked, timeout=float(seconds))
    try:
        over: TurnOver | None = await asking
    except Timeout:
        glance = await glance_at(context, session)
        is_here = glance is not None and message in {glance.turn, *glance.queued, *glance.steered}
        return glance if is_here else None
    finally:
        asking.try_set(None)  # who has gone keeps no session awake
    return over


def _stored(context: CallContext, session: str, message: str, row: Row | None) -> End:
    if row is None or row["session"] != session or row["role"] != "user":
        raise Refusal(
            Code.NOT_FOUND,
            f"Session {session[SHORT_ID]} has no prompt {quote_foreign(message, 60)}.",
            missing=[message],
        )
    if row["status"] == "cancelled":
        return "cancelled"
    if row["status"] == "done" and row["worker"] is None:
        return "taken"
    if row["status"] == "queued":
        return Glance(turn=None, phase=None, text="", queued=(message,))
    if row["status"] == "handed" and not context.ports.relay_runs():
        return TurnOver(session, message, cut_end(session, message), None)
    if row["status"] == "handed":
        turn, steered = (row["steered_into"], (message,)) if _joined(row) else (message, ())
        return Glance(turn=turn, phase="running", text="", queued=(), steered=steered, asks=True)
    reply = row["reply"]
    return TurnOver(session, message, stored_end(row), None if reply is None else reply["id"])


def _joined(row: Row) -> bool:
    return row["steered_into"] is not None


def prompt_result(
    action: str, relay: str, session: str, message: str, outcome: Outcome, text: str
) -> results.PromptResult:
    """Give what a caller reads of it; ``text`` is the prompt's, empty when the call did not bring it."""
    found, steered, background, external, cards = outcome
    told = quoted(text) if text else "what became of it"
    common: dict[str, Any] = {
        "relay": relay,
        "summary": summary(action, told, relay=relay, session=session),
        "session": session,
        "message_id": message,
        "steered": True if steered else None,
    }
    if found == "cancelled":
        return results.PromptResult(**common, status="cancelled")
    if found == "taken":
        return results.PromptResult(**common, status="done", stop_reason="end", note=TAKEN)
    if isinstance(found, Glance):
        if found.turn != message and not steered:
            note = HELD if found.held else WITH_ITS_NEXT_CALL if external else None
            return results.PromptResult(**common, status="queued", note=note)
        return results.PromptResult(
            **common,
            status="running" if cards is None else "waiting_for_answer",
            progress=views.progress_view(found),
            pending_questions=None if cards is None else cards.questions,
            approvals_pending=None if cards is None else cards.approvals or None,
        )
    reply = views.reply_view(found)
    common["note"] = _notes(reply, background)
    end = found.end
    return results.PromptResult(
        **common,
        status=end.outcome if background is None else "running",
        stop_reason=views.stop_reason_of(end.outcome, end.stop_reason) if background is None else None,
        error_class=end.error_class,
        error_text=end.error_text,
        seconds=views.turn_seconds(end.seconds),
        reply=reply,
        background=background,
    )


def _notes(reply: results.Reply | None, background: results.Background | None) -> str | None:
    notes: list[str] = []
    if reply is not None and reply.truncated:
        notes.append("The reply was cut: read_session shows more of it.")
    if background is not None:
        notes.append("It has answered, and work goes on in the background: read_task_output shows it.")
    return " ".join(notes) or None
