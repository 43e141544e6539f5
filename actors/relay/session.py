"""A session: carries out what ``turn.py`` decides about its messages and its worker's frames."""

import logging
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.worker import StopTurn, TurnEnded, TurnOutput, TurnTaken
from showcaller.actors.relay import turn
from showcaller.actors.relay import turn_signals as signals
from showcaller.actors.relay.at_workers import AtWorkers
from showcaller.actors.relay.in_flight import InFlight
from showcaller.actors.relay.listeners import Listeners, tell_if_alive
from showcaller.actors.relay.messages import (
    Accepted,
    AwaitEnd,
    AwaitStored,
    Fell,
    Glance,
    GoOn,
    Listen,
    Loaded,
    Look,
    MaySleep,
    Prompt,
    StopRunning,
    StoreGone,
    TurnOver,
    Write,
    Written,
)
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_of, storage_refusal
from showcaller.actors.relay.replies import Reply, answer, answer_all
from showcaller.actors.relay.turn_records import (
    end_arguments,
    prompt_command,
    run_turn,
    signal_of,
    waiting_message,
)
from showcaller.actors.relay.turn_state import TurnState
from showcaller.actors.runtime import Actor, ActorDeadError, ActorRef, take_reply

logger = logging.getLogger("showcaller.relay")

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds before what the store refused is tried again


class _ForPrompt(NamedTuple):
    """Tag of a write that accepts a prompt; ``stops`` is what the turn counted when it arrived."""

    prompt: Prompt
    stops: int
    is_busy: bool


class _ForTurn(NamedTuple):
    """Tag of a write about a turn; ``reply`` is the id of the agent's message that ends it, if any."""

    command: str
    message: str
    reply: str | None = None


class _Load(NamedTuple):
    """What an earlier life wrote is stored."""


