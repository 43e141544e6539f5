"""The link of a relay that has no workers, because it was opened for reading only."""

from collections.abc import Callable, Sequence
from typing import Any


class NoWorkers:
    """A worker port with nobody behind it."""

    def connect(self, deliver: Callable[[Sequence[Any]], None]) -> None:
        """Take note of nobody: nothing will be delivered."""

    def send(self, messages: Sequence[Any]) -> None:
        """Refuse: a relay without workers hands nothing over, so this is a mistake of ours."""
        raise RuntimeError(f"{len(messages)} messages for workers in a relay that has none")

    def close(self) -> None:
        """Nothing to close."""
