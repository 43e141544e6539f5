"""The relay's supervisor: starts the parts, recovers what was left, and knows who is awake."""

import logging
from dataclasses import replace
from typing import Any, NamedTuple

from showcaller.actors.contract.agent_messages import AgentState, CardAsked, CardWithdrawn
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    TaskEnded,
    TaskStarted,
    TurnEnded,
    TurnReturned,
    TurnTaken,
)
from showcaller.actors.relay.at_workers import AtWorkers
from showcaller.actors.relay.card_messages import AgentsShutOut
from showcaller.actors.relay.courier import ByCourier, Courier
from showcaller.actors.relay.directory import Directory
from showcaller.actors.relay.falls import Falls
from showcaller.actors.relay.fanout import Fanout
from showcaller.actors.relay.fanout_messages import FanoutOver, FanoutRequest, LeaveFanout, StopFanout
from showcaller.actors.relay.fanout_provider import check_prompted
from showcaller.actors.relay.keepers import Keepers
from showcaller.actors.relay.listeners import tell_if_alive
from showcaller.actors.relay.log_reading import Bell
from showcaller.actors.relay.messages import (
    AwaitReady,
    AwaitStored,
    Close,
    CreateSession,
    FallAsleep,
    Fell,
    Identity,
    IfAwake,
    LookFacts,
    MaySleep,
    StopRunning,
    StoreGone,
    ToSession,
    Wake,
)
from showcaller.actors.relay.ports import FromWorkers, Ports
from showcaller.actors.relay.recovery import Recover, Recovered, Recovery
from showcaller.actors.relay.replies import Reply, answer, answer_all
from showcaller.actors.relay.session import Session
from showcaller.actors.relay.writer import WRITER, start_writer
from showcaller.actors.relay.writer_ledger import Ledger
from showcaller.actors.runtime import Actor, ActorRef, GetChild, Terminated, hand_on, take_reply

logger = logging.getLogger("showcaller.relay")

STORE_GONE = (
    "The part of this relay that stores has failed for good; its log says why. What was under way may be "
    "stored or not: close the relay and open it again to see."
)


class _WriterUp(NamedTuple):
    """The writer runs."""

    writer: ActorRef[Any]


WAKES = TaskStarted | TaskEnded | CardAsked
"""What workers tell that a session which is not awake must see to."""


