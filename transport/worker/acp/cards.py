"""The questions of an agent that wait for a person, each with one answer."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from showcaller.actors.contract.agent_messages import AnswerCard, CardAsked, CardWithdrawn
from showcaller.actors.contract.worker import FromWorkerMessage


class Clock(Protocol):
    """What stands still while a card is open: the time of the turn."""

    def pause(self) -> None:
        """Count no time."""

    def go_on(self) -> None:
        """Count the time again."""


class OpenCards:
    """The cards that a session's agent has open, on one event loop. ``post`` tells the relay."""

    def __init__(self, post: Callable[[FromWorkerMessage], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._post = post
        self._open: dict[str, tuple[CardAsked, asyncio.Future[AnswerCard]]] = {}
        self._gone: list[CardAsked] = []  # taken back in this turn: a relay that was away has not heard of it

    async def ask(self, card: CardAsked, clock: Clock) -> AnswerCard:
        """Show a card and wait for what becomes of it; the turn's time stands still meanwhile."""
        answered: asyncio.Future[AnswerCard] = self._loop.create_future()
        self._open[card.card] = (card, answered)
        self._post(card)
        clock.pause()
        try:
            return await answered
        finally:
            clock.go_on()
            if self._open.pop(card.card, None) is not None:  # whoever has asked waits no more
                self._withdrawn(card)

    def answer(self, answer: AnswerCard) -> None:
        """Give an answer to who waits for it; the first counts, and one to a card that is gone is dropped."""
        asked, answered = self._open.pop(answer.card, (None, None))
        if asked is not None and answered is not None and not answered.done():
            answered.set_result(answer)

    def withdraw_all(self) -> None:
        """Take all cards back: the turn ends."""
        for card, answered in list(self._open.values()):
            del self._open[card.card]
            self._withdrawn(card)
            if not answered.done():
                taken_back = AnswerCard(
                    session=card.session, turn=card.turn, card=card.card, outcome="withdrawn"
                )
                answered.set_result(taken_back)
        self._gone.clear()  # the end of the turn takes them with it

    def tell_all(self) -> None:
        """Show all cards again, and take back again those that are gone: another relay has come."""
        gone, self._gone = self._gone, []
        for card in gone:
            self._withdrawn(card)
        for card, _ in self._open.values():
            self._post(card)

    def _withdrawn(self, card: CardAsked) -> None:
        self._gone.append(card)
        self._post(CardWithdrawn(session=card.session, turn=card.turn, card=card.card))
