"""What there is to know of each setting: what it is for, what it takes, and its default."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from showcaller.actors.contract.provider_catalogue import known_providers
from showcaller.actors.contract.provider_entries import ProviderEntry
from showcaller.actors.contract.settings import Settings, Value, setting_schemas


class SettingFacts(NamedTuple):
    """One setting; ``lowest`` and ``highest`` are None for what is no number."""

    name: str
    default: Value
    description: str
    lowest: int | None = None
    highest: int | None = None

    @property
    def type(self) -> str:
        """``switch``, ``number`` or ``list``."""
        if isinstance(self.default, tuple):
            return "list"
        return "switch" if isinstance(self.default, bool) else "number"

    @property
    def takes(self) -> str:
        """What a person may give, in words."""
        if self.type == "list":
            return "a list"
        return "on or off" if self.lowest is None else f"{self.lowest:,} to {self.highest:,}"

    def told(self) -> dict[str, Any]:
        """Give the facts as a program reads them."""
        of_switch = {"name": self.name, "default": self.default, "type": self.type}
        ends = {} if self.lowest is None else {"minimum": self.lowest, "maximum": self.highest}
        return of_switch | ends | {"description": self.description}


def setting_facts(entries: Iterable[ProviderEntry] | None = None) -> list[SettingFacts]:
    """Give the facts of every setting, those of these providers' switches too, in order.

    Without ``entries`` they are those that are always there.
    """
    entries = tuple(known_providers() if entries is None else entries)
    defaults = Settings().values(entries)
    return [
        SettingFacts(
            name, defaults[name], schema["description"], schema.get("minimum"), schema.get("maximum")
        )
        for name, schema in setting_schemas(entries).items()
    ]
