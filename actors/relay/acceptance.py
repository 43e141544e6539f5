"""The prompts that come to a session: stored, answered, and then given to its turns."""

from collections.abc import Callable
from typing import Any

from showcaller.actors.contract.errors import Code
from showcaller.actors.relay import turn_signals as signals
from showcaller.actors.relay.messages import Accepted, Prompt
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import CheckedTooEarly, refusal_of
from showcaller.actors.relay.replies import Reply, answer, answer_all
from showcaller.actors.relay.session_answers import is_working
from showcaller.actors.relay.session_tags import ForPrompt
from showcaller.actors.relay.turn_records import (
    may_join_a_turn,
    prompt_command,
    waiting_message,
    wake_command,
)
from showcaller.actors.relay.turns import Turns
from showcaller.actors.relay.watch_messages import WakeUp
from showcaller.store.batch import Answer


class Acceptance:
    """The prompts of one session that are being stored; who sent one is answered once it is."""

    def __init__(
        self, session: str, ports: Ports, turns: Turns, write: Callable[[str, dict[str, Any], Any], None]
    ) -> None:
        self._session = session
        self._ports = ports
        self._turns = turns
        self._write = write
        self._accepting: dict[str, Reply] = {}

    def __len__(self) -> int:
        """How many are being stored."""
        return len(self._accepting)

    def __contains__(self, message: str) -> bool:
        """Whether this one is being stored."""
        return message in self._accepting

    def answer_all(self, error: Exception) -> None:
        """Give this to all who wait for an answer."""
        answer_all(self._accepting.values(), error)

    def accept(self, prompt: Prompt, reply: Reply, new_session: dict[str, Any] | None = None) -> None:
        """Have a prompt stored; the first one of a session with that."""
        if prompt.mode_then is not None and prompt.mode_then != self._turns.row["mode"]:
            answer(reply, CheckedTooEarly())
            return
        is_busy = prompt.only_if_idle and self._is_busy()
        hand_over = None if self._accepting else self._turns.promise(_waiting(prompt))
        command = prompt_command(prompt, self._session, new_session, hand_over, is_busy=is_busy)
        self._accepting[prompt.row["id"]] = reply
        self._write(*command, ForPrompt(prompt, self._turns.state.stops, is_busy))

    def wake(self, wake: WakeUp, reply: Reply) -> None:
        """Have stored what has left for the session, with what its watcher keeps from now on."""
        prompt = wake.prompt
        may_begin = not self._accepting and wake.extends is None
        hand_over = self._turns.promise(_waiting(prompt)) if may_begin else None
        self._accepting[prompt.row["id"]] = reply
        tag = ForPrompt(prompt, self._turns.state.stops, extends=wake.extends)
        self._write(*wake_command(wake, self._session, hand_over), tag)

    def _is_busy(self) -> bool:
        state = self._turns.state
        return state.works or bool(state.queue) or bool(self._accepting)

    def accepted(self, tag: ForPrompt, stored: Answer) -> None:
        """The store has answered to a prompt."""
        prompt = tag.prompt
        reply = self._accepting.pop(prompt.row["id"])
        refusal = refusal_of(stored)
        if refusal is not None:
            busy = tag.is_busy and refusal.code is Code.QUEUE_LIMIT
            answer(reply, is_working(self._session, "Nothing was sent.") if busy else refusal)
            self._turns.step(signals.NotStored(prompt.row["id"]))
            return
        if tag.extends is not None:
            self._turns.extended(tag.extends, prompt.row["text"])
            answer(reply, Accepted(self._session, tag.extends))
            return
        first = stored.value.get("duplicate")
        if first is not None:
            answer(reply, Accepted(stored.value["session"], first, duplicate=True))
            self._turns.step(signals.NotStored(prompt.row["id"]))
            return
        if prompt.listener is not None:
            self._turns.listeners.add_ref(prompt.row["id"], prompt.listener)
        handed = "event" in stored.value
        answer(reply, Accepted(self._session, prompt.row["id"], handed=handed))
        steers = prompt.item is None and may_join_a_turn(
            prompt.row, self._turns.row, self._turns.mode, self._ports.providers
        )
        self._turns.step(signals.Stored(_waiting(prompt), tag.stops, steers, handed))


def _waiting(prompt: Prompt) -> signals.Waiting:
    return waiting_message(prompt.row)._replace(is_attempt=prompt.item is not None)
