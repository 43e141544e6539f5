"""Which conversation of its agent a session continues: the agent's own id of it, kept in the store."""

import logging
from collections.abc import Callable
from typing import Any

from showcaller.actors.relay.session_tags import ForConversation
from showcaller.actors.relay.turns import Turns
from showcaller.store.batch import Answer

logger = logging.getLogger("showcaller.relay")


class AgentConversation:
    """Keeps the id that a worker tells of one session; ``write`` hands the writer a command with a tag."""

    def __init__(self, session: str, turns: Turns, write: Callable[[str, dict[str, Any], Any], None]) -> None:
        self._session = session
        self._turns = turns
        self._write = write

    def told(self, agent_session: str | None) -> None:
        """A worker says which conversation the agent has; have it stored if it is another than before."""
        row = self._turns.row
        if agent_session is None or not row or row.get("agent_session_id") == agent_session:
            return
        row["agent_session_id"] = agent_session
        arguments = {"session": self._session, "agent_session": agent_session}
        self._write("set_agent_session", arguments, ForConversation(agent_session))

    def written(self, tag: ForConversation, stored: Answer) -> None:
        """The store has answered; what it has not taken is stored when it is told again."""
        row = self._turns.row
        if stored.error is None or row.get("agent_session_id") != tag.agent_session:
            return
        row["agent_session_id"] = None
        logger.warning(
            "The conversation %s of %s was not stored: %s", tag.agent_session, self._session, stored.detail
        )
