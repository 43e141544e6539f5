"""Agents that ask and wait, and calls that need approval, in some worlds, and who answers, or does not.

What is drawn here comes from a chance of its own, so that worlds without cards are what they were.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Final

from showcaller.actors.contract.agent_messages import AnswerCard, CardAsked, CardOption, CardWithdrawn
from showcaller.actors.contract.inbox import Answer
from showcaller.actors.contract.worker import FromWorkerMessage, RunTurn
from showcaller.actors.relay.calls import AnswerRequest
from tests.simulation.card_books import CardBooks
from tests.simulation.stored import Row, Stored
from tests.simulation.surroundings import Surroundings

if TYPE_CHECKING:
    from tests.simulation.world import World

MOST: Final = 8  # cards of one world: one that nobody answers takes eight hours of its time
ASKS: Final = 0.3
GIVES_UP: Final = 0.3
ANSWERS: Final = 0.5
OPTIONS: Final = (CardOption(id="y", label="Yes"), CardOption(id="n", label="No"))
DECISIONS: Final = ("Allow", "allow", "Deny")
PROMPT: Final = re.compile(r'^Prompt: "(prompt \d+)"$', re.MULTILINE)
TITLE: Final = re.compile(r'^Title: "(title \d+)"$', re.MULTILINE)
SLACK: Final = 400.0  # seconds within which an answer has its own, however slow the store is
USUAL: Final = {
    "REMOTE_RELAY_ALREADY_ANSWERED",
    "REMOTE_RELAY_STORAGE",
    "REMOTE_RELAY_UNAVAILABLE",
    "REMOTE_RELAY_NOT_FOUND",
}


class SimCards:
    """The cards that the agents of one worker have open; ``go_on`` lets a turn go on that waits no more."""

    def __init__(
        self,
        world: Surroundings,
        books: CardBooks,
        worker: str,
        say: Callable[[FromWorkerMessage], None],
        go_on: Callable[[str], None],
    ) -> None:
        self._world = world
        self._books = books
        self._worker = worker
        self._say = say
        self._go_on = go_on
        self.open: dict[str, CardAsked] = {}
        self._gone: list[CardAsked] = []  # taken back in turns that go on: another relay has not heard of it

    def asks(self, run: RunTurn) -> bool:
        """Have the agent of a turn ask, if it happens to; then it waits."""
        if not run.background or len(self._books.asked) >= MOST or not self._books.happens(ASKS):
            return False
        for _ in range(2 if self._books.happens(0.2) else 1):
            self._ask(run)
        return True

    def _ask(self, run: RunTurn) -> None:
        assert self._books.random is not None
        card = CardAsked(
            session=run.session,
            turn=run.turn,
            card=f"card{len(self._books.asked) + 1}",
            card_kind=self._books.random.choice(("permission", "ask_user")),
            question="May I?",
            options=OPTIONS,
        )
        self._books.asked[card.session, card.card] = card
        self.open[card.card] = card
        self._say(card)
        if self._books.happens(GIVES_UP):
            seconds = self._books.random.choice((0.01, 1.0, 600.0, 20_000.0))
            self._world.work(seconds, lambda: self._give_up(card), owner=self._worker)

    def _give_up(self, card: CardAsked) -> None:
        if self.open.pop(card.card, None) is not None:
            self._gone.append(card)
            self._withdrawn(card)
            self._maybe_go_on(card.turn)

    def _withdrawn(self, card: CardAsked) -> None:
        self._say(CardWithdrawn(session=card.session, turn=card.turn, card=card.card))

    def answer(self, answer: AnswerCard) -> None:
        """Take what became of a card; the first word counts."""
        card = self.open.pop(answer.card, None)
        if card is not None:
            self._books.heard[card.session, card.card] = answer
            self._maybe_go_on(card.turn)

    def _maybe_go_on(self, turn: str) -> None:
        if not self.of(turn):
            self._go_on(turn)

    def of(self, turn: str) -> list[CardAsked]:
        """The cards on which a turn waits."""
        return [card for card in self.open.values() if card.turn == turn]

    def drop(self, turn: str) -> None:
        """The turn ends; some agents say of each card that they wait no more."""
        for card in self.of(turn):
            del self.open[card.card]
            if self._books.happens(0.5):
                self._withdrawn(card)
        self._gone = [card for card in self._gone if card.turn != turn]

    def tell_all(self) -> None:
        """Tell a relay that has just come for what agents wait no more, and for what they wait."""
        for card in self._gone:
            self._withdrawn(card)
        for card in list(self.open.values()):
            self._say(card)


@dataclass
class People:
    """The owner, and agents of other sessions, as they answer cards that they see."""

    world: "World"
    under_way: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    def act(self) -> bool:
        """Answer something, if there is something and somebody cares; tells whether."""
        books = self.world.books.cards
        if books.random is None or not books.happens(ANSWERS):
            return False
        cards = Stored(self.world.life.path).cards
        seen = [row for row in cards if row["status"] == "pending" or books.happens(0.05)]
        if not seen:
            return False
        approvals = [row for row in seen if row["kind"] == "approval"]
        self._answer(books.random.choice(approvals or seen), books.random)
        return True

    def _answer(self, row: Row, random: Random) -> None:
        if row["kind"] == "approval" and random.random() < 0.9:
            self._decide(row, random)
            return
        agents = [each for each in self.world.callers.sessions[:2] if each != row["session"]]
        if agents and random.random() < 0.2:
            agent = random.choice(agents)
            self.world.call("answer_question", None, agent, question_id=row["id"], choices=["yes"])
            return
        told: dict[str, Any] = random.choice(
            ({"choices": ("yes",)}, {"choices": ("NO",)}, {"dismiss": True}, {"choices": ("Perhaps",)})
        )
        client_id = f"answer-{row['id']}" if told == {"choices": ("yes",)} and random.random() < 0.5 else None
        self._give(row, told, client_id)

    def _decide(self, row: Row, random: Random) -> None:
        """Say whether a call is carried out; what is allowed is noted as the owner sees it."""
        told: dict[str, Any] = random.choice(
            (
                {"choices": ("Allow",)},
                {"choices": ("Allow",)},
                {"choices": ("allow",)},
                {"choices": ("Deny",)},
                {"dismiss": True},
                {"choices": ("Perhaps",)},
            )
        )
        if told in ({"choices": ("Allow",)}, {"choices": ("allow",)}):
            books = self.world.books.cards
            books.allowed_on.add(row["id"])
            books.allowed |= {*PROMPT.findall(row["detail"] or ""), *TITLE.findall(row["detail"] or "")}
        client_id = (
            f"answer-{row['id']}" if told == {"choices": ("Allow",)} and random.random() < 0.5 else None
        )
        self._give(row, told, client_id)

    def _give(self, row: Row, told: dict[str, Any], client_id: str | None) -> None:
        request = AnswerRequest(Answer(question_id=row["id"], **told), client_id)
        self.world.say("owner", f"answers {row['id']}: {told}")
        place = (row["id"], self.world.clock.monotonic())
        self.under_way.append(place)
        is_wrong = told.get("choices") == ("Perhaps",) or (
            row["kind"] == "approval" and told not in ({"choices": (each,)} for each in DECISIONS)
        )
        answered = self.world.life.door._request(request)
        answered.add_done_callback(lambda done: self._answered(place, done.get(), is_wrong=is_wrong))

    def _answered(self, place: tuple[str, float], result: dict[str, Any], *, is_wrong: bool) -> None:
        """Runs at the moment of the answer: what it promises holds from here on."""
        if place in self.under_way:
            self.under_way.remove(place)
        self.world.say("owner", f"  answer to {place[0]}: {result.get('status') or result.get('code')}")
        books = self.world.books
        if result["ok"]:
            if is_wrong:
                books.broken.append(f"{place[0]} was answered with what it does not take")
            self.told(result)
        elif result["code"] not in USUAL | ({"REMOTE_RELAY_INVALID_INPUT"} if is_wrong else set()):
            books.broken.append(f"the answer to {place[0]} was refused so: {result}")

    def told(self, result: dict[str, Any]) -> None:
        """Somebody was told that a card has this end."""
        books, card = self.world.books, result["question_id"]
        known = books.cards.given.setdefault(card, result["status"])
        if known != result["status"]:
            books.broken.append(f"{card} was told to be {known}, and now {result['status']}")

    def lose(self) -> None:
        """The relay died: no answer will come."""
        self.under_way.clear()

    def hanging(self) -> list[str]:
        """The cards whose answer has had none for too long."""
        now = self.world.clock.monotonic()
        return [card for card, began in self.under_way if now > began + SLACK]
