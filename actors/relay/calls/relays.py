"""``list_relays`` and ``relay_info``."""

import sys
from typing import Final

from showcaller.actors.contract import results
from showcaller.actors.contract.calls.relays import (
    GroupInfo,
    OwnName,
    ProviderInfo,
    RelayLimits,
    RelayRow,
    Workspaces,
)
from showcaller.actors.contract.handshakes import Handshake
from showcaller.actors.contract.limits import GROUPS_LISTED
from showcaller.actors.contract.provider_entries import ProviderEntry
from showcaller.actors.contract.provider_states import FindProgram, provider_state
from showcaller.actors.contract.settings import Settings
from showcaller.actors.contract.summaries import summary
from showcaller.actors.relay.calls.agents import takes_prompts
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.modes import STRICT_TO_LOOSE

PROTOCOL: Final = 1
"""What relays of this version speak with each other."""
RECENT_FOLDERS: Final = 10
"""Folders last worked in that ``relay_info`` names."""


SWITCHED_OFF: Final = (
    "Agent sessions are switched off on this relay, so there is none that agents can use. Its owner switches "
    "them on with: showcaller settings set agent_sessions on"
)


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
    if not relays:
        context.notes.append(SWITCHED_OFF)
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


async def relay_info(context: CallContext) -> results.RelayInfoResult:
    """Say what this relay offers."""
    ports = context.ports
    groups = await context.read("groups", limit=GROUPS_LISTED)
    total: int = groups["total"]
    shown = tuple(GroupInfo(**_group(row)) for row in groups["groups"])
    handshakes = ports.handshakes()
    providers = tuple(
        _provider(entry, context.settings, ports.find_program, handshakes.get(entry.provider))
        for entry in ports.providers
    )
    configured = {provider.provider for provider in providers if provider.configured}
    usable = [entry for entry in ports.providers if entry.provider in configured]
    return results.RelayInfoResult(
        relay=context.relay,
        summary=summary("relay_info", f"{len(providers)} providers, {total} groups", relay=context.relay),
        name=context.relay,
        version=ports.version,
        platform=sys.platform,
        protocol=PROTOCOL,
        accepts_agent_prompts=takes_prompts(context.settings, usable),
        providers=providers,
        workspaces=Workspaces(
            default=ports.default_folder,
            recent=tuple(await context.read("recent_folders", limit=RECENT_FOLDERS)),
        ),
        relay_modes=STRICT_TO_LOOSE,
        groups=shown,
        groups_total=total if total > len(shown) else None,
    )


def _provider(
    entry: ProviderEntry, settings: Settings, find: FindProgram, handshake: Handshake | None
) -> ProviderInfo:
    state = provider_state(entry, find, handshake)
    told = handshake if state == "ready" else None
    return ProviderInfo(
        provider=entry.provider,
        label=entry.label,
        configured=state != "missing",
        models=() if told is None else told.models,
        efforts=() if told is None else told.efforts,
        agents_may_start=settings.agents_may_start(entry),
        takes=entry.takes,
        steers=entry.steers,
        note=entry.note,
    )


def _group(row: Row) -> Row:
    return {"id": row["id"], "name": row["name"] or row["id"], "member_count": row["member_count"]}
