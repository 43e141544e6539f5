"""What turns have left running in a worker: each is a task of its session until its end is stored."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Final

from showcaller.actors.contract.limits import TASK_OUTPUT_KEPT, TASKS_PER_SESSION, TASKS_PER_WORKER
from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    RunTurn,
    TaskEnded,
    TaskOutcome,
    TaskOutput,
    TaskStarted,
)
from showcaller.transport.worker.ends import Halt
from showcaller.transport.worker.providers import Rest
from showcaller.transport.worker.text import BothEnds, valid
from showcaller.transport.worker.work import PATIENCE, RunningWork

KEPT: Final = TASK_OUTPUT_KEPT * 5 // 4
"""Characters of output that are kept here: more than the relay keeps, which so sees that there were more."""

log = logging.getLogger("showcaller.worker")


class BackgroundTask(RunningWork):
    """One task from its beginning until its end is stored. Its name is that of the turn that has left it."""

    def __init__(
        self,
        turn: RunTurn,
        rest: Rest,
        grace: float,
        wrote: "Callable[[BackgroundTask], None]",
        now: Callable[[], float],
    ) -> None:
        super().__init__(grace, lambda: wrote(self))
        self.session = turn.session
        self.name = turn.turn
        self.rest = rest
        self.turn_is_stored = False
        self.failed = False
        self.end: TaskEnded | None = None
        self._now = now
        self._wrote_at = now()
        self._tail = BothEnds("".join, 0, KEPT)

    def write(self, text: str) -> None:
        """Add a piece of output, and keep it while it is among the last."""
        super().write(text)
        if text:
            self._tail.add(text)
            self._wrote_at = self._now()

    @property
    def silent(self) -> float:
        """For how many seconds it has not written."""
        return max(0.0, self._now() - self._wrote_at)

    @property
    def output(self) -> str:
        """The end of all that it has written."""
        return valid(self._tail.parts()[2])

    @property
    def started(self) -> TaskStarted:
        """What is told of its beginning."""
        return TaskStarted(
            session=self.session,
            task=self.name,
            type="command",
            description=valid(self.rest.description),
            turn=self.name,
        )

    @property
    def outcome(self) -> TaskOutcome:
        """How it has ended."""
        if self.halted is None:
            return "failed" if self.failed else "done"
        return "stopped" if self.halted == "stopped" else "interrupted"


class BackgroundTasks:
    """The tasks of a host, on its event loop. ``post`` sends a message with the others of the loop's step."""

    def __init__(
        self, post: Callable[[FromWorkerMessage], None], grace: float, output_interval: float
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._post = post
        self._grace = grace
        self._output_interval = output_interval
        self._tasks: dict[str, BackgroundTask] = {}
        self._written: dict[str, BackgroundTask] = {}
        self._withholds = False
        self._closing = False

    # -- a task's life -----------------------------------------------------------------------------

    def refusal(self, session: str) -> str | None:
        """Say why this session may not have another task; None when it may."""
        running = list(self._running())
        if len(running) >= TASKS_PER_WORKER:
            return f"{TASKS_PER_WORKER} tasks of its worker run already"
        if sum(task.session == session for task in running) >= TASKS_PER_SESSION:
            return f"{TASKS_PER_SESSION} tasks of its session run already"
        return None

    def begin(self, turn: RunTurn, rest: Rest, ends: Halt | None) -> None:
        """Look after what a turn has left, until its end; ``ends`` says why that is at once, if so."""
        task = BackgroundTask(turn, rest, self._grace, self._note_output, self._loop.time)
        self._tasks[task.name] = task
        self._post(task.started)
        why = "interrupted" if self._closing else ends
        if why is not None:
            self._halt(task, why)
        task.task = self._loop.create_task(self._run(task))

    async def end_at_once(self, turn: RunTurn, rest: Rest) -> None:
        """End what a turn has left without making a task of it."""
        task = BackgroundTask(turn, rest, self._grace, lambda _: None, self._loop.time)
        task.halt("stopped")
        task.task = self._loop.create_task(self._await_end(task))
        task.timers.append(self._loop.call_later(self._grace + PATIENCE, task.give_up))
        await asyncio.wait([task.task])
        task.finish()

    async def _run(self, task: BackgroundTask) -> None:
        await self._await_end(task)
        task.finish()
        self._written.pop(task.name, None)  # its end tells all of it
        task.end = TaskEnded(session=task.session, task=task.name, outcome=task.outcome, output=task.output)
        self._post(task.end)

    async def _await_end(self, task: BackgroundTask) -> None:
        try:
            await task.rest.ended(task)
        except asyncio.CancelledError:
            log.warning("What runs in the background of %s did not end in time: it is given up", task.session)
        except Exception:
            log.exception("Looking after what runs in the background of %s failed", task.session)
            task.failed = True

    def _halt(self, task: BackgroundTask, why: Halt) -> None:
        if task.halt(why):
            task.timers.append(self._loop.call_later(self._grace + PATIENCE, task.give_up))

    def _running(self) -> Iterable[BackgroundTask]:
        return (task for task in self._tasks.values() if task.end is None)

    # -- what the relay wants ----------------------------------------------------------------------

    def kill(self, session: str) -> None:
        """End all tasks of a session."""
        for task in [task for task in self._running() if task.session == session]:
            self._halt(task, "stopped")

    def tell(self, session: str, name: str) -> None:
        """Tell once more what is kept of a task."""
        task = self._tasks.get(name)
        if task is None:
            self._post(TaskEnded(session=session, task=name, outcome="interrupted"))
        elif task.end is not None:
            self._post(task.end)
        else:
            self._written.pop(name, None)
            task.take_output()
            self._post(
                TaskOutput(session=session, task=name, text=task.output, again=True, silent=task.silent)
            )

    def tell_all(self) -> None:
        """Tell another relay which tasks there are and which have ended; for the rest it asks."""
        self._withholds = False
        self._written.clear()
        for task in self._tasks.values():
            task.take_output()
            self._post(task.started)
            if task.end is not None:
                self._post(task.end)

    def turn_is_stored(self, turn: str) -> bool:
        """The relay has stored the turn's end; tells whether a task of it is here that goes on needing it."""
        task = self._tasks.get(turn)
        if task is not None:
            task.turn_is_stored = True
        return task is not None

    def stored(self, name: str) -> str | None:
        """The relay has stored a task's end: forget it. Gives its turn, if nobody needs that any more."""
        task = self._tasks.get(name)
        if task is None or task.end is None:
            return None
        del self._tasks[name]
        return name if task.turn_is_stored else None

    def withhold(self) -> None:
        """Send nothing of what is written from here on, for as long as nobody is there to hear it."""
        self._withholds = True

    def hand_in(self) -> None:
        """The relay is back that was there before: tell it what was withheld, as part of all that is kept."""
        self._withholds = False
        for task in list(self._written.values()):
            self.tell(task.session, task.name)

    # -- output and the worker's end ---------------------------------------------------------------

    def _note_output(self, task: BackgroundTask) -> None:
        if not self._written:
            self._loop.call_later(self._output_interval, self._send_output)
        self._written[task.name] = task

    def _send_output(self) -> None:
        if self._withholds:
            return  # what is kept of it is bounded, and a link that nobody reads is not
        written, self._written = self._written, {}
        for task in written.values():
            self._post(TaskOutput(session=task.session, task=task.name, text=task.take_output()))

    def close(self) -> None:
        """Interrupt all tasks, and those that will still come."""
        self._closing = True
        for task in list(self._running()):
            self._halt(task, "interrupted")

    async def over(self) -> None:
        """Wait until none runs."""
        running = [task.task for task in self._running() if task.task is not None]
        if running:
            await asyncio.wait(running)
