"""What a session is ordered to do with its queue or itself: stop, go on, change, be killed or put away."""

from collections.abc import Callable
from typing import Any, Literal

from showcaller.actors.contract.worker import KillAgent
from showcaller.actors.relay import turn_effects
from showcaller.actors.relay import turn_signals as signals
from showcaller.actors.relay.acceptance import Acceptance
from showcaller.actors.relay.background import Background
from showcaller.actors.relay.messages import (
    Archive,
    Delete,
    GoOn,
    Kill,
    Repeated,
    Stopped,
    StopRunning,
    WriteId,
)
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_of
from showcaller.actors.relay.replies import Reply, answer, answer_all
from showcaller.actors.relay.session_answers import is_working, put_away_answer, stop_answer, write_id
from showcaller.actors.relay.session_tags import ForPutAway, ForRelease, ForStop, ForUpdate
from showcaller.actors.relay.turns import Turns
from showcaller.actors.relay.update_messages import Update, Updated
from showcaller.store.batch import Answer

PUT_AWAY = frozenset({"missing", "archived"})
ENDABLE = frozenset({"handing", "running", "stopping"})
Asking = ForStop | ForRelease | ForPutAway | ForUpdate


class Orders:
    """Carries out the orders of one session; who gave one is answered once what they want is stored."""

    def __init__(
        self,
        session: str,
        ports: Ports,
        turns: Turns,
        background: Background,
        write: Callable[[str, dict[str, Any], Any], None],
    ) -> None:
        self._session = session
        self._ports = ports
        self._turns = turns
        self._background = background
        self._write = write
        self._asking: dict[int, Reply] = {}  # by the tag of what is being written

    def answer_all(self, error: Exception) -> None:
        """Give this to all who wait for an answer."""
        answer_all(self._asking.values(), error)

    # -- orders ------------------------------------------------------------------------------------

    def stop(self, order: StopRunning | Kill, reply: Reply, *, arriving: int) -> None:
        """Have the turn end and the queue held; ``arriving``: how many messages are being stored."""
        current = self._turns.state.turn
        requested = order.cut or (current is not None and current.phase in ENDABLE)
        if isinstance(order, Kill):
            requested = requested or bool(self._background.running)
        others = bool(arriving) or bool(self._background)
        effects = self._turns.step(signals.Stop("stopped", others=others))
        if isinstance(order, Kill):
            self._ports.workers.send([KillAgent(session=self._session)])
        stopped = Stopped(requested, len(self._turns.state.queue) + arriving)
        self._hold(order.call, reply, stopped, is_due=turn_effects.CommitHold() in effects)

    def end_running(self, order: StopRunning, reply: Reply, arriving: Acceptance) -> None:
        """Have the turn end as somebody wishes, as its fan-out wishes, or because the relay ends."""
        if order.why == "stopped":
            self.stop(order, reply, arriving=len(arriving))
            return
        state, message = self._turns.state, order.message
        if message is not None and not state.is_under_way(message) and message not in arriving:
            answer(reply, False)
            return
        answer(reply, state.turn is not None)
        effects = self._turns.step(signals.Stop(order.why, message, others=bool(arriving)))
        self.hold_once_more(effects)
        if message is not None and self._turns.state.is_queued(message):
            self._turns.listeners.look_up(message)

    def _hold(self, call: WriteId | None, reply: Reply, stopped: Stopped, *, is_due: bool) -> None:
        tag, at = ForStop(reply, stopped), self._ports.clock.wall()
        named = write_id(call, stopped._asdict())
        if is_due:
            self._ask("hold_queue", {"session": self._session, "at": at, "call": named}, tag)
        elif named is not None:
            self._ask("remember_call", {"call": named, "at": at}, tag)
        else:
            answer(reply, stopped)

    def hold_once_more(self, effects: tuple[turn_effects.Effect, ...]) -> None:
        """Have stored, as the relay closes, that a stop holds the queue, if the store refused that before."""
        if turn_effects.CommitHold() in effects:
            self._hold(None, None, Stopped(requested=False), is_due=True)

    def go_on(self, order: GoOn, reply: Reply) -> None:
        """Let the queue go on; what a stop holds once that is stored; the answer: was anything held?"""
        effects = self._turns.step(signals.GoOn(order.message))
        release = next((effect for effect in effects if isinstance(effect, turn_effects.CommitRelease)), None)
        if release is None:
            answer(reply, False)
        else:
            self._ask("release_queue", {"session": self._session}, ForRelease(reply, release.stops))

    def put_away(self, order: Archive | Delete, reply: Reply) -> None:
        """Archive or delete the session unless it works."""
        if self._turns.state.works or self._background:
            answer(reply, is_working(self._session, "Nothing was changed."))
            return
        is_deleted = isinstance(order, Delete)
        arguments = {
            "session": self._session,
            "at": self._ports.clock.wall(),
            "call": write_id(order.call),
        }
        command = "delete_session" if is_deleted else "archive_session"
        self._ask(command, arguments, ForPutAway(reply, is_deleted))

    def update(self, order: Update, reply: Reply, arriving: Acceptance) -> None:
        """Have settings changed, those that only an idle session takes unless it works."""
        state = self._turns.state
        is_busy = state.works or state.queue or len(arriving) or self._background
        if order.only_if_idle and is_busy:
            answer(reply, is_working(self._session, "Nothing was changed."))
            return
        arguments = {
            "session": self._session,
            "values": order.values,
            "at": self._ports.clock.wall(),
            "place": order.place,
            "only_if_idle": order.only_if_idle,
            "looser": list(order.looser),
            "call": write_id(order.call, {"changed": list(order.changed)}),
        }
        self._ask("update_session", arguments, ForUpdate(reply, order))

    def _ask(self, name: str, arguments: dict[str, Any], tag: Asking) -> None:
        self._asking[id(tag)] = tag.reply
        self._write(name, arguments, tag)

    # -- what the store answers --------------------------------------------------------------------

    def held(self, tag: ForStop, stored: Answer) -> None:
        """The store has answered to holding the queue."""
        self._answer(tag, stop_answer(self._session, stored, tag.stopped))
        if stored.error == "conflict" and stored.value in PUT_AWAY:  # there is no queue any more to hold
            self._turns.step(signals.Released(self._turns.state.stops))
        elif not _is_done(stored):
            self._turns.step(signals.HoldFailed())

    def released(self, tag: ForRelease, stored: Answer) -> None:
        """The store has answered to letting the queue go on."""
        self._answer(tag, refusal_of(stored) or True)
        if stored.error is None:
            self._turns.step(signals.Released(tag.stops))

    def put_away_as(self, tag: ForPutAway, stored: Answer) -> Literal["archived", "deleted"] | None:
        """The store has answered to archiving or deleting; gives what the session is now, if it was done."""
        self._answer(tag, put_away_answer(stored))
        if not _is_done(stored):
            return None
        self._turns.step(signals.PutAway())
        return "deleted" if tag.is_deleted else "archived"

    def updated(self, tag: ForUpdate, stored: Answer) -> None:
        """The store has answered to a change of settings: the next turns go by what is stored."""
        refusal = refusal_of(stored)
        if refusal is not None:
            self._answer(tag, refusal)
        elif not _is_done(stored):
            self._answer(tag, Repeated(stored.value["duplicate_result"]))
        else:
            self._turns.row |= tag.order.values
            if tag.order.looser:
                self._turns.tighten(self._turns.row["mode"], tag.order.looser)
            self._answer(tag, Updated(stored.value["group_created"]))

    def _answer(self, tag: Asking, value: Any) -> None:
        self._asking.pop(id(tag), None)
        answer(tag.reply, value)


def _is_done(stored: Answer) -> bool:
    """Tell whether a command was carried out now: not refused, and not remembered from an earlier time."""
    return stored.error is None and "duplicate_result" not in stored.value
