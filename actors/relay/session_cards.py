"""The cards of a session's actor: what is asked in it, that it gets stored, and who hears of the answer."""

import logging
from collections.abc import Callable
from typing import Any

from showcaller.actors.contract.agent_messages import CardAsked, CardWithdrawn
from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.relay import card_signals as signals
from showcaller.actors.relay import cards, turn_signals
from showcaller.actors.relay.at_workers import AtWorkers
from showcaller.actors.relay.card_answers import NOTHING, answered
from showcaller.actors.relay.card_messages import (
    AgentsShutOut,
    AnswerGiven,
    AskApproval,
    CardTimeUp,
    GiveAnswer,
    LeaveApproval,
    OfCards,
    RestartCount,
    RevokeApprovals,
    ToCards,
    TryCards,
    Unclaimed,
)
from showcaller.actors.relay.card_records import (
    approval_arguments,
    binding_arguments,
    end_arguments,
    open_arguments,
)
from showcaller.actors.relay.cards_found import NO_TURN
from showcaller.actors.relay.messages import Repeated
from showcaller.actors.relay.pauses import Pauses
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_of
from showcaller.actors.relay.replies import Reply, answer, answer_all
from showcaller.actors.relay.session_approvals import SessionApprovals, standing_answer
from showcaller.actors.relay.session_tags import ForBinding, ForCard, ForStanding
from showcaller.actors.relay.turn_state import Turn
from showcaller.actors.relay.turns import Turns
from showcaller.actors.runtime import Timer
from showcaller.store.batch import Answer

logger = logging.getLogger("showcaller.relay")


