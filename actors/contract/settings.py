"""What the owner of a relay can set, with the defaults: checked when it is read, wherever it is kept."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from showcaller.actors.contract import limits
from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.limits import Setting
from showcaller.actors.contract.problems import problem
from showcaller.actors.contract.provider_catalogue import known_providers
from showcaller.actors.contract.provider_entries import ProviderEntry

NOTHING_SET: Final = "Nothing was set."
_OF_PROVIDER: Final = re.compile(r"providers\.([^.]+)\.agents_may_start")
_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[0-9]{1,5})?", re.ASCII)
MOST_IN_LIST: Final = 100


SWITCH_SAYS: Final = "Agents may start and prompt sessions of this provider."


def _of(setting: Setting, description: str) -> Any:
    return Field(
        default=setting.default, ge=setting.lowest, le=setting.highest, description=f"{description}."
    )


def _host(text: str) -> str:
    host = text.strip().lower()
    if not _HOST.fullmatch(host):
        raise ValueError(f"{quote_foreign(text, 80)} is no name of a host, such as github.com or host:8443")
    return host


def _folder(text: str) -> str:
    if not text.startswith("/") or "\0" in text or ".." in text.split("/"):
        raise ValueError(f"{quote_foreign(text, 80)} is no absolute folder")
    return text.rstrip("/") or "/"


Value = bool | int | tuple[str, ...]
"""What a setting can be: a switch, a number, or a list of texts."""
Host = Annotated[str, AfterValidator(_host)]
Folder = Annotated[str, AfterValidator(_folder), Field(max_length=1000)]


def _list_of(description: str) -> Any:
    return Field(default=(), max_length=MOST_IN_LIST, strict=False, description=f"{description}.")


class ProviderSwitches(BaseModel):
    """What the owner has set about a provider; None leaves it at what the catalogue says."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    agents_may_start: bool | None = None


