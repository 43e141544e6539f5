"""The host: takes turns from the relay, runs them through providers, and gives each exactly one end."""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from traceback import format_exception_only
from typing import Final

from showcaller.actors.contract.agent_messages import AnswerCard
from showcaller.actors.contract.worker import (
    AskTask,
    FromWorkerMessage,
    KillAgent,
    RunTurn,
    SteerTurn,
    StopTurn,
    TaskStored,
    ToWorkerMessage,
    TurnActivity,
    TurnEnded,
    TurnOutput,
    TurnSteered,
    TurnStored,
    TurnTaken,
)
from showcaller.transport.links.relay import RelayLink
from showcaller.transport.worker.background import BackgroundTasks
from showcaller.transport.worker.ends import Halt, turn_ended
from showcaller.transport.worker.journal import Journal, MemoryJournal
from showcaller.transport.worker.providers import Providers, Rest, Result, UnknownProviderError
from showcaller.transport.worker.turn import RunningTurn
from showcaller.transport.worker.work import PATIENCE

GRACE: Final = 5.0
OUTPUT_INTERVAL: Final = 0.1
AT_WORK: Final = 256
RECEIPT_INTERVAL: Final = 1.0
"""Seconds after which receipts are tried again that the disk did not take."""

log = logging.getLogger("showcaller.worker")