class SessionCards:
    """Keeps the cards of a session's turn, and carries out what ``cards.py`` decides about them.

    ``write`` hands the writer a command with a tag; ``tell_after`` tells the session something later.
    """

    def __init__(
        self,
        session: str,
        ports: Ports,
        at_workers: AtWorkers,
        turns: Turns,
        write: Callable[[str, dict[str, Any], Any], None],
        tell_after: Callable[[float, Any], Timer],
    ) -> None:
        self._session = session
        self._ports = ports
        self._at_workers = at_workers
        self._turns = turns
        self._write = write
        self._tell_after = tell_after
        self._state = cards.CardsState(session)
        self._found: list[dict[str, Any]] = []
        self._seen: Turn | None = None
        self._timers: dict[str, Timer] = {}
        self._answering: dict[int, Reply] = {}  # by the tag of what is being written
        self._pauses = Pauses()
        self._approvals = SessionApprovals(session, ports, lambda: self._state, self._step, tell_after)

    def __bool__(self) -> bool:
        """Whether anything waits, or may be taken up again, that no turn keeps awake."""
        return bool(self._state.cards or self._approvals)

    @property
    def asks(self) -> bool:
        """Whether the turn waits on a card that people can answer."""
        return bool(self._state.open)

    def answer_all(self, error: Exception) -> None:
        """Give this to all who wait for an answer."""
        answer_all(self._answering.values(), error)
        self._approvals.close(error)

    # -- what comes in -----------------------------------------------------------------------------

    def load(self, rows: list[dict[str, Any]]) -> None:
        """Take up the cards that the store has of the turn, and what workers have told besides."""
        self._found = rows
        if self._turns.state.external:
            self._step(signals.Begun(NO_TURN, rows))
        self.follow()
        self._approvals.found()
        for frame in self._at_workers.card_frames(self._session):
            if isinstance(frame, CardAsked):
                self.asked(frame)
            else:
                self.withdrawn(frame)

    def follow(self) -> None:
        """See how the turn is now: a card goes with its turn."""
        state = self._turns.state
        if state.closing or state.leaving:
            self._approvals.close(_stopping())
        if state.external and self._state.turn is None:
            self._step(signals.Begun(NO_TURN))
        turn = state.turn
        if turn is self._seen:
            return
        self._seen = turn
        at_worker = None if turn is None or turn.phase not in AT_WORKER else turn
        if at_worker is None:
            if self._state.turn is not None:
                self._step(signals.Over())
            return
        if self._state.turn != at_worker.message.id:
            found = [row for row in self._found if row["message"] == at_worker.message.id]
            self._step(signals.Begun(at_worker.message.id, found))
        if at_worker.phase != "running" and not self._state.is_over:
            self._step(signals.Stopping(withdraws=at_worker.phase == "stopping"))

    def asked(self, frame: CardAsked) -> None:
        """An agent waits for an answer."""
        self.follow()
        self._step(signals.Asked(frame, self._ports.new_id("q_"), self._ports.clock.wall()))

    def withdrawn(self, frame: CardWithdrawn) -> None:
        """An agent waits no more."""
        self.follow()
        self._step(signals.Gone(frame.turn, frame.card))

    def requested(self, asked: ToCards, reply: Reply) -> None:
        """Somebody asks something of the cards."""
        self.follow()
        match asked:
            case GiveAnswer():
                self._give(asked, reply)
            case AskApproval():
                self._approvals.ask(asked, reply)
            case LeaveApproval():
                self._approvals.leave(asked)
                answer(reply, None)
            case RevokeApprovals(kind):
                self._change("revoke_approvals", {"conversation": self._session, "kind": kind}, reply)
            case RestartCount():
                self._change("restart_count", {"session": self._session}, reply)
            case AgentsShutOut():
                self._approvals.shut_out()
                answer(reply, None)

    def told(self, told: OfCards) -> None:
        """Time has passed: for a card, for what the store refused, or for what the relay before has left."""
        match told:
            case CardTimeUp(card):
                self._step(signals.TimeUp(card))
            case TryCards():
                self._step(signals.Again())
            case Unclaimed():
                self._approvals.unclaimed()

    def _change(self, command: str, arguments: dict[str, Any], reply: Reply) -> None:
        tag = ForStanding(reply)
        self._answering[id(tag)] = reply
        self._write(command, arguments, tag)

    def _give(self, given: GiveAnswer, reply: Reply) -> None:
        """Somebody answers a card: have that stored, if it is an answer that the card takes."""
        card = next((each for each in self._state.cards if each.id == given.card), None)
        if card is None:
            why = f"Question {given.card} does not wait for an answer any more. {NOTHING}"
            answer(reply, Refusal(Code.ALREADY_ANSWERED, why))
            return
        try:
            ending = _ending(card, given)
        except Refusal as refusal:
            answer(reply, refusal)
            return
        tag = self._end(card, ending, given)
        self._answering[id(tag)] = reply

    # -- what the store answers --------------------------------------------------------------------

    def written(self, tag: ForCard | ForBinding | ForStanding, stored: Answer) -> None:
        """The store has answered a command about a card, or about what was allowed."""
        if isinstance(tag, ForBinding):
            self._approvals.rebound(tag, stored)
            return
        if isinstance(tag, ForStanding):
            self._answering.pop(id(tag), None)
            answer(tag.reply, standing_answer(stored))
            return
        if stored.error is None:
            self._pauses.over()
        elif stored.error == "fault":
            logger.error("The card %s of %s was not stored: %s", tag.card, self._session, stored.detail)
        if tag.ending is None:
            self._opened(tag, stored)
            return
        reply = self._answering.pop(id(tag), None)
        if stored.error is None and "duplicate_result" in stored.value:
            answer(reply, Repeated(stored.value["duplicate_result"]))
        elif stored.error is None:
            is_awaited = not self._approvals.is_unclaimed(tag.card)
            answer(reply, AnswerGiven(tag.card, tag.ending.outcome, is_awaited))
            self._step(signals.Ended(tag.card, tag.ending, tag.at))
        elif tag.is_given:
            answer(reply, _refused(stored))
        else:
            self._step(signals.NotEnded(tag.card, stored.error == "storage", self._ports.clock.wall()))

    def _opened(self, tag: ForCard, stored: Answer) -> None:
        if stored.error is None:
            self._step(signals.Opened(tag.card, stored.value.get("duplicate")))
        elif any(card.name == tag.card for card in self._state.approvals):
            self._approvals.not_opened(tag.card, stored)
            self._step(signals.NotOpened(tag.card, again=False))
        else:
            self._step(signals.NotOpened(tag.card, again=stored.error == "storage"))

    # -- effects -----------------------------------------------------------------------------------

    def _step(self, event: signals.Input) -> None:
        before = self._state.since, self._state.waited
        self._state, effects = cards.step(self._state, event)
        for effect in effects:
            self._carry_out(effect)
        self._forget_timers()
        self._approvals.look()
        if before != (self._state.since, self._state.waited):
            self._has_changed()

    def _has_changed(self) -> None:
        """The turn waits on cards now, or not any more: its time stands still meanwhile."""
        waits = self._state.since is not None
        if waits:
            self._turns.time.stand_still()
        elif self._state.turn is not None and not self._state.is_over:
            self._turns.time.go_on(self._state.waited)
        if self._seen is not None:
            self._turns.step(turn_signals.Asks(self._seen.message.id, waits))
            self._seen = self._turns.state.turn

    def _carry_out(self, effect: signals.Effect) -> None:
        match effect:
            case signals.CommitOpen(card):
                self._open(card)
            case signals.CommitBinding(card, by):
                self._write("change_approval", binding_arguments(card), ForBinding(card.id, by))
            case signals.CommitEnd(card, ending):
                self._end(card, ending, None)
            case signals.Show(card):
                self._show(card)
            case signals.Tell(told):
                self._ports.workers.send([told])
            case signals.TellCalls():
                self._approvals.told(effect)
            case signals.AgainLater():
                self._tell_after(self._pauses.next(), TryCards())

    def _open(self, card: signals.Card) -> None:
        tag = ForCard(card.name, card.asked_at)
        if card.approval is None:
            self._write("open_card", open_arguments(self._session, card), tag)
        else:
            self._write("open_approval", approval_arguments(self._session, card), tag)

    def _end(self, card: signals.Card, ending: signals.Ending, given: GiveAnswer | None) -> ForCard:
        at = self._ports.clock.wall()
        tag = ForCard(card.id, at, ending, is_given=given is not None)
        arguments = end_arguments(card.id, ending, at, None if given is None else given.call)
        if card.approval is not None:
            self._write("end_approval", arguments, tag)
        elif given is None or given.prompts is None:
            self._write("end_card", arguments, tag)
        else:
            counted = {"prompts": given.prompts, "unasked_limit": given.unasked_limit}
            self._write("end_card", {**arguments, **counted}, tag)
        return tag

    def _show(self, card: signals.Card) -> None:
        """Calls that wait for the turn see that it waits on a card; actors wait for its end."""
        left = max(0.0, (card.expires_at - self._ports.clock.wall()) / 1000)
        self._timers[card.id] = self._tell_after(left, CardTimeUp(card.id))
        turn = self._turns.state.turn
        if turn is not None:
            for message in (turn.message, *turn.steered):
                self._turns.listeners.look_up_calls(message.id)

    def _forget_timers(self) -> None:
        left = {card.id for card in self._state.cards}
        for card in [card for card in self._timers if card not in left]:
            self._timers.pop(card).cancel()


