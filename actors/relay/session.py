"""A session: takes requests and its worker's frames, has its prompts stored, and sleeps when it can."""

import logging
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, get_args

from showcaller.actors.contract.agent_messages import AgentState, CardAsked, CardWithdrawn
from showcaller.actors.contract.worker import (
    StopTurn,
    TaskEnded,
    TaskOutput,
    TaskStarted,
    TurnActivity,
    TurnEnded,
    TurnOutput,
    TurnReturned,
    TurnSteered,
)
from showcaller.actors.relay import session_tags as tags
from showcaller.actors.relay import turn_signals as signals
from showcaller.actors.relay.acceptance import Acceptance
from showcaller.actors.relay.agent_conversation import AgentConversation
from showcaller.actors.relay.at_workers import AtWorkers
from showcaller.actors.relay.background import Background, TryTasks
from showcaller.actors.relay.card_messages import OfCards, ToCards
from showcaller.actors.relay.collecting import Collecting
from showcaller.actors.relay.listeners import tell_if_alive
from showcaller.actors.relay.messages import (
    Archive,
    AwaitEnd,
    AwaitMessage,
    AwaitOutput,
    AwaitStored,
    AwaitTurnGone,
    Delete,
    Facts,
    FallAsleep,
    Fell,
    GoOn,
    Kill,
    Listen,
    Loaded,
    Look,
    LookFacts,
    LookTask,
    MaySleep,
    Prompt,
    Restart,
    StopRunning,
    StoreGone,
    TakeMessages,
    Wake,
    Write,
    Written,
)
from showcaller.actors.relay.pauses import Pauses
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.replies import Reply, answer, answer_all
from showcaller.actors.relay.session_answers import facts_of, no_session
from showcaller.actors.relay.session_cards import SessionCards
from showcaller.actors.relay.session_looks import Looks
from showcaller.actors.relay.session_orders import Orders
from showcaller.actors.relay.session_restart import Restarting
from showcaller.actors.relay.turn_records import new_continuation
from showcaller.actors.relay.turn_time import TimeIsUp
from showcaller.actors.relay.turns import TryAgain, Turns
from showcaller.actors.relay.update_messages import Update
from showcaller.actors.relay.watch_messages import WakeUp
from showcaller.actors.runtime import Actor, ActorDeadError, ActorRef, take_reply

logger = logging.getLogger("showcaller.relay")

NO_ANSWER = AwaitEnd | AwaitOutput | AwaitTurnGone | Look | LookTask | FallAsleep
"""What is answered with None by a session that is of no use: the store says more."""


class _Load(NamedTuple):
    """What an earlier life wrote is stored."""


class _LoadAgain(NamedTuple):
    """The pause after the store could not be read is over."""


