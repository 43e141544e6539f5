"""What a session's actor tells those who look at it, and those who wait for the end of a message of it."""

from showcaller.actors.relay.background import Background
from showcaller.actors.relay.messages import AwaitEnd, Glance, Listen, Look
from showcaller.actors.relay.replies import Reply, answer
from showcaller.actors.relay.session_cards import SessionCards
from showcaller.actors.relay.turns import Turns


class Looks:
    """Answers looks at one session from what its parts know."""

    def __init__(self, turns: Turns, background: Background, cards: SessionCards) -> None:
        self._turns = turns
        self._background = background
        self._cards = cards

    def look(self, _: Look, reply: Reply) -> None:
        """Say what is under way."""
        state, current = self._turns.state, self._turns.state.turn
        glance = Glance(
            turn=None if current is None else current.message.id,
            phase=None if current is None else current.phase,
            text=self._turns.in_flight.text,
            queued=tuple(waiting.id for waiting in state.queue),
            steered=() if current is None else tuple(waiting.id for waiting in current.steered),
            held=state.held,
            tasks=self._background.running,
            asks=self._cards.asks,
            activity=self._turns.in_flight.activity,
        )
        answer(reply, glance)

    def await_end(self, request: AwaitEnd, reply: Reply) -> None:
        """Answer at the message's end; at once when its turn waits on a card, or no end will come here."""
        if not self._turns.state.is_under_way(request.message) or self._waits_on_card(request.message):
            answer(reply, None)
        elif reply is not None:
            self._turns.listeners.add_reply(request.message, reply)

    def _waits_on_card(self, message: str) -> bool:
        turn = self._turns.state.turn
        if turn is None or not self._cards.asks:
            return False
        return message == turn.message.id or any(message == steered.id for steered in turn.steered)

    def listen(self, request: Listen, reply: Reply) -> None:
        """Tell an actor of a message's end."""
        self._turns.listeners.add_ref(request.message, request.listener)
        if not self._turns.state.is_under_way(request.message):
            self._turns.listeners.look_up(request.message)
        answer(reply, None)
