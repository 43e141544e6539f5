"""What an agent has told when it was asked whether it works: the proof that its provider is ready."""

import json
from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from showcaller.actors.contract.agent_entries import AgentEntry

MOST_BYTES: Final = 4 * 1024 * 1024
MOST_NAMES: Final = 1_000


class Handshake(BaseModel):
    """What came of a handshake and of the first session after it.

    ``command`` is what was started: another one has not been proven to work. ``version`` is the agent's own,
    ``models``, ``modes`` and ``efforts`` are the values that it offers, ``at`` is when, in ms. ``loads`` and
    ``resumes`` tell whether it can continue a conversation, ``http`` whether it takes MCP servers over HTTP.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    command: tuple[str, ...]
    version: str = Field(default="", max_length=200)
    models: tuple[str, ...] = Field(default=(), max_length=MOST_NAMES)
    modes: tuple[str, ...] = Field(default=(), max_length=MOST_NAMES)
    efforts: tuple[str, ...] = Field(default=(), max_length=MOST_NAMES)
    loads: bool = False
    resumes: bool = False
    http: bool = False
    at: int = Field(ge=0)

    def is_of(self, agent: AgentEntry) -> bool:
        """Whether it was this agent, started as it would be started now."""
        return self.command == agent.command


def handshakes_in(text: str | bytes) -> dict[str, Handshake]:
    """Give the handshakes that a file holds by their providers; what is none is left out."""
    try:
        kept = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    found: dict[str, Handshake] = {}
    for name, told in kept.items() if isinstance(kept, dict) else ():
        try:
            found[name] = Handshake.model_validate(told)
        except ValidationError:
            continue
    return found


def handshakes_text(handshakes: Mapping[str, Handshake]) -> str:
    """Give the content of the file."""
    told = {name: handshake.model_dump(mode="json") for name, handshake in sorted(handshakes.items())}
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"
