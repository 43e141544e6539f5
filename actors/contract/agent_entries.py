"""What is known of an agent that speaks the Agent Client Protocol, before any session of it runs."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

McpTransport = Literal["http", "stdio", "both", "none"]
"""How an agent takes MCP servers; without any (``none``) it cannot use ``relay_tool``."""
KILL_GRACE: Final = 5.0
OWN_SERVER: Final = "showcaller"
"""What agents know the relay's own MCP server by."""


def _passable(text: str) -> str:
    """Refuse what no program can be given: a NUL ends every argument and variable."""
    if "\0" in text:
        raise ValueError("must not hold a NUL character")
    return text


def _variable_name(name: str) -> str:
    if not name or "=" in name:
        raise ValueError("the name of a variable must not be empty or hold '='")
    return _passable(name)


Passable = Annotated[str, AfterValidator(_passable), Field(max_length=10_000)]
VariableName = Annotated[str, AfterValidator(_variable_name), Field(max_length=200)]
Line = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]*$", max_length=1_000)]


def _address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("an address begins with http:// or https://")
    return _passable(url)


def _server_name(name: str) -> str:
    if name == OWN_SERVER:
        raise ValueError(f"{OWN_SERVER} is the relay's own server; choose another name")
    return name


ServerName = Annotated[str, AfterValidator(_server_name), Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,39}$")]
Address = Annotated[str, AfterValidator(_address), Field(max_length=2_000)]


class ServerEntry(BaseModel):
    """An MCP server that the owner gives an agent beside the relay's own: by address, by command, or both.

    ``headers`` go with each request to its address, and ``environment`` is that of its command besides.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: Address | None = None
    headers: dict[VariableName, Passable] = Field(default_factory=dict, max_length=50)
    command: tuple[Passable, ...] = Field(default=(), max_length=100)
    environment: dict[VariableName, Passable] = Field(default_factory=dict, max_length=100)

    @model_validator(mode="after")
    def _is_somewhere(self) -> Self:
        if self.url is None and not self.command:
            raise ValueError("a server has a url or a command")
        return self


class AgentEntry(BaseModel):
    """How an agent is started and what it can do; frozen, and foreign fields are refused.

    ``command`` is its program with its arguments, never a line for a shell; ``environment`` is added to that
    of its worker. ``install`` says how to get it. ``loads`` and ``resumes``: it continues one of its
    conversations after its process has died, with and without telling it again. ``billing_of`` names the
    entry of which this one is the same agent on another account. ``patient``: its MCP client waits for a
    call without hearing of progress. ``model_option`` is the configuration option that is its model.
    ``mcp_servers`` are the owner's own, which the agent gets beside the relay's; no agent can name any.
    ``session_meta`` goes as ``_meta`` with each conversation that is opened: what this agent alone knows.
    ``kill_grace`` is the time in seconds between asking it to end and ending it by force.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")
    label: Line = Field(min_length=1)
    command: tuple[Passable, ...] = Field(min_length=1, max_length=100)
    install: str = Field(default="", max_length=2_000)
    environment: dict[VariableName, Passable] = Field(default_factory=dict, max_length=100)
    takes: Literal["folder", "repo"] = "folder"
    steers: bool = False
    loads: bool = False
    resumes: bool = False
    mcp: McpTransport = "both"
    agents_may_start: bool = True
    billing_of: str | None = Field(default=None, max_length=32)
    patient: bool = False
    traps: tuple[Line, ...] = Field(default=(), max_length=20)
    model_option: Line = Field(default="model", min_length=1)
    mcp_servers: dict[ServerName, ServerEntry] = Field(default_factory=dict, max_length=50)
    session_meta: dict[str, JsonValue] = Field(default_factory=dict, max_length=20)
    kill_grace: float = Field(default=KILL_GRACE, ge=0, le=60)
