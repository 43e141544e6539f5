"""A call of an agent is ended with the turn that it was made in."""

import logging
from collections.abc import Callable
from typing import Any, Final

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.calls.caller import Caller
from showcaller.actors.relay.messages import AwaitTurnGone, ToSession
from showcaller.actors.runtime import ActorDeadError, ActorRef, Future

logger = logging.getLogger("showcaller.relay")

OVER: Final = (
    "The turn in which you made this call is over, so nobody is left to read the answer. What the call has "
    "stored stays; nothing more was done."
)
MOST_ASKS: Final = 2
"""How often a session is asked that fails meanwhile: it wakes by itself after the first time only."""


def end_with_turn(
    supervisor: ActorRef[Any], caller: Caller, result: "Future[Any]", kill: Callable[[], None]
) -> None:
    """Answer a call at once when its caller's turn and what that has left running are over.

    ``result`` is what the call comes to, and ``kill`` ends what carries it out. Callers without a turn, and
    calls that have their result, are left alone.
    """
    if caller.turn is not None and caller.session is not None:
        _TurnBound(supervisor, ToSession(caller.session, AwaitTurnGone(caller.turn)), result, kill).ask()


class _TurnBound:
    """One call under way; its steps are taken on whatever thread completes the futures."""

    def __init__(
        self,
        supervisor: ActorRef[Any],
        asked: ToSession,
        result: "Future[Any]",
        kill: Callable[[], None],
    ) -> None:
        self._supervisor = supervisor
        self._asked = asked
        self._result = result
        self._kill = kill
        self._asks = 0

    def ask(self) -> None:
        """Have the session say when the turn is gone."""
        self._asks += 1
        try:
            gone = self._supervisor.request(self._asked)
        except ActorDeadError:  # the relay ends, and so does the call
            return
        self._result.add_done_callback(lambda _: gone.try_set(None))  # it has its answer: nobody waits
        gone.add_done_callback(self._told)

    def _told(self, gone: "Future[Any]") -> None:
        if self._result.done:
            return
        if gone.error is None and gone.get() is True:
            if self._result.try_set(Refusal(Code.CANCELLED, OVER).to_result()):
                self._kill()
        elif isinstance(gone.error, Refusal):  # the relay takes no more
            return
        elif self._asks < MOST_ASKS:
            self.ask()
        else:
            logger.warning("Whether a turn of %s is over is unknown; its call goes on", self._asked.session)
