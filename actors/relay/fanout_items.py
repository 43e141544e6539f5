"""A fan-out's items in work, and the results that they come to."""

import json
from dataclasses import dataclass
from typing import Any

from showcaller.actors.contract.fanout import ItemResult, ItemStatus, compact_json

TITLE = 80  # characters of an item that make its session's title


@dataclass(slots=True)
class Attempt:
    """An item in work: which attempt this is, and the session and message that carry it."""

    number: int
    item: Any
    attempts: int
    session: str | None = None
    message: str | None = None

    @classmethod
    def of(cls, row: dict[str, Any]) -> "Attempt":
        """Take an item's row up where it stands."""
        return cls(row["number"], json.loads(row["item"]), row["attempts"], row["session"], row["message"])

    @property
    def text(self) -> str:
        """The item as text: itself, or its compact JSON."""
        return self.item if isinstance(self.item, str) else compact_json(self.item)

    @property
    def title(self) -> str:
        """What the item's session is called: its first line, up to 80 characters."""
        return self.text.strip().split("\n", 1)[0].strip()[:TITLE] or "(empty item)"

    def result(
        self,
        status: ItemStatus,
        exit_code: int | None = None,
        reply: str | None = None,
        seconds: float | None = None,
    ) -> ItemResult:
        """The line that reports this item."""
        return ItemResult(
            item=self.item,
            session=self.session,
            status=status,
            exit_code=exit_code,
            reply=reply or "",
            seconds=seconds or 0.0,
            attempts=self.attempts,
        )


def recorded_result(row: dict[str, Any]) -> ItemResult:
    """The line of an item whose result is in the store."""
    return Attempt.of(row).result(row["status"], row["exit_code"], row["reply"], row["seconds"])
