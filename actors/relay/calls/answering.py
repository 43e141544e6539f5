"""Answering cards: ``answer_question`` of agents, and the owner's inbox and answers."""

from typing import Final

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.ids import is_id
from showcaller.actors.contract.inbox import Answer, AnswerResult, Inbox, InboxItem, InboxOption, InboxResult
from showcaller.actors.contract.summaries import counted, summary
from showcaller.actors.relay.calls import repeats
from showcaller.actors.relay.calls.consent import unasked_limit
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.card_messages import AnswerGiven, GiveAnswer
from showcaller.actors.relay.consent.waiting_calls import UNCLAIMED_SECONDS
from showcaller.actors.relay.cursors import PagedList
from showcaller.actors.relay.messages import Repeated, ToSession
from showcaller.store.card_ends import HOW

NOT_AWAITED: Final = (
    "This is recorded, and nothing was carried out: the call that asked for it was cut off with the relay "
    "before, and hears of it only if its caller takes it up again within "
    f"{UNCLAIMED_SECONDS} seconds of this one's start."
)
Answering = calls.AnswerQuestion | Answer


async def find_card(context: CallContext, call: Answering) -> Row:
    """Give the card that a call answers, which waits for an answer; raises ``Refusal``.

    Of agents' calls it refuses what no agent may answer: a question of its own conversation, an approval, a
    permission, and one that blocks nobody.
    """
    named = quote_foreign(call.question_id, 80)
    if context.caller.agent is not None and is_id(call.question_id, "ask_"):
        why = f"Question {named} blocks nobody, and only the owner of this relay answers it. {call.nothing}"
        raise Refusal(Code.FORBIDDEN, why)
    card: Row | None = await context.read("card", card=call.question_id)
    if card is None:
        raise Refusal(
            Code.NOT_FOUND, f"There is no question {named}. {call.nothing}", missing=[call.question_id]
        )
    _check_caller(context, call, card)
    if card["status"] != "pending":
        by = f" by {card['via']}" if card["via"] else ""
        why = f"Question {card['id']} was {HOW[card['status']]}{by}. {call.nothing}"
        raise Refusal(Code.ALREADY_ANSWERED, why)
    return card


def _check_caller(context: CallContext, call: Answering, card: Row) -> None:
    own = context.caller.agent
    if own is None:
        return
    if card["session"] == own:
        why = f"That is a question of your own session: {call.action} works on other sessions only."
        raise Refusal(Code.OWN_SESSION, f"{why} {call.nothing}")
    if card["kind"] != "ask_user":
        what = "an approval" if card["kind"] == "approval" else "a permission of another agent"
        why = f"Question {card['id']} is {what}, which only the owner of this relay answers. {call.nothing}"
        raise Refusal(Code.FORBIDDEN, why)


async def answer(
    context: CallContext, call: Answering, card: Row
) -> results.AnswerQuestionResult | AnswerResult:
    """Have the session store the answer, and tell its agent."""
    own = context.caller.agent
    given = GiveAnswer(
        card=card["id"],
        choices=call.choices or (),
        text=call.answer,
        via="owner" if own is None else f"agent {own}",
        dismiss=isinstance(call, Answer) and call.dismiss,
        call=repeats.write_id(context, call),
        prompts=own,
        unasked_limit=unasked_limit(context),
    )
    stored: AnswerGiven | Repeated = await context.ask(ToSession(card["session"], given))
    status = stored.result["status"] if isinstance(stored, Repeated) else stored.status
    if isinstance(stored, AnswerGiven) and not stored.is_awaited:
        context.notes.append(NOT_AWAITED)
    return await answered(context, call, {"card": card["id"], "status": status})


async def answered_before(
    context: CallContext, call: Answering, first: Row
) -> results.AnswerQuestionResult | AnswerResult:
    """Give what a caller reads of an answer that was given before under the same name."""
    return await answered(context, call, first)


async def answered(
    context: CallContext, call: Answering, stored: Row
) -> results.AnswerQuestionResult | AnswerResult:
    """Give what a caller reads of an answer; ``stored`` is what the store keeps of it."""
    card: Row | None = await context.read("card", card=stored["card"])
    session = "" if card is None else card["session"]
    told = summary(call.action, f"{stored['card']} {stored['status']}", relay=context.relay, session=session)
    if isinstance(call, Answer):
        return AnswerResult(
            relay=context.relay,
            summary=told,
            question_id=stored["card"],
            session=session,
            status=stored["status"],
            chosen=_chosen(card) or None,
        )
    return results.AnswerQuestionResult(relay=context.relay, summary=told, question_id=stored["card"])


def _chosen(card: Row | None) -> tuple[str, ...]:
    if card is None or card["answer"] is None:
        return ()
    labels = {option["id"]: option["label"] for option in card["options"]}
    return tuple(labels.get(choice, choice) for choice in card["answer"].get("choices") or ())


async def inbox(context: CallContext, asked: Inbox) -> InboxResult:
    """Give a page of what waits for an answer."""
    pages = PagedList(context.relay_id, "inbox", (), (int, str))
    after = None if asked.cursor is None else pages.read(asked.cursor)
    page = await context.read("inbox", limit=asked.limit, after=after)
    rows: list[Row] = page["cards"] if context.ports.relay_runs() else []
    return InboxResult(
        relay=context.relay,
        summary=summary("inbox", f"{counted(len(rows), 'question')}"),
        items=tuple(map(_item, rows)),
        next_cursor=None if page["next"] is None or not rows else pages.write(page["next"]),
    )


def _item(row: Row) -> InboxItem:
    return InboxItem(
        id=row["id"],
        kind=row["kind"],
        session=row["session"],
        title=row["title"],
        message_id=row["message"],
        question=row["question"],
        detail=row["detail"],
        options=tuple(InboxOption(**option) for option in row["options"]),
        multi_select=row["multi_select"],
        allow_freeform=row["allow_freeform"],
        form=row["form"],
        asked_at=row["created_at"],
        expires_at=row["expires_at"],
    )
