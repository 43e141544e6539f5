"""What the owner of a relay can set, with the defaults: checked when it is read, wherever it is kept."""

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from showcaller.actors.contract import limits
from showcaller.actors.contract.limits import Setting


def _of(setting: Setting) -> Any:
    return Field(default=setting.default, ge=setting.lowest, le=setting.highest)


class Settings(BaseModel):
    """The settings of one relay.

    ``agent_sessions``: agents of this relay may use other sessions at all. ``unsafe_no_cards``: what needs
    the owner's consent goes through without being asked for. The others are the limits of their names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    agent_sessions: bool = False
    unsafe_no_cards: bool = False
    max_active_sessions: int = _of(limits.ACTIVE_SESSIONS)
    max_turn_minutes: int = _of(limits.TURN_MINUTES)
    longest_wait_minutes: int = _of(limits.LONGEST_WAIT_MINUTES)
    quiet_after_minutes: int = _of(limits.QUIET_AFTER_MINUTES)
    wakeups_per_hour: int = _of(limits.WAKEUPS_PER_HOUR)
    coalesce_seconds: int = _of(limits.COALESCE_SECONDS)
    log_days: int = _of(limits.LOG_DAYS)
    log_events: int = _of(limits.LOG_EVENTS)


DEFAULTS: Final = Settings()
"""What a relay whose owner has set nothing goes by."""
