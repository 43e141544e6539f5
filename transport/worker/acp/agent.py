"""A session's agent: its process, the one conversation in it, and the turn that runs there."""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from acp import schema
from acp.exceptions import RequestError
from acp.meta import AGENT_METHODS

from showcaller.actors.contract.agent_messages import (
    AgentSpec,
    AgentState,
    AnswerCard,
    CloneSource,
    ResumedVia,
    WhyGone,
)
from showcaller.actors.contract.worker import FromWorkerMessage, RunTurn
from showcaller.transport.worker.acp.agent_process import AgentNotStartedError, AgentProcess
from showcaller.transport.worker.acp.cards import OpenCards
from showcaller.transport.worker.acp.ends import TurnResult, end_of_answer, end_of_death, end_of_error
from showcaller.transport.worker.acp.handshake import StartError, greet, start_error
from showcaller.transport.worker.acp.opening import NotOpenedError, open_conversation
from showcaller.transport.worker.acp.options import Offer
from showcaller.transport.worker.acp.peer import AgentPeer, StrangeAnswerError
from showcaller.transport.worker.acp.record import TurnRecord
from showcaller.transport.worker.acp.requests import AgentRequests
from showcaller.transport.worker.acp.servers import servers_for
from showcaller.transport.worker.acp.setting import AgentSetting, NotSetError
from showcaller.transport.worker.acp.stream import LINE_LIMIT
from showcaller.transport.worker.acp.terminals import Terminals
from showcaller.transport.worker.environment import TOKEN_VARIABLE
from showcaller.transport.worker.providers import Sink

HANDSHAKE: Final = 180.0
"""Seconds from the start of a process until its conversation is open."""
TOLD_AGAIN: Final = frozenset({"user_message_chunk", "agent_message_chunk"})
"""The updates by which an agent tells a conversation again that it has loaded."""


class Prompted(NamedTuple):
    """What came of a prompt: its reply, whether that was cut, and what the agent did beside it."""

    result: TurnResult
    reply: str = ""
    is_cut: bool = False
    activity: tuple[str, ...] = ()