AT_WORKER = frozenset({"running", "stopping", "ending"})
"""The phases of a turn in which its agent can wait for an answer, or could a moment ago."""


def _stopping() -> Refusal:
    return Refusal(
        Code.UNAVAILABLE,
        "This relay is stopping, and this call still waited for its owner's approval. Nothing was done.",
        retry_after_seconds=5,
    )


def _ending(card: signals.Card, given: GiveAnswer) -> signals.Ending:
    if card.approval is not None and given.via != "owner":
        raise Refusal(Code.FORBIDDEN, f"Only the owner of this relay answers {card.id}. {NOTHING}")
    if card.approval is not None and given.dismiss:
        raise invalid(f"Question {card.id} is an approval: Allow or Deny answers it. {NOTHING}")
    if given.dismiss:
        return signals.Ending("dismissed", via=given.via)
    return answered(card, given.choices, given.text, given.via)


def _refused(stored: Answer) -> Refusal:
    """Say why an answer was not stored."""
    if stored.error == "conflict" and stored.value == "ended":
        how = (stored.detail or "it has its end").removeprefix("question ")
        return Refusal(Code.ALREADY_ANSWERED, f"Question {how}. {NOTHING}")
    return refusal_of(stored) or Refusal(Code.INTERNAL, NOTHING)