class Settings(BaseModel):
    """The settings of one relay; what each is for stands beside it.

    ``providers`` holds the switches of each provider by its name; one of them is set as
    ``providers.NAME.agents_may_start``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    agent_sessions: bool = Field(
        default=False, description="Agents of this relay may use other sessions at all."
    )
    unsafe_no_cards: bool = Field(
        default=False, description="What needs your consent goes through without it: unsafe, for trials only."
    )
    max_active_sessions: int = _of(
        limits.ACTIVE_SESSIONS, "How many sessions that one conversation's agent started may be at work"
    )
    max_turn_minutes: int = _of(limits.TURN_MINUTES, "Minutes that one turn may take; 0 is no limit")
    longest_wait_minutes: int = _of(
        limits.LONGEST_WAIT_MINUTES, "Minutes that one call of the tool waits at most"
    )
    quiet_after_minutes: int = _of(
        limits.QUIET_AFTER_MINUTES, "Minutes without output after which a background task is marked as quiet"
    )
    wakeups_per_hour: int = _of(
        limits.WAKEUPS_PER_HOUR,
        "Wake-ups of one watching session an hour, then a digest; 0 is no cap",
    )
    coalesce_seconds: int = _of(limits.COALESCE_SECONDS, "Seconds within which events belong in one wake-up")
    log_days: int = _of(limits.LOG_DAYS, "Days for which the log of events is kept")
    log_events: int = _of(limits.LOG_EVENTS, "How many events the log keeps")
    clone_hosts: tuple[Host, ...] = _list_of(
        "Hosts from which a repository may be cloned for a session; none allows no clone"
    )
    allowed_folders: tuple[Folder, ...] = _list_of(
        "Folders for sessions and for files that agents ask for; with none, any and their own"
    )
    providers: Mapping[str, ProviderSwitches] = Field(default_factory=dict)

    def agents_may_start(self, entry: ProviderEntry) -> bool:
        """Tell whether agents may start and prompt sessions of a provider."""
        switches = self.providers.get(entry.provider)
        own = None if switches is None else switches.agents_may_start
        return entry.agents_may_start if own is None else own

    def values(self, entries: Iterable[ProviderEntry] | None = None) -> dict[str, Any]:
        """Give the value of each setting by its name, with the switches of the providers ``entries``.

        Without these they are the providers that are always there.
        """
        plain = {name: getattr(self, name) for name in PLAIN}
        those = known_providers() if entries is None else entries
        return plain | {switch_name(entry.provider): self.agents_may_start(entry) for entry in those}

    def values_set(self) -> dict[str, Any]:
        """Give the values that were named when this was made, by the names of the settings."""
        plain = {name: getattr(self, name) for name in PLAIN if name in self.model_fields_set}
        switches = {switch_name(name): own.agents_may_start for name, own in self.providers.items()}
        return plain | {name: value for name, value in switches.items() if value is not None}

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> "Settings":
        """Make settings of values by the names of the settings, each checked before."""
        named: dict[str, Any] = {name: value for name, value in values.items() if name in PLAIN}
        switches = {
            found[1]: ProviderSwitches(agents_may_start=value)
            for name, value in values.items()
            if (found := _OF_PROVIDER.fullmatch(name))
        }
        if switches:
            named["providers"] = switches
        return cls(**named)


PLAIN: Final = tuple(name for name in Settings.model_fields if name != "providers")
"""The names of the settings that are one value."""


def switch_name(provider: str) -> str:
    """Give the name of the setting that says whether agents may start a provider."""
    return f"providers.{provider}.agents_may_start"


def setting_schemas(entries: Iterable[ProviderEntry] | None = None) -> Mapping[str, Mapping[str, Any]]:
    """Give what each setting takes, as a JSON schema by its name; ``entries`` as for ``Settings.values``."""
    properties = Settings.model_json_schema()["properties"]
    switch = {"type": "boolean", "description": SWITCH_SAYS}
    those = known_providers() if entries is None else entries
    switches = {switch_name(entry.provider): switch for entry in those}
    return MappingProxyType({name: properties[name] for name in PLAIN} | switches)


UNSAFE: Final = (
    "UNSAFE: unsafe_no_cards is on, so what agents do goes through without the owner's consent, and nobody "
    "is asked"
)
"""What is said wherever that is switched on, and wherever somebody looks how a relay does."""

DEFAULTS: Final = Settings()
"""What a relay whose owner has set nothing goes by."""


def check_setting(
    name: object, value: object, entries: Iterable[ProviderEntry] | None = None
) -> dict[str, Any]:
    """Give ``{name: value}`` if that may be set; ``{name: None}`` goes back to the default.

    ``entries`` are the providers that there are, as for ``Settings.values``.

    Raises:
        Refusal: there is no such setting, and it lists those there are; or the value is none for it, and it
            says what is.

    """
    known = check_setting_name(name, entries)
    return _checked(known, value)


def _checked(known: str, value: object) -> dict[str, Any]:
    if value is None:
        return {known: None}
    switch = _OF_PROVIDER.fullmatch(known)
    try:
        if switch is not None:
            return {known: ProviderSwitches.model_validate({"agents_may_start": value}).agents_may_start}
        return {known: getattr(Settings.model_validate({known: value}), known)}
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        default = DEFAULTS.values().get(known)
        told = "" if default is None else f" (the default is {'none' if default == () else default})"
        raise invalid(f"{known} {problem(detail)}{told}. {NOTHING_SET}") from error


def check_setting_name(
    name: object, entries: Iterable[ProviderEntry] | None = None, nothing: str = NOTHING_SET
) -> str:
    """Give the name back if there is such a setting.

    Raises ``Refusal``, which lists those there are and says with ``nothing`` what did not happen.
    """
    names = list(DEFAULTS.values(entries))
    if isinstance(name, str) and name in names:
        return name
    shown = quote_foreign(name, 64) if isinstance(name, str) else type(name).__name__
    error = f"There is no setting {shown}; there are {', '.join(names)}. {nothing}"
    raise invalid(error.strip(), settings=names)


def valid_settings(kept: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Sort what was kept, maybe by another version: what passes, and a sentence on each that does not.

    The switch of a provider that is not there passes: its owner may have it back.
    """
    valid: dict[str, Any] = {}
    problems: list[str] = []
    for name, value in kept.items():
        try:
            is_switch = _OF_PROVIDER.fullmatch(name) is not None
            valid |= _checked(name, value) if is_switch else check_setting(name, value)
        except Refusal as refusal:
            problems.append(refusal.error.removesuffix(f" {NOTHING_SET}"))
    return valid, problems
