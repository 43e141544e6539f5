"""How the agent processes of sessions stand, as workers have told; it outlives sessions' actors."""

from threading import Lock

from showcaller.actors.contract.agent_messages import AgentState
from showcaller.actors.contract.views import Process


class AgentStates:
    """The last word of each agent process that is there; one that has gone is forgotten. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._states: dict[str, AgentState] = {}

    def note(self, told: AgentState) -> None:
        """Keep what a worker tells."""
        with self._lock:
            if told.state == "none":
                self._states.pop(told.session, None)
            else:
                self._states[told.session] = told

    def find(self, session: str) -> AgentState | None:
        """Give what is known of a session's agent process; None when there is none, or nothing was told."""
        with self._lock:
            return self._states.get(session)

    def has_environment_of(self, session: str, turn: str) -> bool:
        """Tell whether the process is there that was started with the environment of this turn."""
        known = self.find(session)
        return known is not None and known.turn == turn

    def process_of(self, session: str) -> Process | None:
        """Say how the agent process of a session stands; None when nothing was told of one that is there."""
        known = self.find(session)
        return None if known is None else known.state
