"""What a new session and its prompts are made of, checked before anything is stored."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from showcaller.actors.contract.calls import CreateSession, Send, UpdateSession
from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.contract.fanout.template import names_function
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.handshakes import Handshake
from showcaller.actors.contract.idempotency import fingerprint
from showcaller.actors.contract.provider_entries import ProviderCatalogue, ProviderEntry
from showcaller.actors.contract.provider_states import FindProgram, is_installed
from showcaller.actors.contract.repositories import may_clone_from, read_repository
from showcaller.actors.relay.ports import Ports

TITLE = 80  # characters of a first line that make a title
Settable = CreateSession | Send | UpdateSession
"""Calls that name settings of a session."""


class Elsewhere(NamedTuple):
    """The name of this relay, and the models of its other providers as far as they are known."""

    relay: str = ""
    models: Mapping[str, Collection[str]] = MappingProxyType({})


NOWHERE: Final = Elsewhere()


def check_provider(provider: str, nothing: str, known: ProviderCatalogue) -> ProviderEntry:
    """Give the entry of a provider; raises ``Refusal`` for one that this relay does not have."""
    entry = known.find(provider)
    if entry is not None:
        return entry
    names = [entry.provider for entry in known]
    listed = ", ".join(entry.written for entry in known)
    raise Refusal(
        Code.PROVIDER_UNAVAILABLE,
        f"This relay has no provider {quote_foreign(provider)}; it has: {listed}. {nothing}",
        providers=names,
    )


def check_installed(entry: ProviderEntry, nothing: str, find: FindProgram) -> None:
    """Refuse a provider whose program is not there, and say how to get it."""
    if not is_installed(entry, find):
        raise Refusal(
            Code.PROVIDER_UNAVAILABLE,
            f"{entry.provider} is not installed here: there is no program {entry.program}. "
            f"{entry.to_install or ''} {nothing}",
            provider=entry.provider,
        )


def check_work(provider: str, known: ProviderCatalogue, nothing: str, find: FindProgram) -> None:
    """Refuse what a provider is to run by its name where that can only fail: no function, no program.

    A path is left to the folder that the session works in.
    """
    work = provider.partition(":")[2]
    entry, agent = known.find(provider), known.agent_of(provider)
    if entry is None or not work:
        return
    if entry.kind == "callable" and not names_function(work):
        raise Refusal(
            Code.PROVIDER_UNAVAILABLE,
            f"{quote_foreign(provider)} names no function: write {entry.written}, as in "
            f"{entry.provider}:mymodule:work. {nothing}",
            provider=entry.provider,
        )
    if agent is not None and "/" not in agent.command[0] and find(agent.command[0]) is None:
        raise Refusal(
            Code.PROVIDER_UNAVAILABLE,
            f"There is no program {quote_foreign(agent.command[0])} on this relay's PATH: install it, or "
            f"give its whole path. {nothing}",
            provider=entry.provider,
        )


def check_continues(provider: str, known: ProviderCatalogue, nothing: str) -> None:
    """Refuse a provider whose agent continues no conversation, or only where it was: not in a fresh clone."""
    agent = known.agent_of(provider)
    if agent is not None and agent.takes == "repo":
        raise invalid(f"{provider} works on a fresh clone, and no conversation can go on there. {nothing}")
    if agent is None or not (agent.loads or agent.resumes):
        raise invalid(f"{provider} cannot continue a conversation that Showcaller has not run. {nothing}")


def check_settings(
    call: Settable,
    provider: str,
    entry: ProviderEntry | None,
    handshake: Handshake | None,
    elsewhere: Elsewhere = NOWHERE,
) -> list[str]:
    """Refuse what a provider has none of; gives notes on what has no effect, or could not be checked.

    ``handshake`` is what its agent has told of its models and efforts, if it has been asked; ``elsewhere``
    are the models of the other providers that the caller may use.
    """
    if entry is not None and entry.kind == "acp":
        return _check_agents_settings(call, provider, entry, handshake, elsewhere)
    if call.model is not None:
        raise Refusal(
            Code.UNKNOWN_MODEL,
            f"{provider} has no models{_on(elsewhere)}.{_who_has(call.model, elsewhere)} {call.nothing}",
            suggestions=[],
            models=[],
        )
    _check_place(call, provider, entry)
    named = [name for name in ("mode", "effort") if getattr(call, name) is not None]
    return [f"{' and '.join(named)} has no effect on {provider}."] if named else []


def _check_agents_settings(
    call: Settable, provider: str, entry: ProviderEntry, handshake: Handshake | None, elsewhere: Elsewhere
) -> list[str]:
    _check_place(call, provider, entry)
    models = () if handshake is None else handshake.models
    efforts = () if handshake is None else handshake.efforts
    if call.model is not None and models and call.model not in models:
        close = get_close_matches(call.model, models, 3)
        hint = f"; did you mean {close[0]!r}?" if close else ";"
        raise Refusal(
            Code.UNKNOWN_MODEL,
            f"Unknown model {quote_foreign(call.model)} for {entry.label}{_on(elsewhere)}{hint} "
            f"It has: {', '.join(models[:20])}.{_who_has(call.model, elsewhere)} {call.nothing}",
            suggestions=close,
            models=list(models[:100]),
        )
    if call.effort is not None and efforts and call.effort not in efforts:
        raise invalid(
            f"{entry.label} has no effort {quote_foreign(call.effort)}; it has: {', '.join(efforts)}. "
            f"{call.nothing}",
            efforts=list(efforts),
        )
    return [] if call.model is None or models else [unlisted_note(entry)]


def unlisted_note(entry: ProviderEntry) -> str:
    """Say that the models of a provider are not known, so that one that is named passes unchecked."""
    return f"{entry.label} has told no list of models yet, so the model was not checked."


def _on(elsewhere: Elsewhere) -> str:
    return f" on relay {quote_foreign(elsewhere.relay, 64)}" if elsewhere.relay else ""


def _who_has(model: str, elsewhere: Elsewhere) -> str:
    """Name the one other provider that lists a model; a session never changes to it because of that."""
    having = [provider for provider, models in elsewhere.models.items() if model in models]
    return f" {having[0]} has it: a session of that provider can run it." if len(having) == 1 else ""


def _check_place(
    call: CreateSession | Send | UpdateSession, provider: str, entry: ProviderEntry | None
) -> None:
    if not isinstance(call, CreateSession):
        return
    if entry is not None and entry.takes == "repo":
        if call.cwd is not None or call.repo is None:
            takes_no = "takes no cwd" if call.cwd is not None else "needs one"
            raise invalid(f"{provider} works on a fresh clone and {takes_no}: name its repo. {call.nothing}")
    elif call.repo is not None or call.branch is not None:
        raise invalid(f"{provider} works in a folder and takes no repo or branch. {call.nothing}")


def check_repository(call: CreateSession, hosts: Collection[str], find: FindProgram) -> str:
    """Give the address that git clones from; raises ``Refusal`` where that cannot or may not be."""
    assert call.repo is not None
    try:
        repository = read_repository(call.repo)
    except ValueError as error:
        raise invalid(f"repo: {error}. {call.nothing}") from error
    if not may_clone_from(repository, hosts):
        allowed = ", ".join(hosts) or "none"
        raise invalid(
            f"The owner of this relay does not allow clones from {repository.host}; allowed are: {allowed}. "
            f"The owner can: showcaller settings set clone_hosts {','.join([*hosts, repository.host])}. "
            f"{call.nothing}",
            hosts=list(hosts),
        )
    if find("git") is None:
        raise Refusal(
            Code.PROVIDER_UNAVAILABLE,
            f"There is no program git here, and {call.repo} is to be cloned: install git. {call.nothing}",
        )
    return repository.url


def working_folder(
    cwd: str | None, default: str, allowed: Sequence[str] = (), nothing: str = CreateSession.nothing
) -> str:
    """The folder to work in, with its links resolved; raises ``Refusal`` for one that cannot be had.

    It must be absolute, there, and in one of those that are ``allowed``, if any are named; the default is.
    ``nothing`` says what did not happen.
    """
    if cwd is None:
        return default
    path = Path(cwd)
    if not path.is_absolute():
        raise _no_folder(cwd, "must be absolute", nothing, default, *allowed)
    try:
        resolved = path.resolve(strict=True)
        is_folder = resolved.is_dir()
    except (OSError, RuntimeError) as error:  # resolve() tells of a loop of links with a RuntimeError
        why = getattr(error, "strerror", None) or "its links go round in a circle"
        raise _no_folder(cwd, f"cannot be used ({why})", nothing, default, *allowed) from error
    if not is_folder:
        raise _no_folder(cwd, "is no folder", nothing, default, *allowed)
    if allowed and not any(resolved.is_relative_to(root) for root in _roots([default, *allowed])):
        raise _no_folder(
            cwd, "is outside of those that the owner of this relay allows", nothing, default, *allowed
        )
    return str(resolved)


def _roots(folders: Sequence[str]) -> Iterator[Path]:
    """Give the folders themselves, where links lead; one whose links go round holds nothing."""
    for folder in folders:
        with suppress(OSError, RuntimeError):
            yield Path(folder).resolve()


def _no_folder(cwd: str, why: str, nothing: str, *folders: str) -> Refusal:
    return invalid(f"The folder {quote_foreign(cwd)} {why}. {nothing}", folders=list(folders))


def title_of(text: str, empty: str = "(no title)") -> str:
    """A session's title when nobody gave one: the first line that says something, else ``empty``."""
    return text.strip().split("\n", 1)[0].strip()[:TITLE] or empty


