"""Asking the owner before an agent's call is carried out: what is due for it, its card, and the answer."""

from typing import Final

from showcaller.actors.contract import calls
from showcaller.actors.contract.actions import find_action
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.idempotency import fingerprint
from showcaller.actors.contract.limits import CARD_HOURS, PROMPTS_UNASKED, STALLED_MINUTES
from showcaller.actors.contract.summaries import counted
from showcaller.actors.relay.calls import agents
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.found import Found
from showcaller.actors.relay.calls.modes import STRICT_TO_LOOSE, mode_of_turn
from showcaller.actors.relay.calls.owner_acts import OwnerAct
from showcaller.actors.relay.calls.repeats import on_this_relay
from showcaller.actors.relay.card_messages import AskApproval, CheckAgain, LeaveApproval
from showcaller.actors.relay.card_signals import Ending
from showcaller.actors.relay.consent.card_text import Shown, Target, card_detail, card_question, place_of
from showcaller.actors.relay.consent.table import Rows, Write, can_be_shared, denied_code, due, granted
from showcaller.actors.relay.messages import ToSession

AnyCall = calls.Call | OwnerAct
ALLOWED: Final = ("allow",)
"""The one choice that approves."""


def unasked_limit(context: CallContext) -> int | None:
    """Give how many prompts the caller may have sent unasked when this one is stored; None for any number.

    That is so for the owner, and for a call about which the owner was asked.
    """
    asks_nobody = context.caller.agent is None or context.settings.unsafe_no_cards
    return None if asks_nobody or context.approved is not None else PROMPTS_UNASKED


async def rows_due(context: CallContext, call: AnyCall, found: Found) -> Rows:
    """Give the rows of the table for which the owner has to be asked about this call."""
    own = await context.own_row()
    if own is None or context.settings.unsafe_no_cards or isinstance(call, OwnerAct):
        return ()
    if found.update is not None and not found.update.changed:
        return ()  # it would do nothing
    standing = await context.read("standing_approvals", conversation=own["id"])
    return due(_write(context, call, found, own, frozenset(standing)))


def _write(context: CallContext, call: calls.Call, found: Found, own: Row, standing: frozenset[str]) -> Write:
    action = find_action(call.action)
    provider = found.start.provider if found.start is not None else found.row.get("provider")
    entry = None if provider is None else context.ports.providers.find(provider)
    return Write(
        action=call.action,
        is_write=action.is_write(call),
        is_prompt=action.is_prompt(call),
        mode=mode_of_turn(own),
        names_session=bool(found.row),
        started_here=found.row.get("created_by") == own["id"],
        runs=None if entry is None else entry.kind,
        loosens=isinstance(call, calls.Send) and _loosens(call.mode, found.row["mode"]),
        standing=frozenset(kind for kind in ("create", "subscribe", "settings") if kind in standing),
        prompts_unasked=own["prompts_unasked"],
    )


def _loosens(named: str | None, has: str) -> bool:
    order: tuple[str, ...] = STRICT_TO_LOOSE
    return named is not None and order.index(named) > order.index(has)


async def is_approved(context: CallContext, call: AnyCall, found: Found) -> bool:
    """Tell whether the owner has allowed just this: the same call, with all that was found for it."""
    return context.approved is not None and context.approved == _essence(await _shown(context, call, found))


def _essence(shown: Shown) -> Shown:
    """Give what is carried out: a session that was given another title meanwhile is the same."""
    target = None if shown.target is None else shown.target._replace(title="")
    return shown._replace(target=target, watched=tuple(each._replace(title="") for each in shown.watched))


async def ask(context: CallContext, call: AnyCall, found: Found, rows: Rows) -> None:
    """Show the owner a card, and wait for its end; raises ``Refusal`` unless it is *Allow*.

    Comes back as well, with nothing allowed, when the call has to be checked anew because of what changed.
    """
    own = await context.own_row()
    assert own is not None
    shown = await _shown(context, call, found)
    wish = AskApproval(
        call=context.ports.new_id("q_"),
        question=card_question(shown, rows, own["prompts_unasked"]),
        detail=card_detail(shown, rows),
        grants=granted(rows),
        fingerprint=fingerprint(on_this_relay(call)),
        client_id=context.client_id,
        shares=place_of(shown) if can_be_shared(rows) else None,
    )
    ended = await _end_of_card(context, own["id"], wish)
    if isinstance(ended, CheckAgain):
        return
    if (ended.outcome, ended.choices) != ("answered", ALLOWED):
        agents.check_switch(context, call)  # without it the card goes, and that is why
        raise _refused(call, rows, ended)
    context.approved = _essence(shown)


