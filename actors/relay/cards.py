"""What becomes of the cards of a session's turn: what its agent, or a call of it, waits for. Pure.

``step(state, input)`` gives the next state and the effects that the session's actor carries out. A card
belongs to the turn that asked it, is shown once it is stored, and has one end, which the store decides: of
two answers the first that is committed counts, and who waits is told after that commit. Whoever tells of a
card again, because it was not heard, changes nothing, and gets the answer again when there is one.
"""

from typing import Any, NamedTuple

from showcaller.actors.contract.agent_messages import AnswerCard
from showcaller.actors.relay.card_signals import (
    TIMED_OUT,
    WITHDRAWN,
    Again,
    AgainLater,
    Asked,
    Begun,
    Card,
    CommitBinding,
    CommitEnd,
    CommitOpen,
    Effect,
    Ended,
    Ending,
    Gone,
    Input,
    NotEnded,
    NotOpened,
    Opened,
    Over,
    Rebound,
    Show,
    Stopping,
    Tell,
    TellCalls,
    TimeUp,
    Unwanted,
    Wanted,
)
from showcaller.actors.relay.cards_found import found_card, time_before


class CardsState(NamedTuple):
    """The cards of the turn under way, in the order in which they came.

    ``ended`` are those of this turn that have their end, by the worker's name, so that it can be told again.
    ``waited`` is for how long the turn has waited on cards before, and ``since`` when it began to wait now.
    ``is_over``: the turn was told to end, so it asks no more.
    """

    session: str
    turn: str | None = None
    cards: tuple[Card, ...] = ()
    ended: tuple[tuple[str, Ending], ...] = ()
    waited: int = 0
    since: int | None = None
    is_over: bool = False

    @property
    def takes_calls(self) -> bool:
        """Whether a call can be asked about: its turn goes on, and was not told to end."""
        return self.turn is not None and not self.is_over

    @property
    def approvals(self) -> tuple[Card, ...]:
        """Those that calls wait for."""
        return tuple(card for card in self.cards if card.approval is not None)

    @property
    def open(self) -> tuple[Card, ...]:
        """Those that are stored, so that people can answer them."""
        return tuple(card for card in self.cards if card.phase == "open")

    def find(self, card: str) -> Card | None:
        """Give the open card of this id, None when there is none."""
        return next((each for each in self.open if each.id == card), None)

    def time_on_cards(self, now: int) -> int:
        """Say for how long the turn has waited on its cards until now, in milliseconds."""
        return self.waited + (0 if self.since is None else max(0, now - self.since))


class Step(NamedTuple):
    """The next state, and what to do, in order."""

    state: CardsState
    effects: tuple[Effect, ...] = ()


def step(state: CardsState, event: Input) -> Step:  # noqa: C901, PLR0912 - one branch for each kind of input
    """Give what follows from one input; never raises for an input that comes late or twice."""
    match event:
        case Begun():
            begun = _begun(state.session, event)
            return Step(begun, tuple(Show(card) for card in begun.cards))
        case Over():
            return Step(CardsState(state.session))
        case Stopping(withdraws):
            cards = tuple(_withdrawn(card) if withdraws else card for card in state.cards)
            return _due(state._replace(is_over=True, cards=cards))
        case Asked():
            return _asked(state, event)
        case Wanted(card):
            since = card.asked_at if state.since is None else state.since
            return _due(state._replace(cards=(*state.cards, card), since=since))
        case Rebound():
            return _rebound(state, event)
        case Unwanted(ids):
            return _due(state._replace(cards=tuple(_withdrawn(c) if c.id in ids else c for c in state.cards)))
        case Gone(turn, name):
            cards = tuple(_withdrawn(c) if (c.turn, c.name) == (turn, name) else c for c in state.cards)
            return _due(state._replace(cards=cards))
        case Opened():
            return _opened(state, event)
        case NotOpened():
            return _not_opened(state, event)
        case Ended():
            return _ended(state, event)
        case NotEnded():
            return _not_ended(state, event)
        case TimeUp(card):
            found = state.find(card)
            wish = TIMED_OUT if found is None or found.wish is None else found.wish
            return _due(_changed(state, card, wish=wish))
        case Again():
            return _due(state)


def _begun(session: str, event: Begun) -> CardsState:
    found = [found_card(row) for row in event.found]
    waiting = tuple(card for card, ending, _ in found if ending is None)
    ended = tuple((card.name, ending) for card, ending, _ in found if ending is not None)
    waited, since = time_before(found)
    return CardsState(session, event.turn, waiting, ended, waited, since)


