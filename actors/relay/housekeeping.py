"""Deleting what is kept for a time only: events, what callers named their writes, the output of tasks."""

import logging
from typing import Any, Final, NamedTuple

from showcaller.actors.contract import limits
from showcaller.actors.contract.settings import Settings
from showcaller.actors.relay.answers import written
from showcaller.actors.relay.ports import Ports
from showcaller.actors.runtime import Actor, ActorRef

logger = logging.getLogger("showcaller.relay")

FIRST_SECONDS: Final = 60.0
"""Seconds after the relay's start until it tidies up, so that its start is not held up."""
EVERY_SECONDS: Final = 3600.0

_MINUTE: Final = 60_000
_DAY: Final = 24 * 60 * _MINUTE


class Tidy(NamedTuple):
    """To the housekeeper: delete what is too old by now."""


class Housekeeper(Actor):
    """Tidies up soon after the start and every hour, a bounded piece of the store at a time."""

    registered = False

    def __init__(self, ports: Ports, writer: ActorRef[Any]) -> None:
        super().__init__()
        self._ports = ports
        self._writer = writer

    def on_start(self) -> None:
        """Begin with the first round."""
        self.actor_ref.tell_after(FIRST_SECONDS, Tidy())

    async def on_receive(self, message: Any) -> None:
        """Delete what is too old, and come again in an hour; what fails is tried again then."""
        for command, arguments in old_by(self._ports.clock.wall(), self._ports.settings):
            while True:
                answer = await written(self._writer, command, **arguments)
                if answer.error is not None:
                    logger.warning("Tidying up was not stored (%s): %s", command, answer.detail)
                    break
                if not answer.value["more"]:
                    break
        self.actor_ref.tell_after(EVERY_SECONDS, Tidy())


def old_by(now: int, settings: Settings) -> list[tuple[str, dict[str, int]]]:
    """Give the commands that delete what is too old at ``now`` (milliseconds since the epoch)."""
    return [
        ("prune_events", {"before": now - settings.log_days * _DAY, "keep": settings.log_events}),
        ("prune_client_ids", {"before": now - limits.IDEMPOTENCY_DAYS * _DAY}),
        ("prune_tasks", {"before": now - limits.TASK_OUTPUT_MINUTES * _MINUTE}),
        ("prune_subscriptions", {"before": now - limits.ENDED_LISTED_MINUTES * _MINUTE}),
        ("prune_deliveries", {"before": now - settings.log_days * _DAY}),
    ]
