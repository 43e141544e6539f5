"""Which calls wait for which approval card of a conversation, and who may take one up again."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from showcaller.actors.relay.card_signals import BoundCall, Card, Ending
from showcaller.actors.relay.replies import Reply

UNCLAIMED_SECONDS: Final = 60
"""For how long after the end of a relay the next one keeps a card whose call nobody has taken up again."""


class Waiter(NamedTuple):
    """A call that waits for a card; ``is_listed``: it is stored that the card is for it too."""

    call: str
    bound: BoundCall
    reply: Reply
    is_listed: bool


@dataclass
class WaitingCalls:
    """The books: ``unclaimed`` are calls of the relay before that nobody has taken up again yet.

    ``answered`` is what cards of such calls were answered meanwhile, each to be had by its call once.
    """

    waiters: dict[str, list[Waiter]] = field(default_factory=dict[str, list[Waiter]])
    unclaimed: dict[str, set[BoundCall]] = field(default_factory=dict[str, set[BoundCall]])
    answered: dict[BoundCall, Ending] = field(default_factory=dict[BoundCall, Ending])

    def __bool__(self) -> bool:
        """Whether any call waits here, or may be taken up again."""
        return bool(self.waiters or self.unclaimed or self.answered)

    def found(self, cards: Iterable[Card]) -> bool:
        """Note the cards that a relay before has left; tells whether there are any."""
        for card in cards:
            if card.approval is not None:
                self.unclaimed[card.id] = set(card.approval.calls)
        return bool(self.unclaimed)

    def wait(self, card: str, waiter: Waiter) -> None:
        """A call waits for a card from now on."""
        self.waiters.setdefault(card, []).append(waiter)
        left = self.unclaimed.get(card, set())
        left.discard(waiter.bound)
        if not left:
            self.unclaimed.pop(card, None)

    def listed(self, card: str, call: str) -> None:
        """It is stored that a card is for a call too."""
        now = [w._replace(is_listed=True) if w.call == call else w for w in self.waiters.get(card, ())]
        if now:
            self.waiters[card] = now

    def leave(self, call: str) -> str | None:
        """A call waits no more; gives its card, None when it did not wait."""
        for card, waiters in self.waiters.items():
            if any(waiter.call == call for waiter in waiters):
                self._keep(card, [waiter for waiter in waiters if waiter.call != call])
                return card
        return None

    def take(self, card: str) -> list[Waiter]:
        """Give those that wait for a card, which has its end."""
        return self.waiters.pop(card, [])

    def take_one(self, card: str, call: str) -> Waiter | None:
        """Give one call that waits for a card and will not get its answer."""
        for waiter in self.waiters.get(card, ()):
            if waiter.call == call:
                self._keep(card, [other for other in self.waiters[card] if other is not waiter])
                return waiter
        return None

    def bound_to(self, card: Card) -> tuple[BoundCall, ...]:
        """Give the calls of a card that wait, or may be taken up again, in the order in which they came."""
        assert card.approval is not None
        waiting = {waiter.bound for waiter in self.waiters.get(card.id, ())}
        there = waiting | self.unclaimed.get(card.id, set())
        return tuple(bound for bound in card.approval.calls if bound in there)

    def ended_unclaimed(self, card: Card, ending: Ending) -> None:
        """A card has its end: what it was answered is kept for the calls that may still be taken up."""
        left = self.unclaimed.pop(card.id, set())
        if ending.outcome == "answered":
            self.answered |= {bound: ending for bound in left if bound.client_id is not None}

    def answer_for(self, bound: BoundCall) -> Ending | None:
        """Give what the card of a call was answered while nobody waited; once."""
        return self.answered.pop(bound, None)

    def _keep(self, card: str, waiters: list[Waiter]) -> None:
        if waiters:
            self.waiters[card] = waiters
        else:
            del self.waiters[card]