async def _end_of_card(context: CallContext, session: str, wish: AskApproval) -> Ending | CheckAgain:
    asked = context.ask(ToSession(session, wish))
    try:
        ended: Ending | CheckAgain = await asked
        return ended
    finally:
        if asked.try_set(None):  # its client has gone, or its turn: nobody waits for the card
            context.supervisor.tell(ToSession(session, LeaveApproval(wish.call)))


def _refused(call: AnyCall, rows: Rows, ended: Ending) -> Refusal:
    if ended.outcome == "answered":
        why = "The owner of this relay was asked about this call and said no."
        return Refusal(denied_code(rows), f"{why} {call.nothing}".strip())
    how = {
        "timed_out": f"was asked about this call and did not answer within {CARD_HOURS} hours",
        "withdrawn": "was asked about this call, and the turn that waited for the answer has ended",
    }.get(ended.outcome, "was asked about this call, and there will be no answer")
    return Refusal(Code.APPROVAL_DENIED, f"The owner of this relay {how}. {call.nothing}".strip())


async def _shown(context: CallContext, call: AnyCall, found: Found) -> Shown:
    match call:
        case calls.CreateSession():
            return _shown_create(call, found)
        case calls.Send():
            assert found.sending is not None
            return Shown(
                "send",
                target=await _target(context, found),
                provider=found.row["provider"],
                model=call.model,
                mode=found.sending.named.get("mode", found.row["mode"]),
                effort=call.effort,
                text=call.text,
            )
        case calls.UpdateSession():
            return _shown_update(await _target(context, found), found)
        case calls.AnswerQuestion():
            return Shown(
                "answer_question",
                target=await _target(context, found),
                provider=found.row["provider"],
                text="\n".join([*(call.choices or ()), *([call.answer] if call.answer else [])]),
                question=found.card["question"],
            )
        case calls.Subscribe():
            return _shown_subscribe(call, found)
        case _:
            return Shown(call.action, target=await _target(context, found))


def _shown_create(call: calls.CreateSession, found: Found) -> Shown:
    start = found.start
    assert start is not None
    return Shown(
        "create_session",
        provider=start.provider,
        model=start.model,
        mode=start.mode,
        effort=start.effort,
        folder=start.cwd,
        is_default_folder=call.cwd is None,
        repo=start.repo,
        branch=call.branch,
        group=None if start.group is None else (start.group["name"] or start.group["id"], start.group["id"]),
        title=call.title,
        text=call.text,
    )


def _shown_subscribe(call: calls.Subscribe, found: Found) -> Shown:
    quiet = call.quiet_hours
    options = {
        "only": ", ".join(call.events or ()),
        "once": "the first event only" if call.once else "",
        "match": "" if call.match is None else f"{counted(len(call.match), 'text')} to match",
        "stalled": "" if call.stalled_minutes == STALLED_MINUTES else f"{call.stalled_minutes} min",
        "heartbeat": "" if call.heartbeat_minutes is None else f"every {call.heartbeat_minutes} min",
        "digest": "" if call.digest_minutes is None else f"every {call.digest_minutes} min",
        "quiet": "" if quiet is None else f"{quiet.start}–{quiet.end} {quiet.tz}",
        "except": f"{len(found.left_out)} it leaves out" if found.left_out else "",
    }
    return Shown(
        "subscribe",
        watched=tuple(Target(row["id"], row["title"]) for row in found.watched),
        options=tuple(f"{name} {value}" for name, value in options.items() if value),
    )


def _shown_update(target: Target, found: Found) -> Shown:
    """Show each change, and nothing that stays as it is."""
    update = found.update
    assert update is not None
    values = update.values
    words: Row = {"auto_compact_window": {None: "auto"}, "thinking_enabled": {True: "on", False: "off"}}
    names = {"auto_compact_window": "Compact window", "thinking_enabled": "Thinking"}
    names["thinking_display"] = "Thinking display"
    further = tuple(
        (shown, str(words.get(name, {}).get(values[name], values[name])))
        for name, shown in names.items()
        if name in values
    )
    group = None if update.group is None else (update.group["name"] or update.group["id"], update.group["id"])
    return Shown(
        "update_session",
        target=target,
        model=values.get("model"),
        mode=values.get("mode"),
        effort=values.get("effort"),
        folder=values.get("cwd"),
        group=group or (None if update.new_group is None else (update.new_group, "new")),
        leaves_group=update.leaves,
        title=values.get("title"),
        further=further,
    )


async def _target(context: CallContext, found: Found) -> Target:
    """Name the session that a call is about; one that is awake was not read for the checks."""
    row = found.row if "title" in found.row else await context.read("load_session", session=found.session)
    return Target(found.session, row["title"])
