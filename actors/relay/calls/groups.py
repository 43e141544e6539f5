"""Groups as their owner lists and changes them."""

from typing import Any

from showcaller.actors.contract.groups import (
    DissolveGroup,
    GroupChange,
    GroupItem,
    GroupResult,
    Groups,
    GroupsResult,
    NewGroup,
    OrderGroups,
    OrderResult,
    RenameGroup,
)
from showcaller.actors.contract.results import CallResult
from showcaller.actors.contract.summaries import counted, quoted, summary
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.targets import find_group
from showcaller.actors.relay.group_keeper import ChangeGroups


async def groups(context: CallContext, asked: Groups) -> GroupsResult:
    """List the groups there are."""
    found = await context.read("groups_listed", limit=asked.limit)
    rows: list[Row] = found["groups"]
    return GroupsResult(
        relay=context.relay,
        summary=summary("groups", counted(found["total"], "group")),
        groups=tuple(map(_item, rows)),
        groups_total=found["total"],
    )


def _item(row: Row) -> GroupItem:
    return GroupItem(
        id=row["id"],
        name=row["name"],
        made_by=row["origin"],
        head=row["head"],
        member_count=row["member_count"],
        at_work=row["at_work"],
        waiting=row["waiting"],
        last_activity_at=row["last_activity_at"],
    )


async def change(context: CallContext, call: GroupChange) -> CallResult:
    """Carry a change out; raises ``Refusal`` for a group that is not there."""
    match call:
        case NewGroup(title=title):
            group = context.ports.new_id("grp_")
            await _stored(context, call, "create_group", group=group, name=title, origin="owner")
            await _note_namesakes(context, group, title)
            return _result(context, call, f"{quoted(title)} ({group})", group, title)
        case RenameGroup(title=title):
            found = await find_group(context, call.group, call.nothing)
            await _stored(context, call, "rename_group", group=found["id"], name=title)
            await _note_namesakes(context, found["id"], title)
            return _result(context, call, f"{found['id']} is {quoted(title)} now", found["id"], title)
        case DissolveGroup():
            found = await find_group(context, call.group, call.nothing)
            stored = await _stored(context, call, "dissolve_group", group=found["id"])
            left: int = stored["sessions"]
            told = f"{found['id']}; {counted(left, 'session')} left it"
            return _result(context, call, told, found["id"], found["name"], left)
        case OrderGroups():
            named = [(await find_group(context, group, call.nothing))["id"] for group in call.groups]
            order = tuple(dict.fromkeys(named))
            await _stored(context, call, "order_groups", groups=list(order))
            told = f"{counted(len(order), 'group')} first"
            return OrderResult(relay=context.relay, summary=summary(call.action, told), groups=order)


async def _note_namesakes(context: CallContext, group: str, name: str) -> None:
    """Say which other groups are called so: by that name none of them is meant any more."""
    called: list[Row] = await context.read("find_group", name=name)
    others = [one["id"] for one in called if one["id"] != group]
    if others:
        context.notes.append(
            f"{', '.join(others)} has that name too, so from now on each is named by its id."
        )


async def _stored(context: CallContext, call: GroupChange, command: str, /, **arguments: Any) -> Any:
    return await context.ask(ChangeGroups(command, arguments, call.nothing))


def _result(
    context: CallContext, call: GroupChange, told: str, group: str, name: str | None, left: int | None = None
) -> GroupResult:
    said = summary(call.action, told, relay=context.relay)
    return GroupResult(relay=context.relay, summary=said, group=group, name=name, sessions=left)