class Agent:
    """One process with one conversation, from its start to its end. On one event loop; not thread-safe.

    ``around`` is the environment that stands for the worker's, and ``leaders`` are as ``Child`` takes them.
    ``gone`` is called once when nothing of it is left.
    """

    def __init__(
        self,
        turn: RunTurn,
        spec: AgentSpec,
        around: Mapping[str, str],
        leaders: set[int],
        post: Callable[[FromWorkerMessage], None],
        gone: "Callable[[Agent], None]",
        line_limit: int = LINE_LIMIT,
    ) -> None:
        """Start its process; raises StartError."""
        self.session = turn.session
        self.key = key_of(turn, spec)
        self.native: str | None = None
        self.via: ResumedVia | None = None
        self.is_told = False
        """Whether the conversation has been given a prompt, here or before."""
        self.kill_grace = spec.kill_grace
        self.why_gone: WhyGone = "died"
        self._turn = turn.turn
        self._told = turn.environment
        self._spec = spec
        self._cwd = os.path.abspath(turn.cwd or os.curdir)  # noqa: PTH100 - what links mean is the agent's
        self._post = post
        self._gone = gone
        self._loop = asyncio.get_running_loop()
        self._process = _started(spec, turn, around, leaders, self._is_gone, line_limit)
        self._terminals = Terminals(self._process.start_beside)
        self._cards = OpenCards(post)
        self._requests = AgentRequests(self.session, [self._cwd, *spec.folders], self._cards, self._terminals)
        self._peer = AgentPeer(self._process.stream, self._requests.answer, self._hear)
        self._setting: AgentSetting | None = None
        self._version: str | None = None
        self._record: TurnRecord | None = None
        self._told_again = 0
        self._kill: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_over(self) -> bool:
        """Whether its process has ended."""
        return self._process.is_over

    @property
    def takes_prompts(self) -> bool:
        """Whether its conversation is open, and its process does not end."""
        return self._setting is not None and not self._process.is_ending

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._process.pid

    @property
    def state(self) -> AgentState:
        """How it stands, for the relay."""
        offer = self._setting.offer if self._setting is not None else Offer()
        return AgentState(
            session=self.session,
            state="starting" if self._setting is None else "alive",
            turn=self._turn,
            agent_session=self.native if self.is_told else None,
            models=offer.model.values if offer.model else (),
            modes=offer.modes.values if offer.modes else (),
            efforts=offer.effort.values if offer.effort else (),
            model=offer.model.value if offer.model else None,
            version=self._version,
        )

    # -- its start ---------------------------------------------------------------------------------

    async def open(self, resume: str | None, *, required: bool, seconds: float = HANDSHAKE) -> None:
        """Shake hands and open the conversation; raises StartError.

        With ``resume`` that one is continued; when it cannot be, and is ``required``, nothing else is begun.
        """
        ways_in = ""
        try:
            async with asyncio.timeout(seconds):
                hello = await greet(self._peer)
                self._version, ways_in = hello.version, hello.ways_in
                opened = await open_conversation(
                    self._peer,
                    self._spec,
                    hello.capabilities,
                    self._cwd,
                    servers_for(self._spec, self._told, takes_http=hello.takes_http),
                    resume,
                    required=required,
                    told_again=lambda: self._told_again,
                )
        except ConnectionError as error:
            raise StartError(await self._death()) from error
        except (TimeoutError, NotOpenedError, RequestError, StrangeAnswerError) as error:
            words = self._process.last_words()
            raise start_error(
                self._spec, error, seconds=seconds, ways_in=ways_in, last_words=words
            ) from error
        self.native = self._requests.native = opened.native
        self.via = opened.via
        self.is_told = opened.via != "new"
        self._setting = AgentSetting(self._peer, opened, self._spec.model_option)

    # -- a turn ------------------------------------------------------------------------------------

    async def prompt(self, turn: RunTurn, spec: AgentSpec, sink: Sink) -> Prompted:
        """Give the open agent a prompt; returns what came of it."""
        record = TurnRecord(sink, self._told.get(TOKEN_VARIABLE, ""))
        self._requests.turn = (turn.turn, sink)
        try:
            result = await self._prompted(turn, spec, record)
        finally:
            self._record = None
            self._requests.turn = None
            self._cards.withdraw_all()
            if self._kill is not None:
                self._kill.cancel()
        reply, is_cut = record.said()
        if result.reply is not None:
            reply, is_cut = result.reply, False
        return Prompted(result, reply, is_cut, record.activity())

    async def _prompted(self, turn: RunTurn, spec: AgentSpec, record: TurnRecord) -> TurnResult:
        if self.native is None or self._setting is None:
            raise RuntimeError("an agent is prompted whose conversation is not open")
        try:
            line = await self._setting.set_for(spec)
            lines = [line, None if self.is_told or spec.clone is None else clone_line(spec.clone)]
            words = [*(each for each in lines if each is not None), turn.text]
            blocks = [schema.TextContentBlock(type="text", text=each) for each in words]
            request = schema.PromptRequest(session_id=self.native, prompt=list(blocks))
            self._record = record
            self._is_told_now()
            answer = await self._peer.request(AGENT_METHODS["session_prompt"], request, schema.PromptResponse)
        except RequestError as error:
            return end_of_error(error.code, str(error), error.data, record.said()[0])
        except (NotSetError, StrangeAnswerError) as error:
            return TurnResult("end", str(error), "other")
        except ConnectionError:
            return await self._death()
        return end_of_answer(answer.stop_reason, record.said()[0], record.tools)

    def _is_told_now(self) -> None:
        """Tell the relay, before the prompt goes, which conversation has to be continued from now on."""
        if not self.is_told:
            self.is_told = True
            self._post(self.state)

    def halt(self, grace: float) -> None:
        """Cancel the turn, and end the process with its tree if it has not ended the turn after ``grace``."""
        self._requests.turn = None  # what it asks from now on nobody is shown
        self._cards.withdraw_all()
        if self._record is None or self.native is None:
            self.kill()
            return
        self._kill = self._loop.call_later(grace, self.kill)
        self._begin(self._cancel(schema.CancelNotification(session_id=self.native)))

    async def _cancel(self, cancel: schema.CancelNotification) -> None:
        try:
            await self._peer.notify(AGENT_METHODS["session_cancel"], cancel)
        except ConnectionError:
            self.kill()

    # -- what it says ------------------------------------------------------------------------------

    def answer(self, answer: AnswerCard) -> None:
        """Take what became of a card."""
        self._cards.answer(answer)

    def tell(self) -> None:
        """Tell another relay how it stands, and what it asks."""
        self._post(self.state)
        self._cards.tell_all()

    def _hear(self, method: str, params: dict[str, Any]) -> None:
        if method != "session/update":
            return
        if self._setting is None:
            self._told_again += params["update"].get("sessionUpdate") in TOLD_AGAIN
        elif params.get("sessionId") == self.native:
            update = schema.SessionNotification.model_validate(params).update
            if not self._setting.hear(update) and self._record is not None:
                self._record.take(update)

    # -- its end -----------------------------------------------------------------------------------

    def end(self, grace: float, why: WhyGone) -> None:
        """Let its process end, because nothing runs in it."""
        self.why_gone = why
        self._process.end(grace)

    def kill(self, why: WhyGone = "killed") -> None:
        """End its process at once, with all that it has started."""
        self.why_gone = why
        self._terminals.kill_all()
        self._process.kill()

    async def buried(self) -> None:
        """Wait until nothing of it is left."""
        await self._process.buried()
        await self._terminals.buried()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _is_gone(self) -> None:
        self._terminals.kill_all()
        if self._kill is not None:
            self._kill.cancel()
        self._begin(self._peer.close())
        self._gone(self)

    async def _death(self) -> TurnResult:
        """See its process out, and give what that means for its turn."""
        await self._process.buried()
        return end_of_death(self._process.how_it_ended(), self._process.last_words())

    def _begin(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _started(
    spec: AgentSpec,
    turn: RunTurn,
    around: Mapping[str, str],
    leaders: set[int],
    gone: Callable[[], None],
    line_limit: int,
) -> AgentProcess:
    try:
        return AgentProcess(spec, turn.cwd, around, turn.environment, leaders, gone, line_limit)
    except AgentNotStartedError as error:
        raise StartError(TurnResult("end", str(error), "other"), counts=False) from error


def clone_line(clone: CloneSource) -> str:
    """Give what an agent is told of the clone that it works on, before its first prompt. Pure."""
    branch = "" if clone.branch is None else f", branch {clone.branch}"
    return (
        f"[You work on a fresh clone of {clone.url}{branch} that was made for this session alone. Nobody "
        "sees what stays in it: commit your work and push it to origin before you end your turn, and say "
        "what you have pushed, or why you could not.]"
    )


def key_of(turn: RunTurn, spec: AgentSpec) -> Any:
    """Give what two turns must have in common for the same process to run both. Pure."""
    return spec.command, spec.environment, spec.servers, spec.folders, spec.session_meta, turn.cwd