class Session(Actor):
    """One conversation. It never waits: what it asked for comes back as a message.

    Either ``first`` is given (a new session with its first prompt), or the session is loaded from the
    store when it starts, and what comes meanwhile waits. ``fell``: an earlier life of it failed, and what
    that one wrote is let through first.
    """

    registered = False

    def __init__(
        self,
        session: str,
        ports: Ports,
        writer: ActorRef[Any],
        supervisor: ActorRef[Any],
        at_workers: AtWorkers,
        first: tuple[dict[str, Any], Prompt, Reply] | None = None,
        *,
        fell: bool = False,
    ) -> None:
        super().__init__()
        self.id = session
        self._ports = ports
        self._writer = writer
        self._supervisor = supervisor
        self._at_workers = at_workers
        self._first = first
        self._fell = fell
        self._unusable: Exception | None = None
        self._background = Background(session, ports, at_workers, self._write)
        self._turns = Turns(session, ports, at_workers, self._background, self._write, self._tell_after)
        self._acceptance = Acceptance(session, ports, self._turns, self._write)
        self._orders = Orders(session, ports, self._turns, self._background, self._write)
        self._collecting = Collecting(session, ports, self._turns, self._write)
        self._cards = SessionCards(session, ports, at_workers, self._turns, self._write, self._tell_after)
        self._conversation = AgentConversation(session, self._turns, self._write)
        self._restarting = Restarting(session, ports, self._turns, self._background)
        self._looks = Looks(self._turns, self._background, self._cards)
        self._is_loading = first is None
        self._has_loaded = not self._is_loading
        self._stash: deque[tuple[Any, Reply]] = deque()  # what came while it was loading
        self._handled = 0
        self._writes = 0  # commands without an answer yet
        self._task_pauses = Pauses()
        self._load_pauses = Pauses()
        self._looks_again = False  # it could not be loaded, and will be tried again
        self._is_put_away = False
        self._falls_asleep = False

    def on_start(self) -> None:
        """Store the new session, or load the one that was woken."""
        try:
            self._begin()
        except Exception as error:
            self.on_failure(type(error), error, error.__traceback__)  # nobody else does for a failed start
            raise

    def _begin(self) -> None:
        if self._first is not None:
            row, prompt, reply = self._first
            self._turns.row = row
            self._acceptance.accept(prompt, reply, row)
            self._first = None
            return
        if self._fell:
            ref = self.actor_ref
            self._writer.request(AwaitStored()).add_done_callback(lambda _: tell_if_alive(ref, _Load()))
        else:
            self._load()

    def _load(self) -> None:
        self._is_loading, self._looks_again = True, False
        ref = self.actor_ref
        self._ports.reader.read(
            "load_session",
            {"session": self.id},
            lambda value, error: tell_if_alive(ref, Loaded(value, error)),
        )

    def on_receive(self, message: Any) -> None:
        """Take one message; the kinds stand in ``messages.py`` and ``contract/worker.py``."""
        handle = _FROM_BELOW.get(type(message))
        if handle is not None:
            handle(self, message)
        elif type(message) is LookFacts:
            answer(take_reply(), self._facts())
            return
        else:
            self._handled += 1
            reply = take_reply()
            if self._looks_again:
                self._load()  # somebody wants something of it: now is the time
            if self._is_loading:
                self._stash.append((message, reply))
            else:
                self._requested(message, reply)
        self._turns.lives.look()
        self._cards.follow()
        self._maybe_sleep()

    def on_stop(self) -> None:
        """Answer those who still wait for a message in the queue, for one to come, or for what is written."""
        self._turns.answer_waiting()
        self._collecting.answer_all(None)

    def on_failure(self, *_: Any) -> None:
        """Leave nobody waiting after a mistake of ours; the supervisor hears of it before they ask again."""
        tell_if_alive(self._supervisor, Fell(self.id, self.actor_ref))
        self._answer_waiting(self._fault())

    def _fault(self) -> ActorDeadError:
        return ActorDeadError(f"session {self.id} failed; the relay's log says why")

    def _answer_waiting(self, error: Exception) -> None:
        """Give this to who waits for an answer; who waits for an end sees in the store how it stands."""
        if self._first is not None:
            answer(self._first[2], error)
        self._acceptance.answer_all(error)
        self._orders.answer_all(error)
        self._restarting.answer_all(error)
        self._collecting.answer_all(error)
        self._cards.answer_all(error)
        answer_all((reply for _, reply in self._stash), error)
        self._turns.answer_waiting()

    def _store_gone(self, gone: StoreGone) -> None:
        """End: what is asked of the store gets no answer any more, and a turn's end could not be kept."""
        self._answer_waiting(gone.error)
        turn = self._turns.in_flight.turn
        if turn is not None:
            self._ports.workers.send([StopTurn(session=self.id, turn=turn)])

    # -- requests ----------------------------------------------------------------------------------

    def _requested(self, message: Any, reply: Reply) -> None:
        handle = _REQUESTS.get(type(message))
        if handle is None:
            answer(reply, TypeError(f"a session takes no {type(message).__name__}"))
            super().on_receive(message)
            return
        if self._unusable is not None:
            self._refuse(message, reply, self._unusable)
            return
        try:
            handle(self, message, reply)
        except Exception:
            answer(reply, self._fault())
            raise

    def _refuse(self, message: Any, reply: Reply, why: Exception) -> None:
        """Say why this session is of no use; of what became of its messages the store tells."""
        if isinstance(message, StopRunning) and message.why == "closing":
            self._looks_again = False
        answer(reply, None if isinstance(message, NO_ANSWER) else why)

    def _facts(self) -> Facts | None:
        """Tell what never changes, if it is known; of one that was put away the store says since when."""
        known = self._turns.row and self._unusable is None and not self._is_put_away
        return facts_of(self._turns.row) if known else None

    def _fall_asleep(self, _: FallAsleep, reply: Reply) -> None:
        self._falls_asleep = True
        answer(reply, None)

    # -- what the store answers --------------------------------------------------------------------

    def _loaded(self, loaded: Loaded) -> None:
        self._has_loaded = loaded.error is None
        self._looks_again = not self._has_loaded
        self._unusable = loaded.error
        if not self._has_loaded:  # prompts may wait in the store, and nobody else would look
            self._tell_after(self._load_pauses.next(), _LoadAgain())
        elif loaded.row is None or loaded.row["deleted_at"] is not None:
            self._unusable = no_session(self.id)
            self._at_workers.forget_tasks(self.id)
        else:
            self._turns.row = loaded.row
            self._is_put_away = loaded.row["archived_at"] is not None
            self._background.load(loaded.row["tasks"])
            self._turns.load()
            self._cards.load(loaded.row["cards"])
        self._is_loading = False
        while self._stash:
            self._requested(*self._stash.popleft())

    def _written(self, written: Written) -> None:
        self._writes -= 1
        _WRITTEN[type(written.tag)](self, written.tag, written)
        self._collecting.look()

    def _put_away(self, tag: tags.ForPutAway, written: Written) -> None:
        became = self._orders.put_away_as(tag, written.answer)
        self._is_put_away = self._is_put_away or became is not None
        if became == "deleted":
            self._unusable = no_session(self.id)

    def _task_written(self, tag: tags.ForTask, written: Written) -> None:
        became = self._background.written(tag.write, written.answer)
        if became == "again":
            self._tell_after(self._task_pauses.next(), TryTasks())
            return
        self._task_pauses.over()
        if became == "continues":
            self._turns.step(signals.Continue(new_continuation(self._ports.new_id("msg_"))))

    # -- what workers tell -------------------------------------------------------------------------

    def _turn_ended(self, end: TurnEnded) -> None:
        self._conversation.told(end.agent_session)
        if not self._restarting.over(end):
            self._turns.take(signals.WorkerEnded(end))

    def _turn_returned(self, returned: TurnReturned) -> None:
        if not self._restarting.over(returned):
            self._turns.returned(returned.turn)

    def _task_started(self, frame: TaskStarted) -> None:
        if self._has_loaded:  # else it is kept, and found when all is loaded
            self._background.started(frame, self._turns.in_flight.turn)

    def _task_ended(self, frame: TaskEnded) -> None:
        if self._has_loaded:
            self._background.ended(frame)

    def _card_told(self, take: Callable[[Any], None], frame: CardAsked | CardWithdrawn) -> None:
        if self._has_loaded:  # else it is kept, and found when all is loaded
            take(frame)

    # -- writing and waiting -----------------------------------------------------------------------

    def _write(self, name: str, arguments: dict[str, Any], tag: Any) -> None:
        self._writes += 1
        tell_if_alive(self._writer, Write(name, arguments, self.actor_ref, tag))  # else StoreGone comes

    def _tell_after(self, seconds: float, message: Any) -> Any:
        return self.actor_ref.tell_after(seconds, message)

    def _maybe_sleep(self) -> None:
        """Ask to be put to sleep when nothing is under way; the supervisor knows whether mail is."""
        falls_asleep, self._falls_asleep = self._falls_asleep, False
        state = self._turns.state
        if not state.may_sleep or self._writes or self._is_loading or self._looks_again or self._restarting:
            return
        if state.closing or not (
            self._background or self._turns.listeners or self._collecting or self._cards
        ):
            is_over = state.closing or self._is_put_away or self._unusable is not None
            at_once = is_over or falls_asleep or self._turns.ran_item
            self._supervisor.tell(MaySleep(self.id, self._handled, self.actor_ref, at_once))


