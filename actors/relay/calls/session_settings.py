"""With what a prompt runs: provider, model, mode, effort, group and folder, checked before it is stored."""

from typing import Literal, NamedTuple

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.handshakes import Handshake
from showcaller.actors.contract.provider_entries import EXTERNAL, ProviderEntry
from showcaller.actors.contract.summaries import SHORT_ID
from showcaller.actors.relay import prompts
from showcaller.actors.relay.calls import agents
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.modes import mode_of_prompt, mode_of_turn
from showcaller.actors.relay.calls.targets import find_group

DEFAULT_PROVIDER = "command"
DEFAULT_MODE = "agent"


class Start(NamedTuple):
    """With what a new session is started: in the folder ``cwd`` or on a clone of the address ``repo``.

    ``model`` is None for its agent's default; ``model_note`` says that it could not be checked. ``hops`` are
    those of its first prompt.
    """

    provider: str
    model: str | None
    model_note: str | None
    model_source: results.ModelSource
    mode: str
    effort: str | None
    cwd: str | None
    repo: str | None
    group: Row | None
    hops: int


class Sending(NamedTuple):
    """With what a prompt goes to a session.

    ``named`` are the settings that become others with it, and the mode that its caller passes on;
    ``may_join``: it may join a turn that runs.
    """

    named: dict[str, str]
    hops: int
    may_join: bool


async def check_start(context: CallContext, call: calls.CreateSession) -> Start:
    """Say with what a session would be started; raises the ``Refusal`` of what is not to be had.

    What an agent leaves out comes from its own session, as far as agents may have it here.
    """
    own = await context.own_row()
    provider, source = _provider(context, call, own)
    entry = prompts.check_provider(provider, call.nothing, context.ports.providers)
    agents.check_may_start(context, call, entry)
    prompts.check_installed(entry, call.nothing, context.ports.find_program)
    prompts.check_work(provider, context.ports.providers, call.nothing, context.ports.find_program)
    if context.resume is not None:
        prompts.check_continues(provider, context.ports.providers, call.nothing)
    handshake = told_by(context, entry)
    notes = prompts.check_settings(call, provider, entry, handshake, elsewhere(context, call, entry))
    model_note = prompts.unlisted_note(entry)
    context.notes.extend(note for note in notes if note != model_note)
    model = call.model or _inherited(own, "model", provider, handshake)
    if model is not None:
        source = "caller" if call.model is None else "requested"
    group = None if call.group is None else await find_group(context, call.group, call.nothing)
    cwd, repo = _place(context, call, entry)
    return Start(
        provider=provider,
        model=model,
        model_note=model_note if model_note in notes else None,
        model_source=source,
        mode=call.mode or (DEFAULT_MODE if own is None else mode_of_turn(own)),
        effort=call.effort or _inherited(own, "effort", provider, handshake),
        cwd=cwd,
        repo=repo,
        group=group,
        hops=await hops_of(context, own),
    )


def _inherited(
    own: Row | None, name: Literal["model", "effort"], provider: str, handshake: Handshake | None
) -> str | None:
    """Give what a new session takes over from its caller's, as far as its provider is known to offer it.

    A model is one of the caller's provider alone.
    """
    if own is None or (name == "model" and own["provider"] != provider):
        return None
    value: str | None = own[name]
    told = () if handshake is None else (handshake.models if name == "model" else handshake.efforts)
    return value if not told or value in told else None


def elsewhere(context: CallContext, call: prompts.Settable, entry: ProviderEntry | None) -> prompts.Elsewhere:
    """Give the models of the other providers that the caller may use, for a call that names a model."""
    if call.model is None:
        return prompts.NOWHERE
    told = context.ports.handshakes()
    is_owner, may_start = context.caller.agent is None, context.settings.agents_may_start
    others = {
        each.provider: told[each.provider].models
        for each in context.ports.providers
        if each is not entry and each.provider in told and (is_owner or may_start(each))
    }
    return prompts.Elsewhere(context.relay, others)


def _place(
    context: CallContext, call: calls.CreateSession, entry: ProviderEntry
) -> tuple[str | None, str | None]:
    """Give the folder of a new session, or the address of the repository that it works on a clone of."""
    settings = context.settings
    if entry.takes == "repo":
        return None, prompts.check_repository(call, settings.clone_hosts, context.ports.find_program)
    return prompts.working_folder(call.cwd, context.ports.default_folder, settings.allowed_folders), None


def _provider(
    context: CallContext, call: calls.CreateSession, own: Row | None
) -> tuple[str, results.ModelSource]:
    if call.provider is not None:
        return call.provider, "requested"
    callers: ProviderEntry | None = None if own is None else context.ports.providers.find(own["provider"])
    if own is not None and callers is not None and context.settings.agents_may_start(callers):
        return own["provider"], "caller"
    return DEFAULT_PROVIDER, "default"


async def check_send(context: CallContext, call: calls.Send, row: Row) -> Sending:
    """Say with what a prompt would go to a session; raises the ``Refusal`` of what that does not have."""
    provider: str = row["provider"]
    if call.provider is not None and call.provider != provider:
        raise Refusal(
            Code.PROVIDER_UNAVAILABLE,
            f"Session {row['id'][SHORT_ID]} runs {provider} and cannot change to "
            f"{quote_foreign(call.provider)}. {call.nothing}",
            providers=[provider],
        )
    entry = context.ports.providers.find(provider)
    if entry is not None:
        agents.check_may_start(context, call, entry)
    handshake = None if entry is None else told_by(context, entry, row["id"])
    notes = prompts.check_settings(call, provider, entry, handshake, elsewhere(context, call, entry))
    context.notes.extend(notes)
    own = await context.own_row()
    is_starter = row["created_by"] is not None and row["created_by"] == context.caller.agent
    mode = mode_of_prompt(
        call.mode, None if own is None else mode_of_turn(own), row["mode"], started_by_caller=is_starter
    )
    settings = {"mode": mode, "model": call.model, "effort": call.effort}
    named = {name: value for name, value in settings.items() if value is not None and value != row[name]}
    if own is not None:  # what waits before it, or its owner, may give the session another mode
        named["mode"] = mode
    return Sending(named, await hops_of(context, own), entry is not None and entry.steers)


def check_answer(context: CallContext, call: calls.AnswerQuestion, row: Row) -> None:
    """Refuse agents to answer where they may not prompt; raises ``Refusal``."""
    entry = context.ports.providers.find(row["provider"])
    if entry is not None:
        agents.check_may_start(context, call, entry)


def told_by(context: CallContext, entry: ProviderEntry, session: str | None = None) -> Handshake | None:
    """Give what an agent has told that it offers: in this session, if its process is there, else lately."""
    if entry.kind != "acp":
        return None
    here = None if session is None else context.ports.agents.find(session)
    if here is not None and here.models:
        return Handshake(command=(), models=here.models, efforts=here.efforts, at=0)
    return context.ports.handshakes().get(entry.provider)


async def hops_of(context: CallContext, own: Row | None) -> int:
    """Give the hops that a prompt carries: the most of any message of the turn from which it is sent.

    Nobody knows which message made an external conversation's client call, so there it is any that it had.
    """
    if own is not None and own["provider"] == EXTERNAL:
        hops: int = await context.read("most_hops", session=own["id"])
        return hops
    handed = [] if own is None else [row["hops"] for row in own["unfinished"] if row["status"] == "handed"]
    return max(handed, default=0)
