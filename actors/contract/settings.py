"""What the owner of a relay can set, with the defaults: checked when it is read, wherever it is kept."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from showcaller.actors.contract import limits
from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.foreign_text import quote_foreign
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


def check_setting(name: object, value: object) -> dict[str, Any]:
    """Give ``{name: value}`` if that may be set; ``{name: None}`` goes back to the default.

    Raises:
        Refusal: there is no such setting, and it lists those there are; or the value is none for it, and it
            says what is.

    """
    if not isinstance(name, str) or name not in Settings.model_fields:
        shown = quote_foreign(name, 64) if isinstance(name, str) else type(name).__name__
        names = ", ".join(Settings.model_fields)
        raise invalid(f"There is no setting {shown}; there are {names}. Nothing was set.")
    if value is None:
        return {name: None}
    try:
        return {name: getattr(Settings.model_validate({name: value}), name)}
    except ValidationError as error:
        (problem,) = error.errors(include_url=False)
        default = getattr(DEFAULTS, name)
        raise invalid(f"{name}: {problem['msg']} (the default is {default}). Nothing was set.") from error


def valid_settings(kept: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Sort what was kept, maybe by another version: what passes, and a sentence on each that does not."""
    valid: dict[str, Any] = {}
    problems: list[str] = []
    for name, value in kept.items():
        try:
            valid |= check_setting(name, value)
        except Refusal as refusal:
            problems.append(refusal.error.removesuffix(" Nothing was set."))
    return valid, problems