_FROM_BELOW: dict[type, Callable[[Session, Any], None]] = {
    Written: Session._written,
    TurnEnded: Session._turn_ended,
    AgentState: lambda session, told: session._conversation.told(told.agent_session),
    TurnOutput: lambda session, output: session._turns.wrote(output),
    TurnActivity: lambda session, told: session._turns.in_flight.act(told),
    TurnReturned: Session._turn_returned,
    TurnSteered: lambda session, told: session._turns.take(
        signals.Steered(told.message, told.turn, told.accepted)
    ),
    TaskStarted: Session._task_started,
    TaskOutput: lambda session, output: session._background.wrote(output),
    TaskEnded: Session._task_ended,
    CardAsked: lambda session, frame: session._card_told(session._cards.asked, frame),
    CardWithdrawn: lambda session, frame: session._card_told(session._cards.withdrawn, frame),
    _Load: lambda session, _: session._load(),
    _LoadAgain: lambda session, _: session._load() if session._looks_again else None,
    Loaded: Session._loaded,
    StoreGone: Session._store_gone,
    TryAgain: lambda session, _: session._turns.take(signals.TryAgain()),
    **dict.fromkeys(get_args(OfCards), lambda session, told: session._cards.told(told)),
    TimeIsUp: lambda session, up: session._turns.take(signals.TimeUp(up.turn)),
    TryTasks: lambda session, _: session._background.store(),
}

