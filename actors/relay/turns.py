"""A session's queue and turn at work: carries out what the state machine of ``turn.py`` decides."""

import logging
from collections.abc import Callable, Collection
from typing import Any, Literal, NamedTuple

from showcaller.actors.contract.agent_entries import AgentEntry
from showcaller.actors.contract.agent_messages import AgentSpec
from showcaller.actors.contract.fates import fate_of
from showcaller.actors.contract.provider_entries import EXTERNAL
from showcaller.actors.contract.worker import (
    FixedCommand,
    RunTurn,
    SteerTurn,
    StopTurn,
    TurnEnded,
    TurnOutput,
    TurnStored,
)
from showcaller.actors.relay import turn, turn_effects
from showcaller.actors.relay import turn_signals as signals
from showcaller.actors.relay.agent_specs import agent_spec
from showcaller.actors.relay.at_workers import AtWorkers
from showcaller.actors.relay.background import Background
from showcaller.actors.relay.in_flight import InFlight
from showcaller.actors.relay.listeners import Listeners
from showcaller.actors.relay.messages import TurnOver
from showcaller.actors.relay.pauses import Pauses
from showcaller.actors.relay.ports import OutlivingWorkers, Ports
from showcaller.actors.relay.refusals import storage_refusal
from showcaller.actors.relay.session_tags import ForTurn
from showcaller.actors.relay.turn_lives import TurnLives
from showcaller.actors.relay.turn_records import (
    TurnCommit,
    found_signals,
    run_turn,
    signal_of,
    turn_command,
    waiting_message,
)
from showcaller.actors.relay.turn_state import TurnState
from showcaller.actors.relay.turn_time import TurnTime
from showcaller.actors.runtime import Timer
from showcaller.store.batch import Answer

logger = logging.getLogger("showcaller.relay")

Writes = Callable[[str, dict[str, Any], Any], None]
Tells = Callable[[float, Any], Timer]


class TryAgain(NamedTuple):
    """To the session itself: the pause after a refusal of the store is over."""


