"""What an update would change of a session, checked as a whole before any card and before any change."""

from typing import Any, Final, NamedTuple

from showcaller.actors.contract import calls
from showcaller.actors.contract.arguments import NO_GROUP, is_group_id
from showcaller.actors.contract.errors import invalid
from showcaller.actors.contract.provider_entries import EXTERNAL, ProviderEntry
from showcaller.actors.contract.summaries import SHORT_ID
from showcaller.actors.relay import prompts
from showcaller.actors.relay.calls import agents, session_settings
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.targets import find_group, look_for_group
from showcaller.actors.relay.session_answers import is_working

_OF_THE_AGENT: Final = ("auto_compact_window", "thinking_enabled", "thinking_display")
"""Settings that are kept for agents which heed them; none that this version runs does."""


class Update(NamedTuple):
    """What would become different: ``changed`` are the arguments that say so, in their order.

    ``values`` are columns of the session. It joins the ``group``, or one that is made with the name
    ``new_group``; with neither it ``leaves`` its own, or stays where it is.
    """

    changed: tuple[str, ...]
    values: Row
    group: Row | None = None
    new_group: str | None = None
    leaves: bool = False


async def check_update(context: CallContext, call: calls.UpdateSession, row: Row) -> Update:
    """Say what an update would change; raises the ``Refusal`` of what is not to be had."""
    provider: str = row["provider"]
    entry = context.ports.providers.find(provider)
    if entry is not None:
        agents.check_may_start(context, call, entry)
    handshake = None if entry is None else session_settings.told_by(context, entry, row["id"])
    others = session_settings.elsewhere(context, call, entry)
    context.notes.extend(prompts.check_settings(call, provider, entry, handshake, others))
    wanted = _wanted(call)
    _check_switch(call, row)
    no_effect = [name for name in _OF_THE_AGENT if name in wanted]
    if no_effect:
        context.notes.append(f"{' and '.join(no_effect)} is kept and has no effect on {provider} yet.")
    group, new_group, leaves = await _place(context, call, row)
    if call.cwd is not None:
        wanted["cwd"] = _folder(context, call, call.cwd, row, entry)
    values = {name: value for name, value in wanted.items() if value != row[name]}
    if "cwd" in values and _is_at_work(row):
        raise is_working(row["id"], call.nothing)
    moves = group is not None or new_group is not None or leaves
    changed = tuple(
        name for name in calls.OwnersUpdate.one_of if name in values or (name == "group" and moves)
    )
    return Update(changed, values, group, new_group, leaves)


def _wanted(call: calls.UpdateSession) -> dict[str, Any]:
    """Give the columns that a call names, but for the folder; a window of ``auto`` is none of its own."""
    named = {name: getattr(call, name, None) for name in calls.OwnersUpdate.one_of}
    wanted = {
        name: value for name, value in named.items() if value is not None and name not in {"cwd", "group"}
    }
    if wanted.get("auto_compact_window") == "auto":
        wanted["auto_compact_window"] = None
    return wanted


def _check_switch(call: calls.UpdateSession, row: Row) -> None:
    names_it = isinstance(call, calls.OwnersUpdate) and call.may_create_sessions is not None
    if names_it and row["origin"] != "agent":
        raise invalid(
            f"Session {row['id'][SHORT_ID]} was not started by an agent, so its agent may start sessions "
            f"without that. {call.nothing}"
        )


async def _place(
    context: CallContext, call: calls.UpdateSession, row: Row
) -> tuple[Row | None, str | None, bool]:
    """Give the group that a session would join, or the name of the one to be made, or whether it leaves."""
    if call.group is None:
        return None, None, False
    if call.group.casefold() == NO_GROUP:
        return None, None, row["group"] is not None
    if is_group_id(call.group):
        found: Row | None = await find_group(context, call.group, call.nothing)
    else:
        found = await look_for_group(context, call.group, call.nothing)
    if found is None:
        return None, call.group, False
    return (None if found["id"] == row["group"] else found), None, False


def _folder(
    context: CallContext, call: calls.UpdateSession, cwd: str, row: Row, entry: ProviderEntry | None
) -> str:
    if row["repo"] is not None or (entry is not None and entry.takes == "repo"):
        raise invalid(f"Session {row['id'][SHORT_ID]} works on a clone of its own. {call.nothing}")
    if row["provider"] == EXTERNAL:
        raise invalid(
            f"Session {row['id'][SHORT_ID]} is a conversation of a client that this relay does not run, so "
            f"it has no folder. {call.nothing}"
        )
    settings = context.settings
    return prompts.working_folder(cwd, context.ports.default_folder, settings.allowed_folders, call.nothing)


def _is_at_work(row: Row) -> bool:
    return bool(row["running"] or row["queued"] or row["tasks"] or row.get("calls"))
