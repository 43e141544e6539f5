"""Tokens of the agents that the relay runs: signed, so that a turn costs no row, and good while it runs."""

import hmac
import re
import sys
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from showcaller.actors.contract.agent_messages import McpServer

PREFIX: Final = "sct_"
TOKEN_VARIABLE: Final = "SHOWCALLER_TOKEN"  # noqa: S105 - the name of a variable
HOME_VARIABLE: Final = "SHOWCALLER_HOME"
_FORM: Final = re.compile(r"sct_(ses_[0-9a-z]{1,32})\.(msg_[0-9a-z]{1,32})\.([A-Za-z0-9_-]{43})")
_PURPOSE: Final = b"showcaller: tokens of agents, 1"
DOOR_NAME: Final = "showcaller"
"""What agents call our MCP server: their tools are then mcp__showcaller__relay_tool."""


def agent_door(port: int) -> "McpServer":
    """Give the MCP server by which agents call the relay that listens on this port of the loopback.

    One that takes no servers by their address starts the bridge to it.
    """
    # Imported here: every command looks whose token it has, and its help must be quick.
    from showcaller.actors.contract.agent_messages import McpServer

    return McpServer(
        name=DOOR_NAME,
        url=f"http://127.0.0.1:{port}/mcp",
        command=(sys.executable, "-m", "showcaller", "mcp"),
        has_token=True,
    )


class AgentTurn(NamedTuple):
    """The turn whose agent a token is for."""

    session: str
    turn: str


class AgentTokens:
    """Makes and reads agents' tokens. Thread-safe.

    The key comes of the owner's token, which no agent has, and so is the same after a restart. Whether the
    turn still goes on is not in the token: the store says it.
    """

    def __init__(self, home: Path, owners_token: str) -> None:
        self._home = str(home.absolute())
        self._key = hmac.digest(owners_token.encode(), _PURPOSE, sha256)

    def variables(self, session: str, turn: str) -> dict[str, str]:
        """Give what the agent process of a turn finds in its environment: its token, and whose it is."""
        return {TOKEN_VARIABLE: self.token(session, turn), HOME_VARIABLE: self._home}

    def token(self, session: str, turn: str) -> str:
        """Make the token of a turn's agent; the same each time."""
        return f"{PREFIX}{session}.{turn}.{self._signature(session, turn)}"

    def read(self, token: str) -> AgentTurn | None:
        """Give whose token this is; None for one that this relay has not made."""
        found = _FORM.fullmatch(token)
        if found is None:
            return None
        session, turn, signature = found.groups()
        right = hmac.compare_digest(signature, self._signature(session, turn))
        return AgentTurn(session, turn) if right else None

    def _signature(self, session: str, turn: str) -> str:
        signature = hmac.digest(self._key, f"{session}.{turn}".encode(), sha256)
        return urlsafe_b64encode(signature).decode().rstrip("=")
