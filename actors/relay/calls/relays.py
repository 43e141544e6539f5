"""``list_relays`` and ``relay_info``."""

from showcaller.actors.contract import results
from showcaller.actors.contract.calls.relays import OwnName, RelayLimits, RelayRow
from showcaller.actors.contract.summaries import summary
from showcaller.actors.relay.calls.context import CallContext


def list_relays(context: CallContext) -> results.ListRelaysResult:
    """Name the relays that the caller can work on: this one, where agents may use it."""
    settings = context.settings
    own = RelayRow(
        name=context.relay,
        own=True,
        online=True,
        version=context.ports.version,
        permission="full",
        unlocked=True,
    )
    relays = (own,) if settings.agent_sessions else ()
    return results.ListRelaysResult(
        relay=context.relay,
        summary=summary("list_relays", f"{_relays(len(relays))}, {len(relays)} unlocked"),
        own=OwnName(name=context.relay),
        relays=relays,
        limits=RelayLimits(
            max_wait_seconds=settings.longest_wait_minutes * 60,
            max_active_sessions=settings.max_active_sessions,
        ),
    )


def _relays(number: int) -> str:
    return "1 relay" if number == 1 else f"{number} relays"
