"""The calls of a session's agent that wait for the owner's approval: on which card, and until when."""

from collections.abc import Callable
from typing import Any

from showcaller.actors.contract.agent_messages import CardOption
from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.relay import card_signals as signals
from showcaller.actors.relay.card_messages import (
    AskApproval,
    CheckAgain,
    LeaveApproval,
    Unclaimed,
)
from showcaller.actors.relay.card_signals import Approval, BoundCall, Card
from showcaller.actors.relay.cards import CardsState
from showcaller.actors.relay.consent.waiting_calls import UNCLAIMED_SECONDS, Waiter, WaitingCalls
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_of
from showcaller.actors.relay.replies import Reply, answer
from showcaller.actors.relay.session_tags import ForBinding
from showcaller.store.batch import Answer

OPTIONS = (
    CardOption(id="allow", label="Allow", kind="allow_once"),
    CardOption(id="deny", label="Deny", kind="reject_once"),
)
"""The two choices of every approval card."""


class SessionApprovals:
    """Keeps the calls that wait in one session; ``step`` has the state machine of its cards take an input."""

    def __init__(
        self,
        session: str,
        ports: Ports,
        state: Callable[[], CardsState],
        step: Callable[[signals.Input], None],
        tell_after: Callable[[float, Any], object],
    ) -> None:
        self._session = session
        self._ports = ports
        self._state = state
        self._step = step
        self._tell_after = tell_after
        self._calls = WaitingCalls()

    def __bool__(self) -> bool:
        """Whether any call waits, or may be taken up again."""
        return bool(self._calls)

    def found(self) -> None:
        """The relay before has left cards: their calls have some time to be taken up again."""
        if self._calls.found(self._state().approvals):
            self._tell_after(UNCLAIMED_SECONDS, Unclaimed())

    def is_unclaimed(self, card: str) -> bool:
        """Tell whether a card is for calls of the relay before alone, of which none was taken up again."""
        return card in self._calls.unclaimed and card not in self._calls.waiters

    # -- calls that come and go --------------------------------------------------------------------

    def ask(self, wish: AskApproval, reply: Reply) -> None:
        """A call waits for approval: on the card that it had before, on one that it shares, or on its own."""
        if not self._ports.settings.agent_sessions:
            answer(reply, CheckAgain())
            return
        if not self._state().takes_calls:
            answer(reply, _no_turn())
            return
        waiter = Waiter(
            wish.call, BoundCall(wish.client_id, wish.fingerprint, wish.detail), reply, is_listed=True
        )
        before = self._calls.answer_for(waiter.bound)
        if before is not None:
            answer(reply, before)
        elif not self._goes_on(wish, waiter) and not self._shares(wish, waiter):
            self._open(wish, waiter)

    def _goes_on(self, wish: AskApproval, waiter: Waiter) -> bool:
        """Have a call wait for the card that it had before under its name; tells whether there is one."""
        if wish.client_id is None:
            return False
        for card in self._waiting():
            assert card.approval is not None
            for bound in card.approval.calls:
                if bound.client_id != wish.client_id:
                    continue
                if bound.fingerprint != wish.fingerprint:
                    answer(waiter.reply, _used(wish.client_id))
                    return True
                if bound == waiter.bound:  # what the card says of it as well: it would do the same
                    self._calls.wait(card.id, waiter)
                    return True
        return False

    def _shares(self, wish: AskApproval, waiter: Waiter) -> bool:
        """List a call on a card that waits for calls of the same kind; tells whether there is one."""
        for card in self._waiting() if wish.shares is not None else ():
            assert card.approval is not None
            if card.approval.shares == wish.shares:
                self._calls.wait(card.id, waiter._replace(is_listed=False))
                self._step(signals.Rebound(card.id, (*card.approval.calls, waiter.bound), wish.call))
                return True
        return False

    def _open(self, wish: AskApproval, waiter: Waiter) -> None:
        turn = self._state().turn
        assert turn is not None
        card = Card(
            id=wish.call,
            name=wish.call,
            turn=turn,
            kind="approval",
            question=wish.question,
            asked_at=self._ports.clock.wall(),
            detail=wish.detail,
            options=OPTIONS,
            approval=Approval((waiter.bound,), wish.grants, wish.shares),
        )
        self._calls.wait(card.id, waiter)
        self._step(signals.Wanted(card))

    def leave(self, left: LeaveApproval) -> None:
        """A call waits no more: its card goes, or lists it no longer."""
        card = self._calls.leave(left.call)
        if card is not None:
            self._see_to(card)

    def unclaimed(self) -> None:
        """The time is over in which calls of the relay before could be taken up again."""
        left = list(self._calls.unclaimed)
        self._calls.unclaimed.clear()
        self._calls.answered.clear()
        for card in left:
            self._see_to(card)

    def shut_out(self) -> None:
        """Agents may do nothing on this relay any more."""
        self._step(signals.Unwanted(frozenset(card.id for card in self._state().approvals)))

    def close(self, error: Exception) -> None:
        """Give this to all who wait: this life of the session ends. What is shown stays for the next."""
        self._calls.unclaimed.clear()
        self._calls.answered.clear()
        for card in list(self._calls.waiters):
            for waiter in self._calls.take(card):
                answer(waiter.reply, error)

    def _see_to(self, name: str) -> None:
        """Have a card go for which no call is left, or list those that are."""
        card = next((card for card in self._state().approvals if card.id == name), None)
        if card is None or card.approval is None:
            return
        bound = self._calls.bound_to(card)
        if not bound:
            self._step(signals.Unwanted(frozenset({card.id})))
        elif bound != card.approval.calls:
            self._step(signals.Rebound(card.id, bound))

    def _waiting(self) -> list[Card]:
        return [card for card in self._state().approvals if card.wish is None]

    # -- what becomes of cards ---------------------------------------------------------------------

    def told(self, told: signals.TellCalls) -> None:
        """A card has its end: those that it lists hear of it, and others have themselves checked again."""
        self._calls.ended_unclaimed(told.card, told.ending)
        for waiter in self._calls.take(told.card.id):
            answer(waiter.reply, told.ending if waiter.is_listed else CheckAgain())

    def not_opened(self, card: str, stored: Answer) -> None:
        """The store has not taken a card: its call hears why, and is not carried out."""
        conflict = stored.error == "conflict" and stored.value == "not_running"
        refusal = _no_turn() if conflict else refusal_of(stored)
        for waiter in self._calls.take(card):
            answer(waiter.reply, (refusal or _no_turn()) if waiter.is_listed else CheckAgain())

    def rebound(self, tag: ForBinding, stored: Answer) -> None:
        """The store has answered to listing other calls on a card."""
        if tag.by is None:
            return
        if stored.error is None:
            self._calls.listed(tag.card, tag.by)
            return
        waiter = self._calls.take_one(tag.card, tag.by)
        if waiter is not None:
            answer(waiter.reply, CheckAgain() if stored.error == "conflict" else refusal_of(stored))
            self._see_to(tag.card)

    def look(self) -> None:
        """Tell those whose card went with its turn."""
        there = {card.id for card in self._state().approvals}
        for card in [card for card in self._calls.waiters if card not in there]:
            for waiter in self._calls.take(card):
                answer(waiter.reply, signals.WITHDRAWN)
        for card in [card for card in self._calls.unclaimed if card not in there]:
            del self._calls.unclaimed[card]


def standing_answer(stored: Answer) -> tuple[str, ...] | Refusal | None:
    """Say what became of taking back what stood allowed: its kinds, None when nothing did."""
    if stored.error == "conflict" and stored.value == "missing":
        return None
    if stored.error is not None:
        return refusal_of(stored)
    return None if stored.value is None else tuple(stored.value["revoked"])


def _no_turn() -> Refusal:
    return Refusal(
        Code.NO_ACTIVE_TURN,
        "The owner of this relay has to be asked about this call, in your running turn, and you have none. "
        "Nothing was done.",
    )


def _used(client_id: str) -> Refusal:
    return invalid(
        f"The id {quote_foreign(client_id, 80)} is that of another call, which waits for its approval: use "
        "each id for one call and its repeats. Nothing was done."
    )
