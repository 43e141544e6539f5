"""The checks that hold for agents alone: each lets the owner through."""

from collections.abc import Iterable
from typing import Final

from showcaller.actors.contract import calls
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.ids import is_id, names_session
from showcaller.actors.contract.provider_entries import ProviderEntry
from showcaller.actors.contract.settings import Settings, switch_name
from showcaller.actors.contract.summaries import counted
from showcaller.actors.relay.calls.context import CallContext
from showcaller.actors.relay.calls.conversations import Look
from showcaller.actors.relay.calls.owner_acts import OwnerAct

_NEEDS_NO_SWITCH: Final = (calls.ListRelays, calls.Unsubscribe, calls.ListSubscriptions)
Starts = calls.Send | calls.CreateSession
_NOT_ON_ITSELF: Final = (calls.Send, calls.Wait, calls.Stop, calls.Archive, calls.UpdateSession)


async def check_caller(context: CallContext) -> None:
    """Refuse who is neither the owner nor the agent of a session that is there."""
    kind, session = context.caller.kind, context.caller.session
    if kind == "owner":
        return
    known = str(kind) in {"agent", "external"}
    if not known or not is_id(str(session), "ses_"):  # whatever a door has made of its token
        shown = quote_foreign(f"{kind} {session}", 80)
        raise Refusal(
            Code.UNAUTHENTICATED, f"This call comes from {shown}, which is no agent with a session."
        )
    await context.own_row()


def check_rate(context: CallContext, *, is_write: bool) -> None:
    """Refuse a call too many, or a write too many, in the conversation's sliding minute."""
    if context.caller.agent is not None:
        now = int(context.ports.clock.monotonic() * 1000)
        context.conversations.rates.admit(context.caller.agent, now, write=is_write)


def check_switch(context: CallContext, call: calls.Call | OwnerAct) -> None:
    """Refuse agents where their owner has not let them use sessions."""
    if context.caller.agent is None or context.settings.agent_sessions or isinstance(call, _NEEDS_NO_SWITCH):
        return
    raise Refusal(
        Code.LOCAL_DISABLED,
        "Agents may not use the sessions of this relay: its owner has not switched that on "
        "(showcaller settings set agent_sessions on).",
    )


def check_own_session(context: CallContext, call: calls.Call | OwnerAct) -> None:
    """Refuse what would wait for the caller's own conversation, or change it."""
    own = context.caller.agent
    if own is None or not isinstance(call, _NOT_ON_ITSELF) or call.session is None:
        return
    if names_session(call.session, own):
        raise Refusal(
            Code.OWN_SESSION,
            f"That is your own session: {call.action} works on other sessions only. {call.nothing}".strip(),
        )


async def check_nested(context: CallContext, call: calls.Call | OwnerAct) -> None:
    """Refuse a session that an agent started to start sessions, unless its owner lets it."""
    if not isinstance(call, calls.CreateSession):
        return
    own = await context.own_row()
    if own is not None and own["origin"] == "agent" and not own["may_create_sessions"]:
        raise Refusal(
            Code.NESTED_SESSION,
            "Your session was started by an agent, so it may not start sessions unless this relay's owner "
            f"lets it. {call.nothing}",
        )


async def check_active(context: CallContext, call: Starts, session: str, starter: str | None) -> None:
    """Refuse to set a session to work beside as many as may be of those that the caller started.

    Those that other calls are about to set to work count as well, once these have passed all checks.
    ``starter`` is who started ``session``.
    """
    if _counts(context, starter):
        await _places_taken(context, session, call.nothing)


async def take_place(context: CallContext, call: Starts, session: str, starter: str | None) -> None:
    """Be one of the calls that count for others, when all else that is checked was passed.

    Raises the ``Refusal`` of ``check_active`` when others have come first.
    """
    while _counts(context, starter):
        look = await _places_taken(context, session, call.nothing)
        starting = context.conversations.starting
        end = starting.begin(str(starter), session, look, context.client_id)
        if end is not None:
            context.started = end
            return


def _counts(context: CallContext, starter: str | None) -> bool:
    return context.caller.agent is not None and starter == context.caller.agent


async def _places_taken(context: CallContext, session: str, nothing: str) -> Look:
    """Look which sessions are at work or about to be; raises ``Refusal`` when these are as many as may be."""
    caller = str(context.caller.agent)
    look = context.conversations.starting.look(caller, context.client_id)
    at_work: list[str] = await context.read("started_at_work", caller=caller)
    others = (look.sessions | frozenset(at_work)) - {session}
    limit = context.settings.max_active_sessions
    if len(others) >= limit:
        raise Refusal(
            Code.SESSION_LIMIT,
            f"{counted(len(others), 'session')} that you started {'is' if len(others) == 1 else 'are'} "
            f"at work, and {limit} may be: wait until one of them has finished. {nothing}",
            limit=limit,
            sessions=sorted(others),
        )
    return look


def check_may_start(
    context: CallContext, call: Starts | calls.AnswerQuestion | calls.UpdateSession, entry: ProviderEntry
) -> None:
    """Refuse agents a provider that its owner has not opened to them."""
    may_start = context.settings.agents_may_start
    if context.caller.agent is None or may_start(entry):
        return
    open_to_agents = [each.provider for each in context.ports.providers if may_start(each)]
    listed = f"they may use {', '.join(open_to_agents)}" if open_to_agents else "they may use none"
    raise Refusal(
        Code.PROVIDER_UNAVAILABLE,
        f"Agents may not start or prompt {entry.provider} sessions on this relay; {listed}. Its owner "
        f"can let them: showcaller settings set {switch_name(entry.provider)} on. {call.nothing}",
        providers=open_to_agents,
    )


def takes_prompts(settings: Settings, usable: Iterable[ProviderEntry]) -> bool:
    """Tell whether an agent's prompt would be taken; ``usable`` are the providers that are to be had."""
    return settings.agent_sessions and any(map(settings.agents_may_start, usable))
