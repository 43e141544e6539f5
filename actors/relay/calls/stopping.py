"""``stop`` and ``archive``, and what an owner may besides: kill, delete, let go on, restart."""

from typing import Any

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.errors import invalid
from showcaller.actors.contract.provider_entries import EXTERNAL
from showcaller.actors.contract.summaries import SHORT_ID, summary
from showcaller.actors.relay import messages
from showcaller.actors.relay.answers import clone_left
from showcaller.actors.relay.calls import repeats
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.owner_acts import (
    Delete,
    Done,
    GoOn,
    GoOnResult,
    Kill,
    Restart,
    RestartResult,
)
from showcaller.actors.relay.messages import Repeated, StopRunning, ToSession
from showcaller.actors.relay.session_answers import is_working

_HOW = {
    "resume": "Its agent resumed the conversation.",
    "load": "Its agent loaded the conversation.",
    "new": "Its agent had no conversation yet, and has a new one.",
    "alive": "Its agent was there still.",
}
Stopping = calls.Stop | Kill
PuttingAway = calls.Archive | Delete
Acting = Stopping | PuttingAway | GoOn | Restart


async def stop(context: CallContext, call: Stopping, row: Row) -> results.StopResult:
    """Have the turn of a session end, and what waits stay; a kill ends its agent's process as well."""
    named = repeats.write_id(context, call)
    cut = context.conversations.external.cut(row["id"])
    asked = StopRunning(call=named, cut=cut) if isinstance(call, calls.Stop) else messages.Kill(named, cut)
    answer: messages.Stopped | Repeated = await context.ask(ToSession(row["id"], asked))
    result = _result(answer)
    if row["provider"] == EXTERNAL and result.get("waiting"):  # what its client has got waits for no turn
        given = context.conversations.external.given(row["id"])
        result = result | {"waiting": max(0, result["waiting"] - len(given))}
    return stop_result(context, call, row["id"], result)


def stop_result(context: CallContext, call: Stopping, session: str, stopped: Row) -> results.StopResult:
    """Give what a caller reads of a stop; ``stopped`` is what the session answered, as the store keeps it."""
    requested, waiting = stopped["requested"], stopped.get("waiting")  # an earlier version kept no number
    if waiting:
        context.notes.append(
            f"{_messages(waiting)} in its queue until somebody prompts it again or lets it go on."
        )
    told = "stop requested" if requested else "nothing ran"
    return results.StopResult(**_common(context, call, session, told), stop_requested=requested)


async def put_away(context: CallContext, call: PuttingAway, row: Row) -> results.ArchiveResult | Done:
    """Archive a session that is not at work, or delete it for good; its clone says what it has left."""
    session: str = row["id"]
    if context.conversations.external.runs(session):
        raise is_working(session, "Nothing was changed.")
    named = repeats.write_id(context, call)
    asked = messages.Archive(named) if isinstance(call, calls.Archive) else messages.Delete(named)
    answer: messages.PutAway | Repeated = await context.ask(ToSession(session, asked))
    result = _result(answer)
    context.conversations.external.forget(session, tuple(result["cancelled"]))
    if row["repo"] is not None:
        await note_clone(context, session, deletes=isinstance(call, Delete))
    return put_away_result(context, call, session, result)


async def note_clone(context: CallContext, session: str, *, deletes: bool) -> None:
    """Say what a session that was put away has left in its clone, if it has one."""
    left = await clone_left(context.ports.clones, session, deletes=deletes)
    if left is not None:
        context.notes.append(left)


def put_away_result(
    context: CallContext, call: PuttingAway, session: str, put_away: Row
) -> results.ArchiveResult | Done:
    """Give what a caller reads of a session that was put away; ``put_away`` is what the store keeps of it."""
    cancelled = put_away["cancelled"]
    if cancelled:
        context.notes.append(f"{_cancelled(len(cancelled))} in its queue.")
    if isinstance(call, calls.Archive):
        return results.ArchiveResult(**_common(context, call, session, "archived"))
    return Done(**_common(context, call, session, "deleted"))


async def go_on(context: CallContext, call: GoOn, session: str) -> GoOnResult:
    """Let run what a stop holds in a session's queue."""
    released: bool = await context.ask(ToSession(session, messages.GoOn()))
    told = "goes on" if released else "nothing held its queue"
    return GoOnResult(**_common(context, call, session, told), released=released)


async def restart(context: CallContext, call: Restart, row: Row) -> RestartResult:
    """Go on with a session's conversation in a new process of its agent."""
    if context.ports.providers.agent_of(row["provider"]) is None:
        raise invalid(
            f"Session {row['id'][SHORT_ID]} runs {row['provider']}, which has no conversation to go on with. "
            f"{call.nothing}"
        )
    answer: messages.Restarted = await context.ask(ToSession(row["id"], messages.Restart()))
    context.notes.append(_HOW[answer.via])
    told = f"goes on in a new process ({answer.via})"
    return RestartResult(**_common(context, call, row["id"], told), resumed_via=answer.via)


def _result(answer: messages.Stopped | messages.PutAway | Repeated) -> Row:
    return dict(answer.result) if isinstance(answer, Repeated) else answer._asdict()


def _common(context: CallContext, call: Acting, session: str, told: str) -> Any:
    return {
        "relay": context.relay,
        "summary": summary(call.action, told, relay=context.relay, session=session),
        "session": session,
    }


def _messages(number: int) -> str:
    return "1 message stays" if number == 1 else f"{number} messages stay"


def _cancelled(number: int) -> str:
    return "1 message was cancelled" if number == 1 else f"{number} messages were cancelled"
