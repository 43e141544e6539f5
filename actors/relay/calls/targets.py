"""What a caller's words name: a relay, a session, a group."""

from showcaller.actors.contract.errors import Code, Refusal, ambiguity, ambiguous
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.ids import session_start
from showcaller.actors.contract.limits import GROUPS_SUGGESTED
from showcaller.actors.contract.summaries import SHORT_ID
from showcaller.actors.relay.calls.context import CallContext, Row


def check_relay(relay: str, name: str) -> None:
    """Refuse a relay that is not this one, whose name is ``name``."""
    if relay.lower() not in {"this", name.lower()} and relay.removeprefix("@").lower() != name.lower():
        raise Refusal(
            Code.UNKNOWN, f"There is no relay {quote_foreign(relay)}; this one is {name!r}.", relays=[name]
        )


async def find_session(context: CallContext, name: str) -> str:
    """Give the one session that a caller's text names."""
    start = session_start(name)
    found: list[str] = [] if start is None else await context.read("find_session", prefix=start)
    if not found:
        raise Refusal(Code.NOT_FOUND, f"There is no session {quote_foreign(name)}.", missing=[name])
    if len(found) > 1:
        error = ambiguity(quote_foreign(name), "sessions", meant=found)
        raise ambiguous(Code.INVALID_INPUT, error, sessions=found)
    return found[0]


def refuse_deleted(row: Row) -> None:
    """Refuse a session that is not there any more; only what became of its prompts can still be asked."""
    if row["deleted_at"] is not None:
        raise Refusal(Code.NOT_FOUND, f"Session {row['id'][SHORT_ID]} was deleted.", missing=[row["id"]])


def refuse_archived(row: Row, nothing: str) -> None:
    """Refuse to write to a session that was put away; ``nothing`` says what did not happen."""
    if row["archived_at"] is not None:
        raise Refusal(
            Code.NOT_FOUND,
            f"Session {row['id'][SHORT_ID]} is archived: it can be read, not written to. {nothing}",
            missing=[row["id"]],
        )


async def find_group(context: CallContext, name: str, nothing: str) -> Row:
    """Give the one group that a caller's text names; ``nothing`` says in a refusal what did not happen."""
    found = await look_for_group(context, name, nothing)
    if found is not None:
        return found
    there = await context.read("groups_listed", limit=GROUPS_SUGGESTED)
    raise Refusal(
        Code.UNKNOWN_GROUP,
        f"There is no group {quote_foreign(name)}. {nothing}",
        groups=_suggested(there["groups"]),
        groups_total=there["total"],
    )


async def look_for_group(context: CallContext, name: str, nothing: str) -> Row | None:
    """Give the one group that a text names, None when there is none; raises ``Refusal`` for several."""
    found: list[Row] = await context.read("find_group", name=name)
    if len(found) > 1:
        meant = ambiguity(quote_foreign(name), "groups", meant=[one["id"] for one in found])
        groups = _suggested(found)
        raise ambiguous(Code.UNKNOWN_GROUP, f"{meant} {nothing}", groups=groups, groups_total=len(found))
    return found[0] if found else None


def _suggested(groups: list[Row]) -> list[dict[str, str | None]]:
    return [{"id": one["id"], "name": one["name"]} for one in groups[:GROUPS_SUGGESTED]]