_REQUESTS: dict[type, Callable[[Session, Any, Reply], None]] = {
    Prompt: lambda session, prompt, reply: session._acceptance.accept(prompt, reply),
    AwaitEnd: lambda session, asked, reply: session._looks.await_end(asked, reply),
    AwaitMessage: lambda session, asked, reply: session._collecting.await_message(asked, reply),
    TakeMessages: lambda session, order, reply: session._collecting.take(order, reply),
    AwaitTurnGone: lambda session, wish, reply: session._turns.lives.await_gone(wish, reply),
    AwaitOutput: lambda session, wish, reply: session._turns.in_flight.await_output(wish, reply),
    Listen: lambda session, asked, reply: session._looks.listen(asked, reply),
    StopRunning: lambda session, order, reply: session._orders.end_running(order, reply, session._acceptance),
    Kill: lambda session, kill, reply: session._orders.stop(kill, reply, arriving=len(session._acceptance)),
    Archive: lambda session, order, reply: session._orders.put_away(order, reply),
    Delete: lambda session, order, reply: session._orders.put_away(order, reply),
    Look: lambda session, look, reply: session._looks.look(look, reply),
    **dict.fromkeys(get_args(ToCards), lambda session, asked, reply: session._cards.requested(asked, reply)),
    FallAsleep: Session._fall_asleep,
    LookTask: lambda session, look, reply: answer(reply, session._background.look(look.task)),
    GoOn: lambda session, order, reply: session._orders.go_on(order, reply),
    Update: lambda session, order, reply: session._orders.update(order, reply, session._acceptance),
    WakeUp: lambda session, wake, reply: session._acceptance.wake(wake, reply),
    Restart: lambda session, order, reply: session._restarting.ask(order, reply),
    Wake: lambda session, _, reply: answer(reply, None),
}

_WRITTEN: dict[type, Callable[[Session, Any, Written], None]] = {
    tags.ForPrompt: lambda session, tag, written: session._acceptance.accepted(tag, written.answer),
    tags.ForTurn: lambda session, tag, written: session._turns.written(tag, written.answer),
    tags.ForTaking: lambda session, tag, written: session._collecting.taken(tag, written.answer),
    tags.ForStop: lambda session, tag, written: session._orders.held(tag, written.answer),
    tags.ForRelease: lambda session, tag, written: session._orders.released(tag, written.answer),
    tags.ForPutAway: Session._put_away,
    tags.ForUpdate: lambda session, tag, written: session._orders.updated(tag, written.answer),
    tags.ForTask: Session._task_written,
    tags.ForConversation: lambda session, tag, written: session._conversation.written(tag, written.answer),
    **dict.fromkeys(tags.OF_CARDS, lambda session, tag, written: session._cards.written(tag, written.answer)),
}