def via_of(agent: dict[str, Any], relay: str) -> str:
    """Say, as the JSON text that is stored with a prompt, which agent has sent it."""
    told = {name: agent[name] for name in ("title", "provider", "model")}
    return json.dumps({"relay": relay, "session": agent["id"], **told})


def message_row(
    call: CreateSession | Send,
    ports: Ports,
    client_id: str | None,
    *,
    agent: dict[str, Any] | None = None,
    hops: int = 0,
) -> dict[str, Any]:
    """A prompt as the store takes it; ``agent`` is the row of the sending agent's session, if any."""
    return {
        "id": ports.new_id("msg_"),
        "origin": "owner" if agent is None else "agent",
        "caller": None if agent is None else agent["id"],
        "via": None if agent is None else via_of(agent, ports.relay_name),
        "hops": hops,
        "text": call.text,
        "client_id": client_id,
        "fingerprint": None if client_id is None else fingerprint(call),
        "created_at": ports.clock.wall(),
        **_named(call),
    }


def _named(call: CreateSession | Send) -> dict[str, str]:
    """What a send names for its turn, which can then be no part of another; a new session has it itself."""
    if isinstance(call, CreateSession):
        return {}
    named = {"model": call.model, "mode": call.mode, "effort": call.effort}
    return {name: value for name, value in named.items() if value is not None}
