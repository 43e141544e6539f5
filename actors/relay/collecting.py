"""The client of an external conversation waits for what comes to it, and has it stored that it took it."""

from collections.abc import Callable
from typing import Any

from showcaller.actors.relay import turn_signals as signals
from showcaller.actors.relay.messages import AwaitMessage, TakeMessages
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_of
from showcaller.actors.relay.replies import Reply, answer, answer_all
from showcaller.actors.relay.session_tags import ForTaking
from showcaller.actors.relay.turns import Turns
from showcaller.store.batch import Answer


class Collecting:
    """Who waits for a message of one session's queue, and who takes some; no worker gets any of them."""

    def __init__(
        self, session: str, ports: Ports, turns: Turns, write: Callable[[str, dict[str, Any], Any], None]
    ) -> None:
        self._session = session
        self._ports = ports
        self._turns = turns
        self._write = write
        self._waiting: list[tuple[AwaitMessage, Reply]] = []
        self._taking: dict[int, Reply] = {}  # by the tag of what is being written

    def __bool__(self) -> bool:
        """Whether anybody still waits for a message."""
        self._waiting = [(asked, reply) for asked, reply in self._waiting if not _is_over(reply)]
        return bool(self._waiting)

    def await_message(self, asked: AwaitMessage, reply: Reply) -> None:
        """Answer once a message waits that is not one of the known."""
        self._waiting.append((asked, reply))
        self.look()

    def look(self) -> None:
        """Tell those who wait of what waits for them now, if they may have it."""
        state = self._turns.state
        if not self._waiting or state.held:
            return
        queued = {waiting.id for waiting in state.queue}
        told = [entry for entry in self._waiting if queued - entry[0].known]
        self._waiting = [entry for entry in self._waiting if entry not in told]
        answer_all((reply for _, reply in told), value=True)

    def take(self, order: TakeMessages, reply: Reply) -> None:
        """Have it stored that the client has these messages."""
        tag = ForTaking(reply, order.messages)
        self._taking[id(tag)] = reply
        arguments = {"messages": list(order.messages), "at": self._ports.clock.wall()}
        self._write("take_messages", {"session": self._session, **arguments}, tag)

    def taken(self, tag: ForTaking, stored: Answer) -> None:
        """The store has answered to that."""
        self._taking.pop(id(tag), None)
        refusal = refusal_of(stored)
        if refusal is None:
            self._turns.step(signals.Taken(tag.messages))
        answer(tag.reply, refusal)

    def answer_all(self, error: Exception | None) -> None:
        """End all waiting; who had something stored gets the error, if there is one."""
        waiting, self._waiting = self._waiting, []
        answer_all((reply for _, reply in waiting), value=False)
        if error is not None:
            answer_all(self._taking.values(), error)


def _is_over(reply: Reply) -> bool:
    return reply is None or reply.done
