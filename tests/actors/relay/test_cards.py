"""The state machine of cards, in every order in which workers, people and a store can come."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from showcaller.actors.contract.agent_messages import CardAsked
from showcaller.actors.relay import card_signals as signals
from showcaller.actors.relay import cards
from showcaller.actors.relay.card_signals import Ending

SESSION = "ses_a"
NAMES = st.sampled_from(["c1", "c2", "c3"])


@dataclass
class Row:
    """A card as a store has it."""

    id: str
    name: str
    turn: str
    asked_at: int
    ends: list[Ending] = field(default_factory=list[Ending])
    ended_at: int | None = None


class CardWorld(RuleBasedStateMachine):
    """A worker that asks, people who answer, a store that is slow or refuses, and a session that dies."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000
        self.state = cards.CardsState(SESSION)
        self.turn = 0
        self.stops = False
        self.rows: dict[str, Row] = {}
        self.waits: set[str] = set()  # names for which the agent of the turn waits
        self.given_up: set[str] = set()  # names of which the agent of the turn has said that it waits no more
        self.told: dict[tuple[str, str], list[str]] = {}
        self.writing: list[Any] = []
        self.answers: list[tuple[str, Ending]] = []  # people's, on their way to the store
        self.again_due = False
        self.waited = 0
        self.begin_turn()

    @property
    def turn_id(self) -> str:
        return f"msg_{self.turn}"

    def begin_turn(self) -> None:
        self.turn += 1
        self.stops = False
        self.waits.clear()
        self.given_up.clear()
        self.waited = 0
        self.step(signals.Begun(self.turn_id))

    def step(self, event: signals.Input) -> None:
        self.state, effects = cards.step(self.state, event)
        for effect in effects:
            if isinstance(effect, signals.CommitOpen | signals.CommitEnd):
                self.writing.append(effect)
            elif isinstance(effect, signals.Tell):
                self.tell(effect.answer)
            elif isinstance(effect, signals.AgainLater):
                self.again_due = True

    def tell(self, answer: Any) -> None:
        """The agent hears; nobody is there any more who asked in an earlier turn."""
        if answer.turn == self.turn_id:
            self.told.setdefault((answer.turn, answer.card), []).append(answer.outcome)
            self.waits.discard(answer.card)
        else:
            assert answer.outcome == "withdrawn"

    # -- the worker --------------------------------------------------------------------------------

    def asked(self, name: str, turn: str) -> None:
        frame = CardAsked(session=SESSION, turn=turn, card=name, card_kind="permission", question="May I?")
        self.step(signals.Asked(frame, f"q_{turn}_{name}", self.now))

    @rule(name=NAMES)
    def ask(self, name: str) -> None:
        """Ask, or ask once more what nobody has answered; an agent uses a name once."""
        if (self.turn_id, name) in self.told or self.turn == 0 or name in self.given_up:
            return
        self.waits.add(name)
        self.asked(name, self.turn_id)

    @rule(name=NAMES)
    def ask_late(self, name: str) -> None:
        """What an earlier turn asked arrives now."""
        self.asked(name, f"msg_{self.turn - 1}")

    @rule(name=NAMES)
    def gone(self, name: str) -> None:
        """The agent waits no more."""
        self.waits.discard(name)
        self.given_up.add(name)
        self.step(signals.Gone(self.turn_id, name))

    # -- people, and time --------------------------------------------------------------------------

    @precondition(lambda self: self.state.open)
    @rule(data=st.data(), outcome=st.sampled_from(["answered", "dismissed"]))
    def answer(self, data: st.DataObject, outcome: Any) -> None:
        """Answer a card that is shown."""
        card = data.draw(st.sampled_from([card.id for card in self.state.open]))
        self.answers.append((card, Ending(outcome, via="owner")))

    @precondition(lambda self: self.state.open)
    @rule(data=st.data())
    def time_up(self, data: st.DataObject) -> None:
        """Nobody answers."""
        self.step(signals.TimeUp(data.draw(st.sampled_from([card.id for card in self.state.open]))))

    @rule(by=st.integers(1, 500))
    def pass_time(self, by: int) -> None:
        """Time passes, of which the time on cards does not count."""
        if self.state.since is not None:
            self.waited += by
        self.now += by

    # -- the store ---------------------------------------------------------------------------------

    @precondition(lambda self: self.writing)
    @rule(fails=st.booleans())
    def store(self, fails: bool) -> None:
        """The store takes or refuses the next thing that it was given."""
        effect = self.writing.pop(0)
        if isinstance(effect, signals.CommitOpen):
            self.store_open(effect.card, fails=fails)
        elif fails:
            self.step(signals.NotEnded(effect.card.id, again=True, at=self.now))
        else:
            self.store_end(effect.card.id, effect.ending, given=False)

    def store_open(self, card: signals.Card, *, fails: bool) -> None:
        if fails:
            self.step(signals.NotOpened(card.name, again=True))
            if self.state.since is None:  # on a card that nobody could see, and that is gone, no time passed
                self.waited = self.state.waited
        elif card.turn != self.turn_id:
            self.step(signals.NotOpened(card.name, again=False))
        else:
            known = self.rows.setdefault(card.id, Row(card.id, card.name, card.turn, card.asked_at))
            self.step(signals.Opened(card.name, known.id))

    @precondition(lambda self: self.answers)
    @rule(fails=st.booleans())
    def store_answer(self, fails: bool) -> None:
        """The store takes or refuses what somebody answered; who refused it tells the answerer so."""
        card, ending = self.answers.pop(0)
        if not fails:
            self.store_end(card, ending, given=True)

    def store_end(self, card: str, ending: Ending, *, given: bool) -> None:
        row = self.rows[card]
        if row.ends:
            if not given:
                self.step(signals.NotEnded(card, again=False, at=self.now))
            return
        row.ends.append(ending)
        row.ended_at = self.now
        self.step(signals.Ended(card, ending, self.now))

    @precondition(lambda self: self.again_due)
    @rule()
    def again(self) -> None:
        """The pause is over."""
        self.again_due = False
        self.step(signals.Again())

    # -- the turn, and lives of the session --------------------------------------------------------

    @rule(withdraws=st.booleans())
    def stop(self, withdraws: bool) -> None:
        """The turn is told to end."""
        self.stops = True
        self.step(signals.Stopping(withdraws=withdraws))

    @rule()
    def end_turn(self) -> None:
        """The turn's end is stored, and takes its cards with it; the next begins."""
        for row in self.rows.values():
            if row.turn == self.turn_id and not row.ends:
                row.ends.append(signals.WITHDRAWN)
                row.ended_at = self.now
        self.writing = [effect for effect in self.writing if isinstance(effect, signals.CommitEnd)]
        self.step(signals.Over())
        self.begin_turn()

    @precondition(lambda self: not self.stops)
    @rule()
    def die(self) -> None:
        """The session fails or the relay dies, and the next life hears again for what its agent waits."""
        self.writing.clear()
        self.answers.clear()
        self.again_due = False
        self.state = cards.CardsState(SESSION)
        found = [as_row(row) for row in self.rows.values() if row.turn == self.turn_id]
        self.step(signals.Begun(self.turn_id, found))
        self.waited = self.state.time_on_cards(self.now)
        for name in sorted(self.waits):
            self.asked(name, self.turn_id)

    # -- what holds --------------------------------------------------------------------------------

    @invariant()
    def every_card_ends_at_most_once(self) -> None:
        assert all(len(row.ends) <= 1 for row in self.rows.values())

    @invariant()
    def an_agent_hears_only_of_an_end_that_is_stored_and_always_the_same(self) -> None:
        ends = {(row.turn, row.name): row.ends[0].outcome for row in self.rows.values() if row.ends}
        for key, outcomes in self.told.items():
            heard = set(outcomes)
            assert len(heard) == 1, (key, outcomes)
            if heard != {"withdrawn"}:
                assert ends.get(key) in heard, (key, outcomes)

    @invariant()
    def a_card_is_shown_only_in_the_turn_that_asked(self) -> None:
        assert all(card.turn == self.turn_id for card in self.state.cards)
        assert all(card.id in self.rows for card in self.state.open)

    @invariant()
    def an_agent_that_waits_is_known_to_wait_or_will_hear(self) -> None:
        known = {card.name for card in self.state.cards}
        ended = {name for name, _ in self.state.ended}
        assert self.stops or self.waits <= known | ended

    @invariant()
    def the_time_on_cards_is_what_has_passed_while_it_waited(self) -> None:
        assert self.state.time_on_cards(self.now) == self.waited

    @invariant()
    def nothing_is_left_undone(self) -> None:
        idle = [card for card in self.state.cards if not card.is_writing]
        due = [card for card in idle if card.phase == "opening" or card.wish is not None]
        assert not due or self.again_due


def as_row(row: Row) -> dict[str, Any]:
    """A card as the store's ``load_session`` has it."""
    ending = row.ends[0] if row.ends else None
    return {
        "id": row.id,
        "worker_card": row.name,
        "message": row.turn,
        "kind": "permission",
        "question": "May I?",
        "created_at": row.asked_at,
        "detail": None,
        "options": [],
        "multi_select": False,
        "allow_freeform": False,
        "form": None,
        "status": "pending" if ending is None else ending.outcome,
        "answer": None,
        "via": None if ending is None else ending.via,
        "ended_at": row.ended_at,
    }


TestCardWorld = CardWorld.TestCase