def _asked(state: CardsState, event: Asked) -> Step:
    frame = event.frame
    if frame.turn == state.turn:
        for name, ending in state.ended:
            if name == frame.card:  # the worker has not had it
                return Step(state, (Tell(_answer(frame.session, frame.turn, name, ending)),))
        if any(card.name == frame.card for card in state.cards):
            return Step(state)
    if frame.turn != state.turn or state.is_over:
        return Step(state, (Tell(_answer(frame.session, frame.turn, frame.card, WITHDRAWN)),))
    card = Card(
        id=event.id,
        name=frame.card,
        turn=frame.turn,
        kind=frame.card_kind,
        question=frame.question,
        asked_at=event.at,
        detail=frame.detail,
        options=frame.options,
        multi_select=frame.multi_select,
        allow_freeform=frame.allow_freeform,
        form=frame.form,
    )
    since = event.at if state.since is None else state.since
    return _due(state._replace(cards=(*state.cards, card), since=since))


def _rebound(state: CardsState, event: Rebound) -> Step:
    card = next((each for each in state.cards if each.id == event.card), None)
    if card is None or card.approval is None:
        return Step(state)
    approval = card.approval._replace(calls=event.calls)
    bound = card._replace(approval=approval, detail=approval.detail)
    return Step(_put(state, bound), (CommitBinding(bound, event.by),))


def _opened(state: CardsState, event: Opened) -> Step:
    card = next((each for each in state.cards if each.name == event.name), None)
    if card is None or card.phase == "open":
        return Step(state)
    stored = card._replace(id=event.known or card.id, phase="open", is_writing=False)
    due = _due(_put(state, stored))
    return Step(due.state, (Show(stored), *due.effects) if stored.wish is None else due.effects)


def _not_opened(state: CardsState, event: NotOpened) -> Step:
    card = next((each for each in state.cards if each.name == event.name), None)
    if card is None or card.phase == "open":
        return Step(state)
    if not event.again:
        return Step(_without(state, card.id, card.asked_at), (_told(state, card, WITHDRAWN),))
    if card.wish is not None:  # nobody has seen it, and nobody waits for it any more
        return Step(_without(state, card.id, card.asked_at))
    return Step(_put(state, card._replace(is_writing=False)), (AgainLater(),))


def _ended(state: CardsState, event: Ended) -> Step:
    card = state.find(event.card)
    if card is None:
        return Step(state)  # with its turn
    rest = _without(state, card.id, event.at)
    rest = rest._replace(ended=(*rest.ended, (card.name, event.ending)))
    return Step(rest, (_told(state, card, event.ending),))


def _not_ended(state: CardsState, event: NotEnded) -> Step:
    freed = _changed(state, event.card, is_writing=False)
    if event.again:
        return Step(freed, (AgainLater(),))
    card = state.find(event.card)
    if card is not None and card.approval is not None:  # with all that agents may, or with its conversation
        return Step(_without(freed, card.id, event.at), (_told(state, card, WITHDRAWN),))
    # Another end of it is stored: whoever had asked for that is told, and the card goes then.
    return Step(_changed(freed, event.card, wish=None))


def _told(state: CardsState, card: Card, ending: Ending) -> Tell | TellCalls:
    if card.approval is not None:
        return TellCalls(card, ending)
    return Tell(_answer(state.session, card.turn, card.name, ending))


def _due(state: CardsState) -> Step:
    """Have stored what is due: that a card is there, and the end of one that is."""
    effects: list[Effect] = []
    cards: list[Card] = []
    for card in state.cards:
        if card.is_writing or (card.phase == "open" and card.wish is None):
            cards.append(card)
            continue
        effects.append(
            CommitOpen(card) if card.phase == "opening" else CommitEnd(card, card.wish or WITHDRAWN)
        )
        cards.append(card._replace(is_writing=True))
    return Step(state._replace(cards=tuple(cards)), tuple(effects))


def _withdrawn(card: Card) -> Card:
    return card if card.wish is not None else card._replace(wish=WITHDRAWN)


def _put(state: CardsState, card: Card) -> CardsState:
    return state._replace(cards=tuple(card if each.name == card.name else each for each in state.cards))


def _changed(state: CardsState, card: str, **changes: Any) -> CardsState:
    cards = tuple(each._replace(**changes) if each.id == card else each for each in state.cards)
    return state._replace(cards=cards)


def _without(state: CardsState, card: str, at: int) -> CardsState:
    rest = tuple(each for each in state.cards if each.id != card)
    if rest or state.since is None:
        return state._replace(cards=rest)
    return state._replace(cards=rest, waited=state.time_on_cards(at), since=None)


def _answer(session: str, turn: str, name: str, ending: Ending) -> AnswerCard:
    return AnswerCard(
        session=session,
        turn=turn,
        card=name,
        outcome=ending.outcome,
        choices=ending.choices,
        text=ending.text,
        via=ending.via or "",
    )