class Host:
    """Runs turns on the event loop that it is made on, at most ``at_work`` at a time; the others wait.

    A turn is named by its id: the same turn handed over again while it runs is not run again, and after
    its end gets that end again. ``journal`` is where receipts, outputs and ends are noted. ``grace`` is the
    time in seconds between asking work to end and ending it by force. All methods belong to the loop's
    thread; only the link is thread-safe.
    """

    def __init__(
        self,
        link: RelayLink,
        providers: Providers,
        *,
        grace: float = GRACE,
        output_interval: float = OUTPUT_INTERVAL,
        at_work: int = AT_WORK,
        journal: Journal | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._link = link
        self._providers = providers
        self._grace = grace
        self._output_interval = output_interval
        self._running: dict[str, RunningTurn] = {}
        self._begun: list[RunningTurn] = []
        self._at_work: set[str] = set()
        self._most_at_work = at_work
        self._waiting: deque[RunningTurn] = deque()
        self._written: dict[str, RunningTurn] = {}
        self._outbox: list[FromWorkerMessage] = []
        self._journal: Journal = MemoryJournal() if journal is None else journal
        self._tasks = BackgroundTasks(self._post, grace, output_interval)
        self._closing = self._takes_no_more = self._puts_off = False
        self._idle = asyncio.Event()
        self._idle.set()
        providers.agents.connect(self._hand_on)
        link.connect(self.receive)

    def receive(self, messages: Sequence[ToWorkerMessage]) -> None:
        """Take messages of the relay. Nothing is sent or started before the loop's next step."""
        for message in messages:
            try:
                self._receive(message)
            except Exception:  # what comes behind it must not be lost with it
                log.exception("a mistake over %s of %s", message.kind, message.session)

    def _receive(self, message: ToWorkerMessage) -> None:
        match message:
            case RunTurn():
                self._take(message)
            case StopTurn():
                self._stop(message.turn)
            case TurnStored():
                if not self._tasks.turn_is_stored(message.turn):
                    self._journal.forget(message.turn)
            case SteerTurn():
                self._refuse_steering(message)
            case KillAgent():
                self._kill(message.session)
            case AskTask():
                self._tasks.tell(message.session, message.task)
            case TaskStored():
                self._forget_task(message.task)
            case AnswerCard():
                self._providers.agents.answer(message)

    def _stop(self, turn_id: str) -> None:
        turn = self._running.get(turn_id)
        if turn is not None:
            self._halt(turn, "stopped")

    def _refuse_steering(self, steer: SteerTurn) -> None:
        """No provider here can take a message into a turn: it is handed over when its own turn comes."""
        self._post(TurnSteered(session=steer.session, turn=steer.turn, message=steer.message, accepted=False))

    def _kill(self, session: str) -> None:
        """End what runs of a session: the process of a command or function is that of its turn."""
        self._providers.agents.kill(session)
        for turn in [turn for turn in self._running.values() if turn.request.session == session]:
            turn.ends_rest = "stopped"
            self._halt(turn, "stopped")
        self._tasks.kill(session)

    def _forget_task(self, task: str) -> None:
        """Keep the receipt of a turn no longer than its task: it says that this worker is still needed."""
        turn = self._tasks.stored(task)
        if turn is not None:
            self._journal.forget(turn)

    def meet_another_relay(self) -> None:
        """Tell the relay which tasks and agents there are: it is another one. It asks for turns itself."""
        self._tasks.tell_all()
        self._providers.agents.tell_all()

    def relay_is_away(self) -> None:
        """Send nothing of what tasks write: they may write for days."""
        self._tasks.withhold()

    def relay_is_back(self) -> None:
        """Tell the relay, which is the one that was there before, what tasks have written meanwhile."""
        self._tasks.hand_in()

    async def idle(self) -> None:
        """Wait until no turn runs and everything has been handed to the link."""
        await self._idle.wait()

    def take_no_more(self) -> None:
        """Leave turns that come from now on without a receipt, so that they are run by another worker.

        For one that ends soon, and whose death is told to the relay.
        """
        self._takes_no_more = True

    async def drain(self) -> None:
        """Interrupt what runs, refuse new turns, and wait until every end is handed to the link."""
        self._closing = True
        self._tasks.close()
        for turn in list(self._running.values()):
            self._halt(turn, "interrupted")
        await self.idle()
        await self._tasks.over()
        await self.idle()

    async def close(self) -> None:
        """Drain, then close the providers and the worker's end of the link."""
        await self.drain()
        await self._providers.close()
        self._journal.close()
        self._link.close()

    def _take(self, request: RunTurn) -> None:
        if request.turn in self._running:
            self._tell_again(request)
            return
        try:
            end = self._journal.end_of(request.turn)
        except OSError as error:
            lost = Result(error_text=f"what came of it cannot be read back ({error})")
            end = turn_ended(request, lost, None, 0.0)
        if end is not None:
            self._post(end)
            return
        if self._takes_no_more:
            return
        turn = RunningTurn(request, self._loop.time(), self._grace, self._note_output)
        self._running[request.turn] = turn
        self._idle.clear()
        if self._closing:
            self._halt(turn, "interrupted")
        if not self._begun:
            self._loop.call_soon(self._begin)
        self._begun.append(turn)

    def _tell_again(self, request: RunTurn) -> None:
        """Tell a relay that was restarted how a turn stands that runs here."""
        self._post(TurnTaken(session=request.session, turn=request.turn))
        try:
            for output in self._journal.outputs(request.session, request.turn):
                self._post(output)
        except OSError as error:  # its end tells all of it
            log.warning("what %s has written cannot be read back: %s", request.turn, error)

    def _begin(self) -> None:
        """Give the receipts of all turns taken in this step, and only then let the providers have them."""
        begun, self._begun = self._begun, []
        try:
            self._journal.take([turn.request.turn for turn in begun])
        except OSError as error:
            self._put_off(begun, error)
            return
        self._puts_off = False
        self._link.send([TurnTaken(session=turn.request.session, turn=turn.request.turn) for turn in begun])
        self._waiting.extend(begun)
        self._start_waiting()

    def _put_off(self, begun: Sequence[RunningTurn], error: OSError) -> None:
        """Let turns wait until the disk takes their receipts; one that was halted has not run and ends."""
        if not self._puts_off:
            log.warning("No receipts can be written, so new turns wait: %s", error)
        self._puts_off = True
        self._begun = [turn for turn in begun if turn.halted is None]
        if self._begun:
            self._loop.call_later(RECEIPT_INTERVAL, self._begin)
        for turn in begun:
            if turn.halted is not None:
                self._end(turn, self._ended(turn, Result()))

    def _start_waiting(self) -> None:
        """Start what waits, in order, while there is room; what was halted meanwhile only has to end."""
        while self._waiting and len(self._at_work) < self._most_at_work:
            self._start(self._waiting.popleft())

    def _start(self, turn: RunningTurn) -> None:
        if turn.task is None:
            self._at_work.add(turn.request.turn)
            turn.task = self._loop.create_task(self._run(turn))

    async def _run(self, turn: RunningTurn) -> None:
        request = turn.request
        turn.started = self._loop.time()
        if request.timeout is not None:
            turn.limit(request.timeout, partial(self._halt, turn, "timeout"))
        result = await self._provided(turn) if turn.halted is None else Result()
        if result.rest is not None:
            result = await self._with_room(turn, result, result.rest)
        if result.rest is not None:
            self._tasks.begin(request, result.rest, turn.ends_rest)
        self._end(turn, self._ended(turn, result))

    async def _with_room(self, turn: RunningTurn, result: Result, rest: Rest) -> Result:
        """Give the result of a turn that leaves something running, if that may become a task."""
        refusal = self._tasks.refusal(turn.request.session)
        if refusal is None:
            return result
        await self._tasks.end_at_once(turn.request, rest)
        return replace(
            result, rest=None, error_text=f"what it put in the background was ended with it: {refusal}"
        )

    def _ended(self, turn: RunningTurn, result: Result) -> TurnEnded:
        seconds = self._loop.time() - turn.started
        try:
            return turn_ended(turn.request, result, turn.halted, seconds)
        except Exception as error:  # the result may hold anything; the turn has an end all the same
            log.exception("the provider of turn %s gave an unusable result", turn.request.turn)
            unusable = Result(error_text=f"its provider gave an unusable result: {type(error).__name__}")
            return turn_ended(turn.request, unusable, turn.halted, seconds)

    async def _provided(self, turn: RunningTurn) -> Result:
        request = turn.request
        try:
            return await self._providers.of(request).run(request, turn)
        except UnknownProviderError as error:
            return Result(error_text=str(error))
        except asyncio.CancelledError:
            return Result(error_text="its provider did not end it in time and was given up")
        except Exception as error:
            log.exception("the provider of turn %s failed", request.turn)
            return Result(error_text="".join(format_exception_only(error)).strip())

    def _halt(self, turn: RunningTurn, why: Halt) -> None:
        if not turn.halt(why):
            return
        if turn in self._waiting:  # nothing of it runs: its end need not wait for room
            self._start(turn)
        else:
            turn.timers.append(self._loop.call_later(self._grace + PATIENCE, turn.give_up))

    def _end(self, turn: RunningTurn, end: TurnEnded) -> None:
        turn.finish()
        del self._running[end.turn]
        self._at_work.discard(end.turn)
        self._start_waiting()
        if self._written.pop(end.turn, None) is not None:
            for news in self._news(turn):
                self._post(news)
        self._journal.keep(end)
        self._post(end)

    def _hand_on(self, message: FromWorkerMessage) -> None:
        """Send what an agent asks behind what it has said before: whoever answers has to know that."""
        self._send_output()
        self._post(message)

    def _post(self, message: FromWorkerMessage) -> None:
        """Send with everything else of this step of the loop, in one batch."""
        if not self._outbox:
            self._loop.call_soon(self._flush)
            self._idle.clear()
        self._outbox.append(message)

    def _flush(self) -> None:
        batch, self._outbox = self._outbox, []
        self._link.send(batch)
        if not self._running:
            self._idle.set()

    def _note_output(self, turn: RunningTurn) -> None:
        if not self._written:
            self._loop.call_later(self._output_interval, self._send_output)
        self._written[turn.request.turn] = turn

    def _send_output(self) -> None:
        written, self._written = self._written, {}
        news = [message for turn in written.values() for message in self._news(turn)]
        if news:
            self._link.send(news)

    def _news(self, turn: RunningTurn) -> list[FromWorkerMessage]:
        """Give what a turn has written and done since it was asked last; what it wrote is noted."""
        session, turn_id = turn.request.session, turn.request.turn
        news: list[FromWorkerMessage] = []
        text, lines = turn.take_output(), turn.take_lines()
        if text:
            output = TurnOutput(session=session, turn=turn_id, text=text)
            self._journal.keep(output)
            news.append(output)
        if lines:
            news.append(TurnActivity(session=session, turn=turn_id, lines=lines))
        return news
