"""A fan-out's items in work, and the results that they come to."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.fanout import (
    FanoutSpec,
    ItemResult,
    ItemStatus,
    Template,
    check_item,
    compact_json,
    render,
)
from showcaller.actors.contract.json_text import check_value
from showcaller.actors.relay.prompts import title_of


@dataclass(slots=True)
class Attempt:
    """An item in work: which attempt this is, and the session and message that carry it."""

    number: int
    item: Any
    attempts: int
    session: str | None = None
    message: str | None = None
    counted: bool = False
    losses: int = 0

    @classmethod
    def of(cls, row: dict[str, Any]) -> "Attempt":
        """Take an item's row up where it stands."""
        return cls(row["number"], json.loads(row["item"]), row["attempts"], row["session"], row["message"])

    @property
    def text(self) -> str:
        """The item as text: itself, or its compact JSON."""
        return item_text(self.item)

    @property
    def title(self) -> str:
        """What the item's session is called: its first line, up to 80 characters."""
        return title_of(self.text, "(empty item)")

    def result(
        self,
        status: ItemStatus,
        exit_code: int | None = None,
        reply: str | None = None,
        seconds: float | None = None,
        error: str | None = None,
    ) -> ItemResult:
        """The line that reports this item; one that is skipped never started, so it has no session."""
        if status == "skipped":
            return ItemResult(item=self.item, number=self.number, status=status)
        return ItemResult(
            item=self.item,
            number=self.number,
            session=self.session,
            status=status,
            exit_code=exit_code,
            reply=reply or "",
            seconds=round(seconds or 0.0, 3),
            attempts=self.attempts,
            error=error,
        )


def item_text(item: Any) -> str:
    """An item as text: itself, or its compact JSON."""
    return item if isinstance(item, str) else compact_json(item)


def check_items(spec: FanoutSpec, items: Sequence[Any]) -> None:
    """Refuse the items that no prompt can be made of, before anything is stored; the text names the first.

    Raises ``Refusal`` for a value that is no JSON, a text that cannot be carried, and a command that would be
    longer than a program takes.
    """
    template = spec.parsed()
    for number, item in enumerate(items, start=1):
        try:
            check_value(item)
            check_item(item_text(item), number)
            prompt_text(spec, template, item, number)
        except Refusal as refusal:
            raise invalid(f"{refusal.error} Nothing was started.", item_number=number) from refusal


def prompt_text(spec: FanoutSpec, template: Template, item: Any, number: int) -> str:
    """The text of an item's prompt: the rendered template, or for a callable the item's own text."""
    text = item_text(item)
    return text if spec.kind == "callable" else render(template, text, number)


def provider_of(spec: FanoutSpec) -> str:
    """The provider that runs the items' turns."""
    return f"callable:{spec.template}" if spec.kind == "callable" else spec.provider


def recorded_result(row: dict[str, Any]) -> ItemResult:
    """The line of an item whose result is in the store."""
    return Attempt.of(row).result(row["status"], row["exit_code"], row["reply"], row["seconds"], row["error"])


def result_so_far(row: dict[str, Any]) -> ItemResult:
    """The line of an item as the store has it, also of one that has no recorded end."""
    if row["status"] is not None:
        return recorded_result(row)
    return Attempt.of(row).result("skipped" if row["message"] is None else "interrupted")
