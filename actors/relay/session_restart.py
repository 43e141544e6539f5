"""A session's agent is restarted: its conversation goes on in another process, without a prompt."""

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.worker import TurnEnded, TurnReturned, TurnStored
from showcaller.actors.relay.background import Background
from showcaller.actors.relay.messages import Restart, Restarted
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.replies import Reply, answer, answer_all
from showcaller.actors.relay.session_answers import is_working
from showcaller.actors.relay.turns import Turns

NOTHING = "Nothing was restarted."


class Restarting:
    """The restarts of one session under way. A worker takes each as a turn of which nothing is stored."""

    def __init__(self, session: str, ports: Ports, turns: Turns, background: Background) -> None:
        self._session = session
        self._ports = ports
        self._turns = turns
        self._background = background
        self._asked: dict[str, Reply] = {}

    def __bool__(self) -> bool:
        return bool(self._asked)

    def ask(self, _: Restart, reply: Reply) -> None:
        """Have the agent end and its conversation opened in another process; answered with ``Restarted``."""
        if self._turns.state.works or self._background:
            answer(reply, is_working(self._session, NOTHING))
            return
        worker = self._ports.worker_of(self._session)
        if worker is None:
            answer(reply, Refusal(Code.UNAVAILABLE, f"No worker is there just now. {NOTHING}"))
            return
        run = self._turns.opening(self._ports.new_id("msg_"), worker)
        self._asked[run.turn] = reply
        self._ports.workers.send([run])

    def over(self, told: TurnEnded | TurnReturned) -> bool:
        """Take the end of a restart; gives False when it is of something else."""
        if told.turn not in self._asked:
            return False
        reply = self._asked.pop(told.turn)
        self._ports.workers.send([TurnStored(session=self._session, turn=told.turn)])
        if isinstance(told, TurnEnded) and told.outcome == "done":
            answer(reply, Restarted(told.resumed_via or "new"))
        else:
            why = (told.error_text if isinstance(told, TurnEnded) else None) or "its worker has died"
            answer(reply, Refusal(Code.START_FAILED, f"The agent was not restarted: {why}"))
        return True

    def answer_all(self, error: Exception) -> None:
        """Give this to all who wait."""
        answer_all(self._asked.values(), error)
        self._asked.clear()
