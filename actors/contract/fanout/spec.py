"""What a fan-out is to do."""

from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.fanout.items import check_characters
from showcaller.actors.contract.fanout.template import Kind, Template, parse_template
from showcaller.actors.contract.foreign_text import quote_foreign

MOST_JOBS: Final = 10_000
"""Items that run at the same time at most."""
MOST_RETRIES: Final = 1000
"""Attempts after a failed first one at most."""

_CALLED: Final = {"template": "template", "cwd": "folder", "name": "name"}


class FanoutSpec(BaseModel):
    """What a fan-out does with every item.

    ``template`` is as ``parse_template`` takes it for ``kind``; ``provider`` is the catalogue's entry that
    runs the turns; ``jobs`` run at the same time at most; ``timeout`` is in seconds for one attempt, None
    for none; ``retries`` are the attempts after a failed first one; ``cwd`` is the absolute folder to run
    in; ``name`` names the group, None lets one be made; ``rerun`` says whether a resume repeats an item
    that was cut in the middle.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    kind: Kind
    template: str
    provider: str = Field(min_length=1, max_length=64)
    jobs: int = Field(ge=1, le=MOST_JOBS)
    timeout: float | None = Field(default=None, gt=0)
    retries: int = Field(default=0, ge=0, le=MOST_RETRIES)
    cwd: str = Field(max_length=4096)
    name: str | None = Field(default=None, min_length=1, max_length=200)
    rerun: bool = True

    @field_validator("template", "cwd", "name", mode="before")
    @classmethod
    def _carriable(cls, text: object, info: ValidationInfo) -> object:
        if isinstance(text, str):
            subject = f"The {_CALLED[info.field_name or '']} {quote_foreign(text, 120)}"
            try:
                check_characters(text, subject)
            except Refusal as refusal:
                raise ValueError(refusal.error) from refusal
        return text

    @field_validator("cwd")
    @classmethod
    def _absolute(cls, cwd: str) -> str:
        if not cwd.startswith("/"):
            raise ValueError(f"the folder {quote_foreign(cwd)} must be absolute")
        return cwd

    @model_validator(mode="after")
    def _template_parses(self) -> Self:
        try:
            parse_template(self.template, self.kind)
        except Refusal as refusal:
            raise ValueError(refusal.error) from refusal
        return self

    def parsed(self) -> Template:
        """Give the template taken apart."""
        return parse_template(self.template, self.kind)
