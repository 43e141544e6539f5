"""The sessions whose agents run in this worker, each with a seat of its own."""

import os
from collections.abc import Callable, Mapping
from typing import Final

from showcaller.actors.contract.agent_messages import AnswerCard
from showcaller.actors.contract.worker import FromWorkerMessage, RunTurn
from showcaller.transport.worker.acp.agent import HANDSHAKE
from showcaller.transport.worker.acp.seat import Seat, Terms
from showcaller.transport.worker.acp.stream import LINE_LIMIT
from showcaller.transport.worker.cloning import USUAL_LIMITS, CloneLimits, Cloning
from showcaller.transport.worker.providers import Result, Sink

IDLE: Final = 1_800.0
"""Seconds without a turn after which an agent's process ends."""
MOST_IDLE: Final = 16
"""Agents' processes that may wait for their next turn; of more, those end first that have waited longest."""


class Seats:
    """Has each session's turns run by its own agent process, which stays between them.

    An agent is started with its session's first turn, with the environment of that, and stays until it has
    had none for ``idle`` seconds, more than ``most_idle`` wait, it is killed, or the worker ends; that of a
    turn that leaves nothing running (``RunTurn.background``) ends with it. What its conversation is called is
    kept beyond that: the next turn continues it, and fails where that cannot be done. ``handshake`` is the
    time in seconds for a start, and ``line_limit`` the most bytes of one message; ``clone_limits`` are for
    what sessions work on. ``environment`` stands for that of this process, read anew when it is None.
    """

    def __init__(
        self,
        post: Callable[[FromWorkerMessage], None],
        environment: Mapping[str, str] | None = None,
        *,
        idle: float = IDLE,
        most_idle: int = MOST_IDLE,
        handshake: float = HANDSHAKE,
        line_limit: int = LINE_LIMIT,
        clone_limits: CloneLimits = USUAL_LIMITS,
    ) -> None:
        self._seats: dict[str, Seat] = {}
        self._most_idle = most_idle
        leaders: set[int] = set()

        def around() -> Mapping[str, str]:
            return os.environ if environment is None else environment

        cloning = Cloning(around, leaders, clone_limits)
        self._terms = Terms(post, around, leaders, idle, handshake, line_limit, cloning)

    @property
    def processes(self) -> list[int]:
        """The ids of the agents' processes that are there."""
        return [seat.agent.pid for seat in self._seats.values() if seat.agent is not None]

    async def run(self, turn: RunTurn, sink: Sink) -> Result:
        """Run one turn to its end."""
        seat = self._seats.get(turn.session)
        if seat is None:
            seat = self._seats[turn.session] = Seat(turn.session, self._terms)
        try:
            return await seat.run(turn, sink)
        finally:
            self._have_some_sleep()

    def _have_some_sleep(self) -> None:
        """Let those go to sleep that have been idle for longest, if there are too many: each is a process."""
        idle = sorted(
            (seat for seat in self._seats.values() if seat.is_idle), key=lambda seat: seat.idle_since
        )
        for seat in idle[: max(0, len(idle) - self._most_idle)]:
            seat.fall_asleep()

    def kill(self, session: str) -> None:
        """End the session's agent process at once."""
        if session in self._seats:
            self._seats[session].kill()

    def answer(self, answer: AnswerCard) -> None:
        """Take what became of a card; one that nobody waits for is dropped."""
        seat = self._seats.get(answer.session)
        if seat is not None and seat.agent is not None:
            seat.agent.answer(answer)

    def tell_all(self) -> None:
        """Tell how all agents stand, and what they ask."""
        for seat in self._seats.values():
            if seat.agent is not None:
                seat.agent.tell()

    async def close(self) -> None:
        """End all agents, first politely."""
        for seat in self._seats.values():
            seat.close()
        for seat in self._seats.values():
            await seat.buried()