class Turns:
    """The state of a session's turns, and what changes it. ``row`` is the session's, once that is known.

    ``write`` hands the writer a command with a tag; ``tell_after`` tells the session something later. What
    the state machine wants held or released is only given back: those who asked for it write it.
    """

    def __init__(
        self,
        session: str,
        ports: Ports,
        at_workers: AtWorkers,
        background: Background,
        write: Writes,
        tell_after: Tells,
    ) -> None:
        self.row: dict[str, Any] = {}
        self.state = TurnState(session)
        self.in_flight = InFlight()
        self.mode: str | None = None  # in which the last turn that was begun runs, if that is known
        self.ran_item = False  # the last turn was an attempt at a fan-out's item
        self.listeners = Listeners()
        self.lives = TurnLives(lambda turn: turn == self.in_flight.turn or background.has_of(turn))
        self._session = session
        self._ports = ports
        self._at_workers = at_workers
        self._background = background
        self._write = write
        self._tell_after = tell_after
        self._pauses = Pauses()
        self._last_reply: str | None = None
        self._next_run: RunTurn | None = None
        self._worker = ""  # of the turn, and so of what joins it
        self.time = TurnTime(ports, tell_after)

    # -- what comes in -----------------------------------------------------------------------------

    def step(self, event: signals.Input) -> tuple[turn_effects.Effect, ...]:
        """Have the state machine take an input, carry out what follows, and give that."""
        self.state, effects = turn.step(self.state, event)
        for effect in effects:
            self._carry_out(effect)
        return effects

    def take(self, event: signals.Input) -> None:
        """Have the state machine take an input, and carry out what follows."""
        self.step(event)

    def load(self) -> None:
        """Take up what the store tells of an earlier life, as ``row`` has it."""
        self.state = self.state._replace(external=self.row["provider"] == EXTERNAL)
        rows = self.row["unfinished"]
        if self.row["held_at"] is not None or (not self._ports.takes_up and any(map(_waits, rows))):
            self.step(signals.FoundHeld())  # the latter only here: until somebody prompts the session
        for row in rows:
            if row["status"] == "handed" and row["steered_into"] is None:
                self._take_up(row, [joined for joined in rows if joined["steered_into"] == row["id"]])
        for row in rows:
            if row["status"] == "queued":
                self._take_up(row, [])

    def _take_up(self, row: dict[str, Any], joined: list[dict[str, Any]]) -> None:
        stands = None
        if row["status"] == "handed":
            self._worker = row["worker"]
            self.mode = row["mode"] or self.row["mode"]
            stands = self._how_it_stands(row)
        if stands is not None:
            self.in_flight.begin(row["id"])
        for event in found_signals(row, joined, at_worker=stands is not None):
            self.step(event)
        if isinstance(stands, TurnEnded):
            self.step(signals.WorkerEnded(stands))
        elif stands == "untaken":
            self.returned(row["id"])
        elif stands == "running":
            self._watch_time(row["id"], row["handed_at"], is_attempt=row["fanout"] is not None)

    def _how_it_stands(self, row: dict[str, Any]) -> TurnEnded | Literal["running", "untaken"] | None:
        """Tell how a turn stands that the store has with a worker; None when nobody knows."""
        known = self._at_workers.find(self._session, row["id"])
        if known is not None:
            return known
        outliving = self._ports.outliving
        stands = None if outliving is None else self._ask_again(row, outliving)
        if stands is None:  # it was to be sent when the session failed, or its worker is gone
            logger.error("The store has %s with a worker, but none is known to have it", row["id"])
        return stands

    def _ask_again(
        self, row: dict[str, Any], outliving: OutlivingWorkers
    ) -> TurnEnded | Literal["running", "untaken"] | None:
        self._at_workers.begin(self._session, row["id"])  # before it is asked: its end may come at once
        if outliving.ask_again(self._run_turn(waiting_message(row), row["worker"])):
            return "running"
        self._at_workers.forget(self._session)
        fate = fate_of(row["id"], outliving.left_by(row["worker"]))
        return None if fate == "unknown" else fate

    def returned(self, turn_id: str) -> None:
        """No worker has had this turn, nor will."""
        if self.in_flight.turn == turn_id:
            self._turn_is_over(turn_id)
            self.step(signals.Returned(turn_id))

    def wrote(self, output: TurnOutput) -> None:
        """The turn has written a piece of its reply."""
        self.in_flight.add(output)

    def tighten(self, mode: str, looser: Collection[str]) -> None:
        """Have what waits in the queue with one of these looser modes run in this one, as it is stored."""
        queue = (each._replace(mode=mode) if each.mode in looser else each for each in self.state.queue)
        self.state = self.state._replace(queue=tuple(queue))

    def extended(self, message: str, text: str) -> None:
        """A message that waits has another text from now on, as is stored."""
        if self._next_run is not None and self._next_run.turn == message:
            self._next_run = self._next_run.model_copy(update={"text": text})
        self.step(signals.Extended(message, text))

    def answer_waiting(self) -> None:
        """Tell all who wait for an end, or for what is written, that nothing more comes of it here."""
        self.listeners.look_up_all()
        self.in_flight.tell_all()
        self.lives.tell_nothing()

    def written(self, tag: ForTurn, answer: Answer) -> None:
        """The store has answered a command about a turn."""
        if answer.error is None:
            self._pauses.over()
            self._last_reply = tag.reply
        elif answer.error == "storage":
            self.listeners.trouble(tag.message, storage_refusal(answer))
        elif answer.error == "fault" or (answer.error == "conflict" and tag.command in UNEXPECTED):
            logger.error("%s of %s was not stored: %s", tag.command, tag.message, answer.detail)
        self.step(signal_of(tag.command, tag.message, answer.error))

    # -- effects -----------------------------------------------------------------------------------

    def _carry_out(self, effect: turn_effects.Effect) -> None:
        match effect:
            case turn_effects.CommitHandOver(message) | turn_effects.CommitContinuation(message):
                self._prepare(effect, message)
            case turn_effects.SendRun(message):
                self._send_run(message)
            case turn_effects.SendStop(message_id):
                self._ports.workers.send([StopTurn(session=self._session, turn=message_id)])
            case turn_effects.SendSteer(message, turn_id):
                steer = SteerTurn(session=self._session, turn=turn_id, message=message.id, text=message.text)
                self._ports.workers.send([steer])
            case turn_effects.Announce(end, is_answered):
                self._announce(end, is_answered=is_answered)
            case turn_effects.LookUp(message_id):
                self._turn_is_over(message_id)
                self.listeners.look_up(message_id)
            case turn_effects.AskAgainLater():
                self._tell_after(self._pauses.next(), TryAgain())
            case turn_effects.CommitEnd():
                self._commit_end(effect)
            case turn_effects.CommitHold() | turn_effects.CommitRelease():
                pass
            case _:
                self._commit(effect)

    def _announce(self, end: TurnEnded, *, is_answered: bool) -> None:
        if self._turn_is_over(end.turn):
            self._ports.workers.send([TurnStored(session=self._session, turn=end.turn)])
        reply = self._last_reply if is_answered else None
        self.listeners.over(TurnOver(self._session, end.turn, end, reply, bool(self._background)))

    def promise(self, message: signals.Waiting) -> dict[str, Any] | None:
        """Promise the next turn to a message that is about to be stored, if nothing else is to be done.

        Gives what is stored with it about its hand-over. What cannot be made for its worker now is found out
        once more when its turn begins, and has its end then.
        """
        worker = self._ports.worker_of(self._session) if self.state.is_free else None
        if worker is None:
            return None
        try:
            run = self._run_turn(message, worker)
        except Exception:  # noqa: BLE001 - it is stored all the same, and logged when its turn begins
            return None
        self._worker, self._next_run = worker, run
        self.step(signals.Arrives(message.id))
        return {"worker": worker, "at": self._ports.clock.wall()}

    def _prepare(
        self, effect: turn_effects.CommitHandOver | turn_effects.CommitContinuation, message: signals.Waiting
    ) -> None:
        """Make what the worker will get before the hand-over is stored: what cannot be made never runs."""
        worker = self._ports.worker_of(self._session)
        if worker is None:
            self.step(signals.HandOverFailed(message.id))
            return
        self._worker = worker
        try:
            self._next_run = self._run_turn(message, worker)
        except Exception:
            logger.exception("Message %s cannot be handed to any worker", message.id)
            self.step(signals.HandOverRefused(message.id, faulty=True))
            return
        self._commit(effect)

    def _run_turn(self, message: signals.Waiting, worker: str) -> RunTurn:
        besides = self._ports.agent_variables(self._session, message.id)
        entry = self._ports.providers.agent_of(self.row["provider"])
        agent = None if entry is None else self._agent(entry, message)
        row = self.row
        if agent is not None and agent.clone is not None:
            row = {**row, "cwd": self._ports.clones.folder(self._session)}
        return run_turn(row, message, worker, besides, agent, self._command())

    def _command(self) -> FixedCommand | None:
        entry = self._ports.providers.find(self.row["provider"])
        if entry is None or entry.fixed is None:
            return None
        return FixedCommand(arguments=entry.fixed.command, environment=entry.fixed.environment)

    def _agent(self, entry: AgentEntry, message: signals.Waiting) -> AgentSpec:
        ports, settings = self._ports, self._ports.settings
        return agent_spec(
            entry, self.row, message, ports.agent_door, settings.allowed_folders, settings.clone_hosts
        )

    def opening(self, turn_id: str, worker: str) -> RunTurn:
        """Give what has a worker open the agent's conversation in a new process, and prompt nothing."""
        return self._run_turn(signals.Waiting(turn_id, ""), worker).model_copy(update={"opens": True})

    def _commit_end(self, effect: turn_effects.CommitEnd) -> None:
        self._commit(effect, self._ports.new_id("msg_") if effect.end.reply else None)

    def _commit(self, effect: TurnCommit, reply: str | None = None) -> None:
        at = self._ports.clock.wall()
        command = turn_command(effect, self._session, self._worker, at, reply)
        self._write(command.name, command.arguments, ForTurn(command.name, command.message, reply))

    def _send_run(self, message: signals.Waiting) -> None:
        run = self._next_run
        assert run is not None
        assert run.turn == message.id
        named = {"model": message.model, "effort": message.effort, "mode": message.mode}
        self.row |= {name: value for name, value in named.items() if value is not None}
        self.mode = self.row["mode"]
        self.ran_item = message.is_attempt
        self.in_flight.begin(message.id)
        self._at_workers.begin(self._session, message.id)  # before it is sent: its end may come at once
        self._ports.workers.send([run])
        self._watch_time(message.id, self._ports.clock.wall(), is_attempt=message.is_attempt)

    def _watch_time(self, turn_id: str, since: int, *, is_attempt: bool) -> None:
        """Have a turn end that takes too long; a fan-out sees to its attempts itself."""
        if not is_attempt:
            self.time.begin(turn_id, since)

    def _turn_is_over(self, message: str) -> bool:
        """Forget the turn of this message, if that is the one at a worker; tell whether it was."""
        if message != self.in_flight.turn:
            return False
        self.in_flight.end()
        self._at_workers.forget(self._session)
        self.time.over()
        return True


UNEXPECTED = frozenset({"take_back", "end_turn", "end_queued", "steer_taken", "unsteer_message"})
"""Commands that no conflict should meet; the others lose a race against whoever empties the queue."""


def _waits(row: dict[str, Any]) -> bool:
    """Tell whether a prompt waits in the queue, and not for a fan-out."""
    return row["status"] == "queued" and row["fanout"] is None