class Supervisor(Actor):
    """The root of a relay. Ask it ``AwaitReady`` before the first call; what comes earlier waits."""

    registered = False

    def __init__(self, ports: Ports, incarnation: str) -> None:
        super().__init__()
        self._ports = ports
        self.directory = Directory()
        self._at_workers = AtWorkers()
        self._falls = Falls()
        self._sent: dict[str, int] = {}
        # Awake with nothing to do, those first that are so longest.
        self._resting: dict[str, ActorRef[Any]] = {}
        self._fanouts: dict[str, ActorRef[Any]] = {}
        self._stash: list[tuple[Any, Reply]] | None = []
        self._failed: Exception | None = None
        self._identity: Identity | None = None
        self._ledger = Ledger(incarnation)
        self._writer: ActorRef[Any] | None = None
        self._recovery: ActorRef[Any] | None = None
        self._bell = Bell()
        self._closing: list[Reply] | None = None

    def on_start(self) -> None:
        """Start the writer, connect the workers, and recover."""
        workers = self._ports.workers
        workers.connect(self._deliver)
        courier = Courier.start(workers, self._deliver)
        self._ports = replace(self._ports, workers=ByCourier(courier, workers))
        self.keepers = Keepers(self._ports, self._bell, self.actor_ref)
        if self._ports.writer is None:
            Recovery.start(self._ports, None, self.actor_ref).tell(Recover())
            return
        ref = self.actor_ref
        started = start_writer(self._ports.writer, self._ledger, self._bell).request(GetChild(WRITER))
        started.add_done_callback(lambda done: tell_if_alive(ref, _WriterUp(done.get())))

    def _writer_up(self, up: _WriterUp) -> None:
        self._writer = up.writer
        self.watch(up.writer)
        self._recovery = Recovery.start(self._ports, up.writer, self.actor_ref)
        self._recovery.tell(Recover())

    def _deliver(self, messages: FromWorkers) -> None:
        """Take what workers send, on the link's thread, straight to the sessions.

        What may not be lost is kept before its session is looked for: one that is woken after that finds it.
        """
        for message in messages:
            if isinstance(message, TurnTaken):
                continue  # that a worker may have the prompt was stored before it was sent
            self._keep(message)
            ref = self.directory.find(message.session)
            if ref is not None:
                tell_if_alive(ref, message)
                continue
            if isinstance(message, AgentState):
                continue  # a process may outlast what its session has to do
            level = logging.WARNING if self._closing is None else logging.DEBUG
            logger.log(level, "A worker speaks of %s, which is not awake: %s", message.session, message.kind)
            if isinstance(message, WAKES):
                tell_if_alive(self.actor_ref, ToSession(message.session, Wake()))

    def _keep(self, message: FromWorkerMessage) -> None:
        if isinstance(message, TurnEnded | TurnReturned):
            self._at_workers.over(message)
        elif isinstance(message, TaskStarted | TaskEnded):
            self._at_workers.keep_task(message)
        elif isinstance(message, CardAsked | CardWithdrawn):
            self._at_workers.keep_card(message)
        elif isinstance(message, AgentState):
            self._ports.agents.note(message)

    def on_receive(self, message: Any) -> None:
        """Take one message; see ``messages.py``."""
        if isinstance(message, MaySleep):
            self._may_sleep(message)
        elif isinstance(message, FanoutOver):
            self._fanout_over(message)
        elif isinstance(message, Fell):
            self._fell(message)
        elif isinstance(message, _WriterUp):
            self._writer_up(message)
        elif isinstance(message, Recovered):
            self._recovered(message)
        elif isinstance(message, Terminated):
            self._store_gone(message)
        elif self._stash is not None:
            self._stash.append((message, take_reply()))
        else:
            self._take_safely(message, take_reply())

    def _take_safely(self, message: Any, reply: Reply) -> None:
        """A mistake over one message costs its sender only: with the root all would wait for ever."""
        try:
            self._take(message, reply)
        except Exception as error:
            logger.exception("The supervisor made a mistake over %s", type(message).__name__)
            answer(reply, error)

    def _take(self, message: Any, reply: Reply) -> None:
        if isinstance(message, Close):
            self._close(message, reply)
        elif self._failed is not None:
            answer(reply, self._failed)
        elif self._closing is not None:
            answer(reply, _stopping())
        elif isinstance(message, IfAwake):
            self._if_awake(message, reply)
        elif isinstance(message, AwaitReady):
            answer(reply, self._identity)
        elif self._writer is None:
            answer(reply, Refusal(Code.STORAGE, "This relay is open for reading only: nothing was stored."))
        else:
            self._carry_out(message, reply, self._writer)

    def _carry_out(self, message: Any, reply: Reply, writer: ActorRef[Any]) -> None:
        if isinstance(message, ToSession):
            self._to_session(message, reply, writer)
        elif isinstance(message, CreateSession):
            self._create(message, reply, writer)
        elif isinstance(message, FanoutRequest):
            self._begin_fanout(message, reply, writer)
        elif self.keepers.takes(message):
            self.keepers.take(message, reply, writer)
        elif isinstance(message, AgentsShutOut):
            for session, ref in self.directory.items():
                self._pass_on(session, ref, message, None)
        else:
            answer(reply, TypeError(f"the supervisor takes no {type(message).__name__}"))
            super().on_receive(message)

    # -- sessions ----------------------------------------------------------------------------------

    def _create(self, message: CreateSession, reply: Reply, writer: ActorRef[Any]) -> None:
        first = (message.row, message.prompt, reply)
        session: str = message.row["id"]
        ref = Session.start(session, self._ports, writer, self.actor_ref, self._at_workers, first)
        hand_on(reply, ref)
        self.directory.add(session, ref)

    def _to_session(self, message: ToSession, reply: Reply, writer: ActorRef[Any]) -> None:
        ref = self.directory.find(message.session)
        if ref is None:
            ref = self._wake(message.session, writer)
        self._pass_on(message.session, ref, message.message, reply)

    def _wake(self, session: str, writer: ActorRef[Any]) -> ActorRef[Any]:
        """Start the session's actor, in the place of one that has failed, if any."""
        self._sent.pop(session, None)
        fell = self._falls.has_fallen(session)
        ref = Session.start(session, self._ports, writer, self.actor_ref, self._at_workers, fell=fell)
        self.directory.add(session, ref)
        return ref

    def _if_awake(self, message: IfAwake, reply: Reply) -> None:
        ref = self.directory.find(message.session)
        if ref is None:
            answer(reply, None)
        elif isinstance(message.message, LookFacts) and reply is not None:
            ref.forward(message.message, reply)  # it keeps nobody awake: if it is late, the store knows
        else:
            self._pass_on(message.session, ref, message.message, reply)

    def _pass_on(self, session: str, ref: ActorRef[Any], message: Any, reply: Reply) -> None:
        self._sent[session] = self._sent.get(session, 0) + 1
        self._resting.pop(session, None)
        if reply is None:
            tell_if_alive(ref, message)
        else:
            ref.forward(message, reply)

    def _may_sleep(self, message: MaySleep) -> None:
        """Put a session to sleep unless a message is on its way to it, or rest it in place of another."""
        session, ref = message.session, message.ref
        if self._sent.get(session, 0) != message.handled or self.directory.find(session) is not ref:
            return
        self._falls.forget(session)
        if message.at_once or not self._ports.resting or self._closing is not None:
            self._let_go(session, ref)
            return
        self._resting[session] = ref
        if len(self._resting) > self._ports.resting:
            oldest = next(iter(self._resting))
            self._pass_on(oldest, self._resting[oldest], FallAsleep(), None)

    def _fell(self, fell: Fell) -> None:
        """Wake a session that failed, once, so that its turn gets its end and its queue goes on."""
        session = fell.session
        if self.directory.find(session) is not fell.ref:
            return
        care = self._falls.note(session, self._ports.clock.monotonic())
        logger.error("Session %s has failed; what is done about it: %s", session, care)
        if care == "clear":
            self._at_workers.forget(session)
        if care != "wake" or self._writer is None:
            self._let_go(session, fell.ref)
            return
        ref = self._wake(session, self._writer)
        if self._closing is not None:
            self._pass_on(session, ref, StopRunning("closing"), None)

    def _let_go(self, session: str, ref: ActorRef[Any]) -> None:
        """Forget a session that sleeps or has failed; one that is awake again under its id stays."""
        if self.directory.find(session) is not ref:
            return
        self.directory.remove(session)
        self._sent.pop(session, None)
        self._resting.pop(session, None)
        _ = ref.stop(block=False)
        self._maybe_closed()

    # -- fan-outs ----------------------------------------------------------------------------------

    def _begin_fanout(self, request: FanoutRequest, reply: Reply, writer: ActorRef[Any]) -> None:
        group = request.group
        if group in self._fanouts:
            under_way = (
                f"The fan-out {group} is under way in this relay: wait until it has ended, or stop it."
            )
            answer(reply, Refusal(Code.BUSY, under_way))
            return
        try:
            check_prompted(request.spec, self._ports.providers, self._ports.find_program)
        except Refusal as refusal:
            answer(reply, refusal)
            return
        self._fanouts[group] = Fanout.start(request, self._ports, writer, self.actor_ref)
        answer(reply, self._fanouts[group])

    def _fanout_over(self, over: FanoutOver) -> None:
        if self._fanouts.get(over.group) is over.ref:
            del self._fanouts[over.group]
        self._maybe_closed()

    # -- start and end -----------------------------------------------------------------------------

    def _recovered(self, recovered: Recovered) -> None:
        if self._stash is None:
            return  # the writer's end has settled it
        self._failed = recovered.error
        self._identity = recovered.identity
        if recovered.error is None and self._writer is not None:
            self.keepers.begin(self._writer)
        stash, self._stash = self._stash, None
        for session in recovered.sessions:
            self._take_safely(ToSession(session, Wake()), None)
        for message, reply in stash:
            self._take_safely(message, reply)

    def _store_gone(self, ended: Terminated) -> None:
        """Refuse everything from here on, and let all end who would wait for the writer."""
        logger.error("The writer has ended for good, so nothing can be stored any more: %s", ended.reason)
        self._failed = gone = Refusal(Code.STORAGE, STORE_GONE)
        self._writer = None
        self._ledger.give_up()
        self.keepers.end(gone)
        if self._recovery is not None and self._stash is not None:
            self._recovery.kill()
            self._recovered(Recovered(gone))
        for fanout in self._fanouts.values():
            tell_if_alive(fanout, StoreGone(gone))
        for session, ref in self.directory.items():
            tell_if_alive(ref, StoreGone(gone))
            self._let_go(session, ref)
        self._maybe_closed()

    def _close(self, close: Close, reply: Reply) -> None:
        self._closing = [*(self._closing or []), reply]
        leaves = close.leaves and self._ports.outliving is not None
        self.keepers.end(_stopping())
        for fanout in self._fanouts.values():
            tell_if_alive(fanout, LeaveFanout(_stopping()) if leaves else StopFanout())
        for session, ref in self.directory.items():
            self._pass_on(session, ref, StopRunning("leaving" if leaves else "closing"), None)
        self._maybe_closed()

    def _maybe_closed(self) -> None:
        if not self._closing or len(self.directory) or self._fanouts:
            return
        replies, self._closing = self._closing, []
        if self._writer is None:
            answer_all(replies, None)
        else:
            self._writer.request(AwaitStored()).add_done_callback(lambda _: answer_all(replies, None))


def _stopping() -> Refusal:
    return Refusal(Code.UNAVAILABLE, "This relay is stopping.", retry_after_seconds=5)
