"""What a fan-out reports: one line for each item, then the summary."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from showcaller.actors.contract.fanout.items import compact_json
from showcaller.actors.contract.field_names import result_name

ItemStatus = Literal["done", "failed", "stopped", "interrupted", "skipped"]

KEPT: Final = 1_048_576
"""Bytes that are kept of a command's output, and characters of what a function returns; both ends count."""

_GAP = re.compile(r"\n\[… [0-9,]+ (?:bytes|characters) left out …\]\n")


class _Line(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=result_name,
        validate_by_name=True,
        validate_by_alias=True,
        allow_inf_nan=False,
    )


class ItemResult(_Line):
    """The one recorded end of one item.

    ``item`` is the JSON value and ``number`` its place from 1, 0 when nobody said; ``session`` is None and
    ``attempts`` 0 for an item that never started (``skipped``); ``exit_code`` is a command's; ``seconds`` is
    the running time of the last attempt; ``error`` says to people why it did not end as done.

    The line of JSON has no ``number``, has ``error`` only when there is one and the item is not done, and
    ``truncated`` only when that is true.
    """

    item: JsonValue
    number: int = Field(default=0, ge=0, exclude=True)
    session: str | None = None
    status: ItemStatus
    exit_code: int | None = None
    reply: str = ""
    seconds: float = Field(default=0.0, ge=0)
    attempts: int = Field(default=0, ge=0)
    error: str | None = None

    @property
    def truncated(self) -> bool:
        """Whether the middle of the reply was left out, for it was longer than what is kept."""
        # Only what was cut is longer than what is kept and says so in a line of its own.
        return (
            len(self.reply) * 4 > KEPT
            and _GAP.search(self.reply) is not None
            and len(self.reply.encode("utf-8", "surrogatepass")) > KEPT
        )

    @model_serializer(mode="wrap")
    def _with_what_it_says(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        if self.status == "done" or not self.error:
            del written["error"]
        if self.truncated:
            written["truncated"] = True
        return written

    def to_json(self) -> str:
        """Give the line of JSON that a fan-out prints for this item, without its newline."""
        return compact_json(self.model_dump(mode="json", by_alias=True))


class Summary(_Line):
    """How many items ended how; ``seconds`` is the running time of the whole fan-out."""

    done: int = Field(default=0, ge=0)
    failed: int = Field(default=0, ge=0)
    stopped: int = Field(default=0, ge=0)
    interrupted: int = Field(default=0, ge=0)
    skipped: int = Field(default=0, ge=0)
    seconds: float = Field(default=0.0, ge=0)

    @classmethod
    def of(cls, statuses: Iterable[ItemStatus], seconds: float) -> Self:
        """Count how items ended."""
        ends = Counter(statuses)
        return cls(
            done=ends["done"],
            failed=ends["failed"],
            stopped=ends["stopped"],
            interrupted=ends["interrupted"],
            skipped=ends["skipped"],
            seconds=seconds,
        )

    @property
    def all_succeeded(self) -> bool:
        """True when every item is done."""
        return not (self.failed or self.stopped or self.interrupted or self.skipped)

    def to_json(self) -> str:
        """Give the last line of JSON that a fan-out prints, without its newline."""
        return compact_json({"summary": self.model_dump(mode="json", by_alias=True)})
