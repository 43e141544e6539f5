"""The agent of the crash tests: a provider that notes what it is given and how it ended it."""

import asyncio

from showcaller.actors.contract.worker import RunTurn, TurnEnded, TurnOutcome
from showcaller.transport.worker.providers import Result, Sink
from tests.crash.failpoints import Failpoints
from tests.crash.journal import Journal


class NotingProvider:
    """Runs prompts: while ``patient`` one that begins with ``long`` until it is halted, any other at once."""

    def __init__(self, journal: Journal, points: Failpoints, *, patient: bool) -> None:
        self._patient = patient
        self._journal = journal
        self._points = points

    async def run(self, turn: RunTurn, sink: Sink) -> Result:
        """Run one turn."""
        self._points.reach("agent.prompt.before")
        self._journal.note("handed", **turn.model_dump())
        self._points.reach("agent.prompt.after")
        sink.write(f"of {turn.turn}")
        goes_on = self._patient and turn.text.startswith("long")
        outcome: TurnOutcome = "stopped" if goes_on and await _halted(sink) else "done"
        self._journal.note(
            "ended",
            **TurnEnded(
                session=turn.session,
                turn=turn.turn,
                outcome=outcome,
                reply=f"of {turn.turn}",
            ).model_dump(),
        )
        return Result(reply=f"of {turn.turn}")

    async def close(self) -> None:
        """Nothing to let go of."""


async def _halted(sink: Sink) -> bool:
    halted = asyncio.Event()
    sink.on_halt(halted.set)
    return await halted.wait()
