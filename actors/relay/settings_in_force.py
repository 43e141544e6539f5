"""The owner's settings as they are in force."""

import logging
from collections.abc import Mapping
from typing import Any

from showcaller.actors.contract.settings import DEFAULTS, UNSAFE, Settings, valid_settings

logger = logging.getLogger("showcaller.relay")


class SettingsInForce:
    """What a relay goes by: the values with which it was opened, else those kept in its store, else defaults.

    ``now`` is whole at any time and never changed in place, so that every thread may read it.
    """

    def __init__(self, opened_with: Settings = DEFAULTS) -> None:
        self._named = opened_with.values_set()
        self._kept: dict[str, Any] = {}
        self.now = opened_with

    def take_kept(self, kept: Mapping[str, Any]) -> None:
        """Go by what the store has, but for values that are none any more: the log names them."""
        self._kept, problems = valid_settings(kept)
        for problem in problems:
            logger.warning("A setting that was kept is ignored: %s", problem)
        self._settle()

    def change(self, name: str, value: Any) -> None:
        """Go by a checked value from now on, whatever the relay was opened with; None is the default."""
        self._named.pop(name, None)
        self._kept[name] = value
        before = self.now
        self._settle()
        if self.now.unsafe_no_cards and not before.unsafe_no_cards:
            logger.warning(UNSAFE)

    def _settle(self) -> None:
        kept = {name: value for name, value in self._kept.items() if value is not None}
        self.now = Settings.of_values(kept | self._named)
