"""A session: carries out what ``turn.py`` decides about its messages and its worker's frames."""

import json
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.worker import RunTurn, StopTurn, TurnEnded, TurnOutput, TurnTaken
from showcaller.actors.relay import turn
from showcaller.actors.relay.in_flight import InFlight
from showcaller.actors.relay.messages import (
    Accepted,
    AwaitEnd,
    Glance,
    Listen,
    Loaded,
    Look,
    MaySleep,
    NotUnderWay,
    Prompt,
    StopRunning,
    TurnOver,
    Wake,
    Write,
    Written,
)
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_of
from showcaller.actors.runtime import Actor, ActorRef, Future, take_reply

logger = logging.getLogger("showcaller.relay")

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds before what the store refused is tried again

Hear = Callable[[TurnOver], None]


class _ForPrompt(NamedTuple):
    """Tag of a write that accepts a prompt."""

    prompt: Prompt
    reply: "Future[Any] | None"


class _ForHandOver(NamedTuple):
    """Tag of a write that hands a message over."""

    message: str


class _ForEnd(NamedTuple):
    """Tag of a write that ends a turn."""

    message: str
    reply: str | None


class _TryAgain(NamedTuple):
    """The pause after a refusal of the store is over."""


class Session(Actor):
    """One conversation. It never waits: what it asked for comes back as a message.

    Either ``first`` is given (a new session with its first prompt), or the session is loaded from the
    store when it starts, and what comes meanwhile waits.
    """

    registered = False

    def __init__(
        self,
        session: str,
        ports: Ports,
        writer: ActorRef[Any],
        supervisor: ActorRef[Any],
        first: "tuple[dict[str, Any], Prompt, Future[Any] | None] | None" = None,
    ) -> None:
        super().__init__()
        self.id = session
        self._ports = ports
        self._writer = writer
        self._supervisor = supervisor
        self._first = first
        self._row: dict[str, Any] = {} if first is None else first[0]
        self._state = turn.TurnState(session)
        self._in_flight = InFlight()
        self._listeners: dict[str, list[Hear]] = {}
        self._stash: list[tuple[Any, Future[Any] | None]] | None = None
        self._handled = 0
        self._accepting = 0
        self._pause = FIRST_PAUSE
        self._last_reply: str | None = None
        self._closing = False

    def on_start(self) -> None:
        """Store the new session, or load the one that was woken."""
        if self._first is not None:
            row, prompt, reply = self._first
            self._first = None
            self._accept(prompt, reply, row)
            return
        self._stash = []
        ref = self.actor_ref

        def loaded(value: Any, error: Exception | None) -> None:
            ref.tell(Loaded(value, error))

        self._ports.reader.read("load_session", {"session": self.id}, loaded)

    def on_receive(self, message: Any) -> None:
        """Take one message; the kinds stand in ``messages.py`` and ``contract/worker.py``."""
        if isinstance(message, Written):
            self._written(message)
        elif isinstance(message, TurnEnded):
            self._step(turn.WorkerEnded(message))
        elif isinstance(message, TurnOutput):
            self._in_flight.add(message)
        elif isinstance(message, TurnTaken):
            self._in_flight.begin(message.turn)
        elif isinstance(message, Loaded):
            self._loaded(message)
        elif isinstance(message, _TryAgain):
            self._step(turn.TryAgain())
        else:
            self._handled += 1
            self._requested(message, take_reply())
        self._maybe_sleep()

    # -- requests ----------------------------------------------------------------------------------

    def _requested(self, message: Any, reply: "Future[Any] | None") -> None:
        if self._stash is not None:
            self._stash.append((message, reply))
        elif isinstance(message, Prompt):
            self._accept(message, reply)
        elif isinstance(message, AwaitEnd):
            self._await_end(message.message, reply)
        elif isinstance(message, Listen):
            self._listen(message)
        elif isinstance(message, StopRunning):
            self._closing = self._closing or message.interrupted
            self._answer(reply, self._state.turn is not None)
            self._step(turn.Stop(message.interrupted))
        elif isinstance(message, Look):
            self._answer(reply, self._glance())
        elif isinstance(message, Wake):
            self._answer(reply, None)
        else:
            super().on_receive(message)

    @staticmethod
    def _answer(reply: "Future[Any] | None", value: Any) -> None:
        if reply is None:
            return
        if isinstance(value, Refusal):
            reply.try_set_exception(value)
        else:
            reply.try_set(value)

    def _accept(
        self, prompt: Prompt, reply: "Future[Any] | None", new_session: dict[str, Any] | None = None
    ) -> None:
        if prompt.only_if_idle and self._is_busy():
            self._answer(reply, Refusal(Code.BUSY, f"Session {self.id} is working. Nothing was sent."))
            return
        self._accepting += 1
        arguments: dict[str, Any] = {"message": prompt.row}
        if new_session is not None:
            arguments["session"] = new_session
        else:
            arguments["message"] = {**prompt.row, "session": self.id}
        if prompt.item is not None:
            arguments |= {"group": prompt.item.group, "number": prompt.item.number}
            name = "start_item" if new_session is not None else "retry_item"
        else:
            name = "create_session" if new_session is not None else "accept_message"
        self._write(name, arguments, _ForPrompt(prompt, reply))

    def _is_busy(self) -> bool:
        return self._state.turn is not None or bool(self._state.queue) or self._accepting > 0

    def _await_end(self, message: str, reply: "Future[Any] | None") -> None:
        """Answer at the message's end; None when it is not under way here (look it up in the store)."""
        if not self._is_under_way(message):
            self._answer(reply, None)
        elif reply is not None:
            self._hear(message, reply.try_set)

    def _listen(self, message: Listen) -> None:
        if self._is_under_way(message.message):
            self._hear(message.message, message.listener.tell)
        else:
            message.listener.tell(NotUnderWay(message.message))

    def _hear(self, message: str, hear: "Callable[[TurnOver], object]") -> None:
        self._listeners.setdefault(message, []).append(lambda over: (hear(over), None)[1])

    def _is_under_way(self, message: str) -> bool:
        current = self._state.turn
        return (current is not None and current.message.id == message) or any(
            waiting.id == message for waiting in self._state.queue
        )

    def _glance(self) -> Glance:
        current = self._state.turn
        return Glance(
            turn=None if current is None else current.message.id,
            phase=None if current is None else current.phase,
            text=self._in_flight.text,
            queued=tuple(waiting.id for waiting in self._state.queue),
        )

    # -- what comes back ---------------------------------------------------------------------------

    def _loaded(self, loaded: Loaded) -> None:
        stash, self._stash = self._stash or [], None
        if loaded.row is None:
            missing = loaded.error or _no_session(self.id)
            for _, reply in stash:
                if reply is not None:
                    reply.try_set_exception(missing)
            return
        self._row = loaded.row
        for row in loaded.row["unfinished"]:
            if row["status"] == "queued":
                self._step(turn.Stored(_waiting(row)))
        for message, reply in stash:
            self._requested(message, reply)

    def _written(self, written: Written) -> None:
        tag, answer = written
        if isinstance(tag, _ForPrompt):
            self._accepted(tag, written)
        elif isinstance(tag, _ForHandOver):
            if answer.error is None:
                self._step(turn.HandOverStored(tag.message))
            elif answer.error == "conflict":
                self._step(turn.HandOverRefused(tag.message))
            else:
                self._step(turn.HandOverFailed(tag.message))
        elif isinstance(tag, _ForEnd):
            self._end_written(tag, written)

    def _accepted(self, tag: _ForPrompt, written: Written) -> None:
        self._accepting -= 1
        prompt, reply = tag
        refusal = refusal_of(written.answer)
        if refusal is not None:
            self._answer(reply, refusal)
            return
        first = written.answer.value.get("duplicate")
        if first is not None:
            self._answer(reply, Accepted(written.answer.value["session"], first, duplicate=True))
            return
        if prompt.listener is not None:
            self._hear(prompt.row["id"], prompt.listener.tell)
        self._answer(reply, Accepted(self.id, prompt.row["id"]))
        self._step(turn.Stored(_waiting(prompt.row)))

    def _end_written(self, tag: _ForEnd, written: Written) -> None:
        error = written.answer.error
        if error == "storage":
            self._step(turn.EndFailed(tag.message))
            return
        if error is not None:  # it has its end already, or never can get one: either way it is over
            logger.error("The end of %s was not stored: %s", tag.message, written.answer.detail)
        self._pause = FIRST_PAUSE
        self._last_reply = tag.reply
        self._step(turn.EndStored(tag.message))

    # -- effects -----------------------------------------------------------------------------------

    def _step(self, event: turn.Input) -> None:
        self._state, effects = turn.step(self._state, event)
        for effect in effects:
            self._carry_out(effect)

    def _carry_out(self, effect: turn.Effect) -> None:
        match effect:
            case turn.CommitHandOver(message):
                self._commit_hand_over(message.id)
            case turn.SendRun(message):
                self._ports.workers.send([self._run_turn(message)])
            case turn.SendStop(message_id):
                self._ports.workers.send([StopTurn(session=self.id, turn=message_id)])
            case turn.CommitEnd(end):
                self._commit_end(end)
            case turn.Announce(end):
                self._announce(end)
            case turn.AskAgainLater():
                self.actor_ref.tell_after(self._pause, _TryAgain())
                self._pause = min(self._pause * 2, LONGEST_PAUSE)

    def _write(self, name: str, arguments: dict[str, Any], tag: Any) -> None:
        self._writer.tell(Write(name, arguments, self.actor_ref, tag))

    def _run_turn(self, message: turn.Waiting) -> RunTurn:
        return RunTurn(
            session=self.id,
            turn=message.id,
            provider=self._row["provider"],
            text=message.text,
            item=message.item,
            cwd=self._row.get("cwd"),
            environment={"SHOWCALLER_SESSION": self.id, "SHOWCALLER_TURN": message.id},
            timeout=message.timeout,
        )

    def _commit_hand_over(self, message: str) -> None:
        arguments = {"message": message, "worker": self._ports.worker, "at": self._ports.clock.wall()}
        self._write("hand_over", arguments, _ForHandOver(message))

    def _commit_end(self, end: TurnEnded) -> None:
        reply_id = self._ports.new_id("msg_") if end.reply else None
        reply = {"id": reply_id, "text": end.reply, "truncated": end.truncated} if reply_id else None
        arguments = {
            "message": end.turn,
            "status": end.outcome,
            "stop_reason": end.stop_reason,
            "error_class": end.error_class,
            "error_text": end.error_text,
            "reply": reply,
            "exit_code": end.exit_code,
            "seconds": end.seconds,
            "at": self._ports.clock.wall(),
        }
        self._write("end_turn", arguments, _ForEnd(end.turn, reply_id))

    def _announce(self, end: TurnEnded) -> None:
        self._in_flight.end()
        over = TurnOver(self.id, end.turn, end, self._last_reply)
        for hear in self._listeners.pop(end.turn, ()):
            hear(over)

    # -- sleep -------------------------------------------------------------------------------------

    def _maybe_sleep(self) -> None:
        """Ask to be put to sleep when nothing is under way; the supervisor knows whether mail is."""
        state = self._state
        busy = state.turn is not None or self._accepting or self._stash is not None
        if not busy and (not state.queue or self._closing):  # a stop's hold is not stored: stay awake with it
            self._supervisor.tell(MaySleep(self.id, self._handled))


def _no_session(session: str) -> Refusal:
    return Refusal(Code.NOT_FOUND, f"There is no session {session}.", missing=[session])


def _waiting(row: dict[str, Any]) -> turn.Waiting:
    item = row.get("item")
    return turn.Waiting(
        id=row["id"],
        text=row["text"],
        origin=row["origin"],
        item=None if item is None else json.loads(item),
        timeout=row.get("timeout"),
    )
