"""Seeing whether an agent works, for the command that asks: in this process, and kept in the data folder."""

import asyncio
import os
import tempfile
from pathlib import Path

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.handshakes import Handshake
from showcaller.actors.runtime import SYSTEM_CLOCK
from showcaller.data_folder import DataFolder
from showcaller.transport.doors.providers_at_home import catalogue_at, forget_handshake, keep_handshake


def check_agent(home: Path, provider: str) -> Handshake:
    """Start a provider's agent, keep what it tells as the proof that it works, and give it.

    The agent runs in an empty folder of its own, and is gone afterwards. Raises ``Refusal``: there is no such
    agent, or it does not work, and what to do; what was kept of it is forgotten then. Raises
    ``RelayStartError`` for a data folder that cannot be used.
    """
    folder = DataFolder(home)
    agent = catalogue_at(folder.path).agent_of(provider)
    if agent is None:
        raise Refusal(
            Code.PROVIDER_UNAVAILABLE, f"There is no agent {provider[:64]!a}, or none that can be checked."
        )
    from showcaller.transport.worker.acp.checking import check_agent as check
    from showcaller.transport.worker.acp.handshake import StartError

    folder.make()
    with tempfile.TemporaryDirectory(prefix="showcaller-check-") as empty:
        try:
            handshake = asyncio.run(check(agent, empty, os.environ, SYSTEM_CLOCK.wall()))
        except StartError as error:
            forget_handshake(folder.path, provider)
            raise Refusal(Code.START_FAILED, f"{provider} does not work: {error}") from error
    keep_handshake(folder.path, provider, handshake)
    return handshake
