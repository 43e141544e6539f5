"""One session's place for an agent: which process runs its turns, and when there is another."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from showcaller.actors.contract.agent_messages import AgentSpec, AgentState, ResumedVia
from showcaller.actors.contract.worker import FromWorkerMessage, RunTurn
from showcaller.transport.worker import clone_folder
from showcaller.transport.worker.acp.agent import Agent, Prompted, key_of
from showcaller.transport.worker.acp.ends import TurnResult
from showcaller.transport.worker.acp.handshake import StartError
from showcaller.transport.worker.acp.restarts import Restarts
from showcaller.transport.worker.cloning import Cloning, NotClonedError
from showcaller.transport.worker.providers import Result, Sink


class Terms(NamedTuple):
    """What all seats have in common; see ``Seats``."""

    post: Callable[[FromWorkerMessage], None]
    environment: Callable[[], Mapping[str, str]]
    leaders: set[int]
    idle: float
    handshake: float
    line_limit: int
    cloning: Cloning


class _Halt:
    """Whether a turn is to end, and whom that concerns."""

    def __init__(self, sink: Sink) -> None:
        self._grace = sink.grace
        self.asked = asyncio.Event()
        self._agent: Agent | None = None
        sink.on_halt(self._ask)

    @property
    def is_asked(self) -> bool:
        """Whether the turn is to end."""
        return self.asked.is_set()

    def concerns(self, agent: Agent) -> None:
        """Have this agent halted with the turn, at once if that is to end already."""
        self._agent = agent
        if self.is_asked:
            agent.halt(self._grace)

    async def within(self, seconds: float) -> None:
        """Wait until the turn is to end, at most so long."""
        try:
            async with asyncio.timeout(seconds):
                await self.asked.wait()
        except TimeoutError:
            pass

    def _ask(self) -> None:
        self.asked.set()
        if self._agent is not None:
            self._agent.halt(self._grace)


class Seat:
    """Runs a session's turns, one after the other. On one event loop; not thread-safe."""

    def __init__(self, session: str, terms: Terms) -> None:
        self.agent: Agent | None = None
        self._session = session
        self._terms = terms
        self._loop = asyncio.get_running_loop()
        self._lock = asyncio.Lock()
        self._native: str | None = None
        self._is_told = False
        self._restarts = Restarts()
        self._sleep: asyncio.TimerHandle | None = None
        self.idle_since = self._loop.time()
        self._leaving: set[asyncio.Task[None]] = set()

    async def run(self, turn: RunTurn, sink: Sink) -> Result:
        """Run one turn to its end."""
        if turn.agent is None:
            return Result(error_text="nothing says how its agent is run")
        halt = _Halt(sink)
        async with self._lock:
            self._stay_awake()
            try:
                return await self._run(turn, turn.agent, sink, halt)
            except asyncio.CancelledError:  # given up: the agent may still be at it
                self.kill()
                raise
            finally:
                self._rest(turn)

    async def _run(self, turn: RunTurn, spec: AgentSpec, sink: Sink, halt: _Halt) -> Result:
        now = self._loop.time()
        refusal = self._restarts.refusal(now)
        if refusal is not None:
            return Result(error_text=refusal, error_class="other")
        if self._restarts.due_at() > now:
            await halt.within(self._restarts.due_at() - now)
        if halt.is_asked:
            return Result()
        if turn.opens and self.agent is not None:
            self.agent.end(spec.kill_grace, "closed")
        try:
            await self._have_clone(turn, spec, halt)
            agent, via = await self._agent_for(turn, spec, halt)
        except NotClonedError as error:
            return Result(error_text=str(error), error_class="other")
        except StartError as error:
            if error.counts and not halt.is_asked:
                self._restarts = self._restarts.ended(self._loop.time(), str(error))
            return _failed(error.result)
        if turn.opens:
            sink.settle()
            return Result(agent_session=agent.native if agent.is_told else None, resumed_via=via)
        prompted = await self._prompted(agent, turn, spec, sink)
        result = prompted.result
        sink.settle()
        self._native, self._is_told = agent.native, agent.is_told
        if not halt.is_asked:
            self._restarts = self._after(result)
        return Result(
            prompted.reply,
            prompted.is_cut,
            result.error_text,
            result.stop_reason,
            error_class=result.error_class,
            agent_session=agent.native if agent.is_told else None,
            resumed_via=via,
            activity=prompted.activity,
        )

    async def _have_clone(self, turn: RunTurn, spec: AgentSpec, halt: _Halt) -> None:
        """Have the clone there that this session works on, if it does; raises NotClonedError."""
        if spec.clone is not None:
            folder, continues = Path(turn.cwd or ""), spec.resume is not None
            await self._terms.cloning.ensure(spec.clone, folder, halt.asked, continues=continues)

    async def _prompted(self, agent: Agent, turn: RunTurn, spec: AgentSpec, sink: Sink) -> Prompted:
        """Prompt the agent, and keep beside its clone, if it has one, what it has left there unpushed."""
        if spec.clone is None:
            return await agent.prompt(turn, spec, sink)
        folder = Path(turn.cwd or "")
        try:
            clone_folder.keep_state(folder, clone_folder.AT_WORK)
            told = await agent.prompt(turn, spec, sink)
            await self._terms.cloning.note_state(folder)
        except OSError as error:
            why = f"what is known of its clone could not be kept: {error}"
            return Prompted(TurnResult("end", why, "other"))
        return told

    def _after(self, result: TurnResult) -> Restarts:
        """Give what is known of the agent's ends after a turn that nobody has ended."""
        if result.stop_reason != "died":
            return Restarts()
        return self._restarts.ended(self._loop.time(), result.error_text or "")

    async def _agent_for(self, turn: RunTurn, spec: AgentSpec, halt: _Halt) -> tuple[Agent, ResumedVia]:
        """Give the agent that runs this turn: the one that is there if it is the right one, else another.

        Raises StartError.
        """
        present = self.agent
        if present is not None:
            is_other = spec.resume is not None and spec.resume != present.native
            if present.takes_prompts and not is_other and present.key == key_of(turn, spec):
                halt.concerns(present)
                return present, "alive"
            present.end(spec.kill_grace, "closed")
            await present.buried()
        known = self._native if self._is_told else None
        resume = spec.resume or known
        required = spec.resume_required or (resume is not None and resume == known)
        agent = await self._started(turn, spec, halt, resume, required=required)
        return agent, agent.via or "new"

    async def _started(
        self, turn: RunTurn, spec: AgentSpec, halt: _Halt, resume: str | None, *, required: bool
    ) -> Agent:
        terms = self._terms
        agent = Agent(
            turn, spec, terms.environment(), terms.leaders, terms.post, self._is_gone, terms.line_limit
        )
        self.agent = agent
        terms.post(agent.state)
        halt.concerns(agent)
        try:
            await agent.open(resume, required=required, seconds=terms.handshake)
        except StartError:
            agent.kill("died")
            await agent.buried()
            raise
        terms.post(agent.state)
        return agent

    # -- its end -----------------------------------------------------------------------------------

    def kill(self) -> None:
        """End the agent's process at once; the next start need not wait."""
        self._restarts = Restarts()
        if self.agent is not None:
            self.agent.kill("killed")

    def close(self) -> None:
        """Let the agent's process end, because the worker does."""
        self._stay_awake()
        if self.agent is not None:
            self.agent.end(self.agent.kill_grace, "closed")

    async def buried(self) -> None:
        """Wait until nothing is left of any process."""
        if self.agent is not None:
            await self.agent.buried()
        if self._leaving:
            await asyncio.wait(self._leaving)

    @property
    def is_idle(self) -> bool:
        """Whether an agent's process waits here for the next turn."""
        return self._sleep is not None and self.agent is not None

    def _rest(self, turn: RunTurn) -> None:
        self.idle_since = self._loop.time()
        if turn.background:
            self._sleep = self._loop.call_later(self._terms.idle, self.fall_asleep)
        elif self.agent is not None:
            self.agent.end(self.agent.kill_grace, "closed")

    def _stay_awake(self) -> None:
        if self._sleep is not None:
            self._sleep.cancel()
            self._sleep = None

    def fall_asleep(self) -> None:
        """Let an idle agent's process end; its conversation goes on in another."""
        if self.agent is not None and self.is_idle:
            self._stay_awake()
            self.agent.end(self.agent.kill_grace, "idle")

    def _is_gone(self, agent: Agent) -> None:
        leaving = self._loop.create_task(agent.buried())
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)
        if self.agent is agent:
            self.agent = None
            told = AgentState(
                session=self._session, state="none", agent_session=agent.native, why=agent.why_gone
            )
            self._terms.post(told)


def _failed(result: TurnResult) -> Result:
    return Result(
        error_text=result.error_text, stop_reason=result.stop_reason, error_class=result.error_class
    )