class _TryAgain(NamedTuple):
    """The pause after a refusal of the store is over."""


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
        self._row: dict[str, Any] = {} if first is None else first[0]
        self._unusable: Exception | None = None
        self._state = TurnState(session)
        self._in_flight = InFlight()
        self._listeners = Listeners()
        self._is_loading = first is None
        self._stash: deque[tuple[Any, Reply]] = deque()  # what came while it was loading
        self._handled = 0
        self._accepting: dict[str, Reply] = {}
        self._pause = FIRST_PAUSE
        self._last_reply: str | None = None

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
            self._accept(prompt, reply, row)
            self._first = None
            return
        if self._fell:
            ref = self.actor_ref
            stored = self._writer.request(AwaitStored())
            stored.add_done_callback(lambda _: tell_if_alive(ref, _Load()))
        else:
            self._load()

    def _load(self) -> None:
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
        else:
            self._handled += 1
            reply = take_reply()
            if self._is_loading:
                self._stash.append((message, reply))
            else:
                self._requested(message, reply)
        self._maybe_sleep()

    def on_stop(self) -> None:
        """Answer those who still wait for a message that stays in the queue."""
        self._listeners.look_up_all()

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
        answer_all(self._accepting.values(), error)
        answer_all((reply for _, reply in self._stash), error)
        self._listeners.look_up_all()

    def _store_gone(self, gone: StoreGone) -> None:
        """End: what is asked of the store gets no answer any more, and a turn's end could not be kept."""
        self._answer_waiting(gone.error)
        if self._in_flight.turn is not None:
            self._ports.workers.send([StopTurn(session=self.id, turn=self._in_flight.turn)])

    # -- requests ----------------------------------------------------------------------------------

    def _requested(self, message: Any, reply: Reply) -> None:
        handle = _REQUESTS.get(type(message))
        if handle is None:
            super().on_receive(message)
            return
        if self._unusable is not None:
            answer(reply, self._unusable)
            return
        try:
            handle(self, message, reply)
        except Exception:
            answer(reply, self._fault())
            raise

    def _accept(self, prompt: Prompt, reply: Reply, new_session: dict[str, Any] | None = None) -> None:
        is_busy = prompt.only_if_idle and self._is_busy()
        command = prompt_command(prompt, self.id, new_session, is_busy=is_busy)
        self._accepting[prompt.row["id"]] = reply
        self._write(*command, _ForPrompt(prompt, self._state.stops, is_busy))

    def _is_busy(self) -> bool:
        return self._state.turn is not None or bool(self._state.queue) or bool(self._accepting)

    def _await_end(self, request: AwaitEnd, reply: Reply) -> None:
        if not self._state.is_under_way(request.message):
            answer(reply, None)
        elif reply is not None:
            self._listeners.add_reply(request.message, reply)

    def _listen(self, request: Listen, reply: Reply) -> None:
        self._listeners.add_ref(request.message, request.listener)
        if not self._state.is_under_way(request.message):
            self._listeners.look_up(request.message)
        answer(reply, None)

    def _stop_running(self, request: StopRunning, reply: Reply) -> None:
        message = request.message
        if message is not None and not self._state.is_under_way(message) and message not in self._accepting:
            answer(reply, False)
            return
        answer(reply, self._state.turn is not None)
        self._step(signals.Stop(request.why, message, accepting=bool(self._accepting)))
        if message is not None and self._state.is_queued(message):
            self._listeners.look_up(message)

    def _look(self, _: Look, reply: Reply) -> None:
        current = self._state.turn
        glance = Glance(
            turn=None if current is None else current.message.id,
            phase=None if current is None else current.phase,
            text=self._in_flight.text,
            queued=tuple(waiting.id for waiting in self._state.queue),
        )
        answer(reply, glance)

    def _go_on(self, _: GoOn, reply: Reply) -> None:
        self._step(signals.GoOn())
        answer(reply, None)

    # -- what comes back ---------------------------------------------------------------------------

    def _loaded(self, loaded: Loaded) -> None:
        if loaded.row is None:
            self._unusable = loaded.error or _no_session(self.id)
        else:
            self._row = loaded.row
            for row in sorted(loaded.row["unfinished"], key=lambda row: row["status"] == "queued"):
                self._take_up(row)
        self._is_loading = False
        while self._stash:
            self._requested(*self._stash.popleft())

    def _take_up(self, row: dict[str, Any]) -> None:
        if row["status"] == "queued":
            self._step(signals.Stored(waiting_message(row), self._state.stops))
            return
        known = self._at_workers.find(self.id, row["id"])
        if known is None:  # it was to be sent when the session failed, and nobody knows whether it was
            logger.error("The store has %s with a worker, but none is known to have it", row["id"])
        else:
            self._in_flight.begin(row["id"])
        self._step(signals.FoundHanded(waiting_message(row), at_worker=known is not None))
        if isinstance(known, TurnEnded):
            self._step(signals.WorkerEnded(known))

    def _written(self, written: Written) -> None:
        tag, answer = written
        if isinstance(tag, _ForPrompt):
            self._accepted(tag, written)
            return
        if answer.error is None:
            self._pause = FIRST_PAUSE
            self._last_reply = tag.reply
        elif answer.error == "storage":
            self._listeners.trouble(tag.message, storage_refusal(answer))
        elif answer.error == "fault" or (answer.error == "conflict" and tag.command != "hand_over"):
            logger.error("%s of %s was not stored: %s", tag.command, tag.message, answer.detail)
        self._step(signal_of(tag.command, tag.message, answer.error))

    def _accepted(self, tag: _ForPrompt, written: Written) -> None:
        prompt, stored = tag.prompt, written.answer
        reply = self._accepting.pop(prompt.row["id"])
        refusal = refusal_of(stored)
        if refusal is not None:
            busy = tag.is_busy and refusal.code is Code.QUEUE_LIMIT
            answer(reply, _is_working(self.id) if busy else refusal)
            return
        first = stored.value.get("duplicate")
        if first is not None:
            answer(reply, Accepted(stored.value["session"], first, duplicate=True))
            return
        if prompt.listener is not None:
            self._listeners.add_ref(prompt.row["id"], prompt.listener)
        answer(reply, Accepted(self.id, prompt.row["id"]))
        self._step(signals.Stored(waiting_message(prompt.row), tag.stops))

    def _taken(self, receipt: TurnTaken) -> None:
        """A worker's receipt changes nothing: that it may have the prompt was stored before it was sent."""

    # -- effects -----------------------------------------------------------------------------------

    def _step(self, event: signals.Input) -> None:
        self._state, effects = turn.step(self._state, event)
        for effect in effects:
            self._carry_out(effect)

    def _carry_out(self, effect: signals.Effect) -> None:
        match effect:
            case signals.CommitHandOver(message):
                at, worker = self._ports.clock.wall(), self._ports.worker
                self._write_turn("hand_over", message.id, worker=worker, at=at)
            case signals.SendRun(message):
                self._send_run(message)
            case signals.SendStop(message_id):
                self._ports.workers.send([StopTurn(session=self.id, turn=message_id)])
            case signals.CommitTakeBack(message_id):
                self._write_turn("take_back", message_id)
            case signals.CommitCancel(message_id):
                self._write_turn("cancel_message", message_id, at=self._ports.clock.wall())
            case signals.CommitEnd(end):
                self._commit_end(end)
            case signals.Announce(end):
                self._turn_is_over()
                self._listeners.over(TurnOver(self.id, end.turn, end, self._last_reply))
            case signals.LookUp(message_id):
                self._turn_is_over()
                self._listeners.look_up(message_id)
            case signals.AskAgainLater():
                self.actor_ref.tell_after(self._pause, _TryAgain())
                self._pause = min(self._pause * 2, LONGEST_PAUSE)

    def _send_run(self, message: signals.Waiting) -> None:
        self._in_flight.begin(message.id)
        self._at_workers.begin(self.id, message.id)  # before it is sent: its end may come at once
        try:
            self._ports.workers.send([run_turn(self._row, message)])
        except Exception:
            self._at_workers.forget(self.id)  # whether a worker has it is not known any more
            raise

    def _turn_is_over(self) -> None:
        self._in_flight.end()
        self._at_workers.forget(self.id)

    def _write(self, name: str, arguments: dict[str, Any], tag: Any) -> None:
        tell_if_alive(self._writer, Write(name, arguments, self.actor_ref, tag))  # else StoreGone comes

    def _write_turn(self, command: str, message: str, **arguments: Any) -> None:
        self._write(command, {"message": message, **arguments}, _ForTurn(command, message))

    def _commit_end(self, end: TurnEnded) -> None:
        reply = self._ports.new_id("msg_") if end.reply else None
        arguments = end_arguments(end, reply, self._ports.clock.wall())
        self._write("end_turn", arguments, _ForTurn("end_turn", end.turn, reply))

    # -- sleep -------------------------------------------------------------------------------------

    def _maybe_sleep(self) -> None:
        """Ask to be put to sleep when nothing is under way; the supervisor knows whether mail is."""
        if self._state.may_sleep and not self._accepting and not self._is_loading:
            self._supervisor.tell(MaySleep(self.id, self._handled, self.actor_ref))


_FROM_BELOW: dict[type, Callable[[Session, Any], None]] = {
    Written: Session._written,
    TurnEnded: lambda session, end: session._step(signals.WorkerEnded(end)),
    TurnOutput: lambda session, output: session._in_flight.add(output),
    TurnTaken: Session._taken,
    _Load: lambda session, _: session._load(),
    Loaded: Session._loaded,
    StoreGone: Session._store_gone,
    _TryAgain: lambda session, _: session._step(signals.TryAgain()),
}

_REQUESTS: dict[type, Callable[[Session, Any, Reply], None]] = {
    Prompt: Session._accept,
    AwaitEnd: Session._await_end,
    Listen: Session._listen,
    StopRunning: Session._stop_running,
    Look: Session._look,
    GoOn: Session._go_on,
}


def _no_session(session: str) -> Refusal:
    return Refusal(Code.NOT_FOUND, f"There is no session {session}.", missing=[session])


def _is_working(session: str) -> Refusal:
    return Refusal(Code.BUSY, f"Session {session} is working. Nothing was sent.")
