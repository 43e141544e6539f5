"""What the HTTP door serves: a relay with what is known of it, and a way to end it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from showcaller.actors.contract.times import time_text
from showcaller.actors.relay.directory import Directory
from showcaller.actors.relay.messages import Identity
from showcaller.actors.runtime import BaseDispatcher
from showcaller.transport.doors.http.metrics import Gauges, Metrics
from showcaller.transport.doors.http.whereabouts import Whereabouts
from showcaller.transport.doors.local import LocalDoor


@dataclass(frozen=True)
class Served:
    """A running relay.

    ``started_at`` is in milliseconds since the epoch; ``stop`` begins an orderly end and may be called
    again, its argument says whether the workers end too; ``workers`` tells which worker processes are there.
    """

    door: LocalDoor
    dispatcher: BaseDispatcher
    directory: Directory
    identity: Identity
    whereabouts: Whereabouts
    started_at: int
    stop: Callable[[bool], None]
    workers: Callable[[], list[dict[str, Any]]]
    metrics: Metrics = field(default_factory=Metrics)

    async def gauges(self, fanouts: int) -> Gauges:
        """Give what is the case now; raises ``Refusal``."""
        counts = await self.door.counts()
        return Gauges(len(self.directory), counts["handed"], counts["queued"], fanouts)

    def status(self, gauges: Gauges, fanouts: list[dict[str, Any]]) -> dict[str, Any]:
        """Give what ``GET /api/status`` answers."""
        return {
            "ok": True,
            "relay": {"id": self.identity.id, "name": self.identity.name},
            "version": self.whereabouts.version,
            "pid": self.whereabouts.pid,
            "address": self.whereabouts.address,
            "startedAt": time_text(self.started_at),
            "sessionsAwake": gauges.sessions_awake,
            "turns": {"running": gauges.turns_running, "queued": gauges.turns_queued},
            "fanouts": fanouts,
            "workers": self.workers(),
        }
