"""Cards of a session when the store refuses, when the relay begins anew, and when the session fails."""

import pytest

from showcaller.actors.contract.agent_messages import CardWithdrawn
from showcaller.actors.contract.errors import Code
from showcaller.actors.relay.card_messages import AnswerGiven, GiveAnswer
from showcaller.actors.relay.messages import ToSession
from showcaller.actors.relay.session_cards import SessionCards
from tests.actors.relay.asking import HOURS, asked, give, outliving, status, waiting
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

# -- a store that refuses --------------------------------------------------------------------------


def test_a_card_that_the_store_refuses_is_shown_once_it_takes_it(stage: Stage) -> None:
    _, turn = stage.create()
    stage.store.refusing = frozenset({"open_card"})
    stage.workers.ask(turn, "c1", "Yes")
    stage.settle()
    assert waiting(stage) == []
    stage.store.refusing = frozenset()
    stage.advance(60)
    assert len(waiting(stage)) == 1


def test_an_answer_that_cannot_be_stored_is_refused_and_the_card_waits_on(stage: Stage) -> None:
    session, _, card = asked(stage)
    stage.store.refusing = frozenset({"end_card"})
    assert give(stage, session, card, choices=("Yes",)).code is Code.STORAGE
    assert stage.workers.card_answers == []
    stage.store.refusing = frozenset()
    assert give(stage, session, card, choices=("Yes",)) == AnswerGiven(card, "answered")


def test_an_end_that_nobody_asked_for_is_stored_when_the_store_takes_it(stage: Stage) -> None:
    session, turn, card = asked(stage)
    stage.store.refusing = frozenset({"end_card"})
    stage.workers.say(CardWithdrawn(session=session, turn=turn, card="c1"))
    stage.settle()
    assert status(stage, card) == "pending"
    stage.store.refusing = frozenset()
    stage.advance(60)
    assert status(stage, card) == "withdrawn"


def test_a_card_withdrawn_before_it_could_be_stored_is_never_shown(stage: Stage) -> None:
    session, turn = stage.create()
    stage.store.refusing = frozenset({"open_card"})
    stage.workers.ask(turn, "c1", "Yes")
    stage.workers.say(CardWithdrawn(session=session, turn=turn, card="c1"))
    stage.settle()
    stage.store.refusing = frozenset()
    stage.advance(60)
    assert stage.read("load_session", session=session)["cards"] == []


# -- restarts --------------------------------------------------------------------------------------


def test_a_card_waits_on_when_the_relay_begins_anew(open_stage: OpenStage) -> None:
    stage = outliving(open_stage)
    session, turn, card = asked(stage, "Yes", "No")
    again = outliving(open_stage, stage)
    again.workers.ask(turn, "c1", "Yes", "No")  # the worker tells it again
    again.settle()
    assert [row["id"] for row in waiting(again)] == [card]
    assert give(again, session, card, choices=("No",)) == AnswerGiven(card, "answered")
    assert [(told.card, told.choices) for told in again.workers.card_answers] == [("c1", ("1",))]
    again.workers.end(turn)
    again.settle()
    assert again.status(turn) == "done"


def test_an_answer_that_the_worker_has_not_had_is_told_when_it_asks_again(open_stage: OpenStage) -> None:
    stage = outliving(open_stage)
    session, turn, card = asked(stage, "Yes", "No")
    give(stage, session, card, choices=("Yes",))
    again = outliving(open_stage, stage)
    assert again.workers.card_answers == []
    again.workers.ask(turn, "c1", "Yes", "No")
    again.settle()
    (told,) = again.workers.card_answers
    assert (told.card, told.outcome, told.choices) == ("c1", "answered", ("0",))
    assert waiting(again) == []


def test_the_eight_hours_go_on_over_a_restart(open_stage: OpenStage) -> None:
    stage = outliving(open_stage)
    _, _, card = asked(stage)
    stage.advance(5 * HOURS)
    again = outliving(open_stage, stage)
    again.advance(2.9 * HOURS)
    assert status(again, card) == "pending"
    again.advance(0.2 * HOURS)
    assert status(again, card) == "timed_out"


def test_a_relay_whose_worker_ended_with_it_withdraws_the_card(stage: Stage) -> None:
    _, turn, card = asked(stage)
    again = stage.again()
    assert (again.status(turn), status(again, card)) == ("interrupted", "withdrawn")


def test_a_session_that_fails_while_a_card_is_open_has_it_still(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, turn, card = asked(stage)
    with monkeypatch.context() as broken:
        broken.setattr(SessionCards, "requested", lambda *_: 1 / 0)
        stage.supervisor.tell(ToSession(session, GiveAnswer(card, ("Yes",))))
        stage.settle()
    stage.workers.ask(turn, "c2", "Yes")
    stage.settle()
    assert len(waiting(stage)) == 2
    assert give(stage, session, card, choices=("Yes",)) == AnswerGiven(card, "answered")
    stage.stop(session)
    stage.settle()
    assert stage.status(turn) == "stopped"
    caplog.clear()
