"""What the HTTP door serves: a relay with what is known of it, and a way to end it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from showcaller.actors.relay.directory import Directory
from showcaller.actors.relay.messages import Identity
from showcaller.actors.runtime import BaseDispatcher
from showcaller.transport.doors.http.callers import Callers
from showcaller.transport.doors.http.metrics import Gauges, Metrics
from showcaller.transport.doors.http.sign_in_routes import SignInRoutes
from showcaller.transport.doors.http.status_answer import StatusAnswer
from showcaller.transport.doors.http.whereabouts import Whereabouts
from showcaller.transport.doors.local import LocalDoor


@dataclass(frozen=True)
class Served:
    """A running relay.

    ``started_at`` is in milliseconds since the epoch; ``stop`` begins an orderly end and may be called
    again, its argument says whether the workers end too; ``workers`` tells which worker processes are there;
    ``back_up`` copies the store into a file, which it may replace, and blocks; ``callers`` knows who holds
    which token; ``sign_in`` are the paths by which browsers sign in.
    """

    door: LocalDoor
    dispatcher: BaseDispatcher
    directory: Directory
    identity: Identity
    whereabouts: Whereabouts
    started_at: int
    stop: Callable[[bool], None]
    workers: Callable[[], list[dict[str, Any]]]
    back_up: Callable[[Path, bool], Path]
    callers: Callers
    sign_in: SignInRoutes
    metrics: Metrics = field(default_factory=Metrics)

    async def gauges(self, fanouts: int) -> Gauges:
        """Give what is the case now; raises ``Refusal``."""
        counts = await self.door.counts()
        return Gauges(len(self.directory), counts["handed"], counts["queued"], counts["tasks"], fanouts)

    def status(self, gauges: Gauges, fanouts: list[dict[str, Any]]) -> dict[str, Any]:
        """Give what ``GET /api/status`` answers."""
        return StatusAnswer.model_validate(
            {
                "relay": {"id": self.identity.id, "name": self.identity.name},
                "version": self.whereabouts.version,
                "pid": self.whereabouts.pid,
                "address": self.whereabouts.address,
                "default_folder": self.door.default_folder,
                "started_at": self.started_at,
                "sessions_awake": gauges.sessions_awake,
                "turns": {"running": gauges.turns_running, "queued": gauges.turns_queued},
                "tasks": {"running": gauges.tasks_running},
                "fanouts": tuple(fanouts),
                "workers": tuple(self.workers()),
                "unsafe_no_cards": self.door.settings().unsafe_no_cards,
            }
        ).model_dump(mode="json", by_alias=True)
