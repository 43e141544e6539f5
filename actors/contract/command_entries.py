"""What is known of a command of the owner's that gets each prompt as its input."""

from pydantic import BaseModel, ConfigDict, Field

from showcaller.actors.contract.agent_entries import Line, Passable, VariableName


class CommandEntry(BaseModel):
    """A command with its arguments, never a line for a shell; frozen, and foreign fields are refused.

    It is run in the session's folder, once for each prompt, with that as its standard input, and what it
    writes is the reply. ``environment`` is added to that of its worker; ``install`` says how to get it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")
    label: Line = Field(min_length=1)
    command: tuple[Passable, ...] = Field(min_length=1, max_length=100)
    install: str = Field(default="", max_length=2_000)
    environment: dict[VariableName, Passable] = Field(default_factory=dict, max_length=100)
    agents_may_start: bool = False
