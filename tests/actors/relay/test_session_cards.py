"""Cards of a session: asked, stored, answered once, and gone with their turn."""

from typing import Any

import pytest

from showcaller.actors.contract.agent_messages import CardWithdrawn
from showcaller.actors.contract.errors import Code
from showcaller.actors.relay.card_messages import AnswerGiven
from showcaller.actors.relay.card_signals import CARD_MILLISECONDS
from showcaller.actors.relay.messages import TurnOver
from tests.actors.relay.asking import (
    HOURS,
    ask,
    asked,
    await_end,
    begin,
    give,
    outcome,
    outliving,
    status,
    waiting,
)
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage
from tests.actors.relay.test_session_steering import PROVIDERS

# -- asked and answered ----------------------------------------------------------------------------


def test_a_card_is_stored_and_its_answer_goes_to_the_agent_after_its_commit(stage: Stage) -> None:
    session, turn, card = asked(stage, "Allow", "Reject")
    assert [(row["id"], row["session"], row["status"]) for row in waiting(stage)] == [
        (card, session, "pending")
    ]
    assert card.startswith("q_")
    assert ("question_asked", turn) in stage.events(session)
    stage.store.hold()
    given = begin(stage, session, card, choices=(" aLLOW ",))
    stage.settle()
    assert not given.done
    assert stage.workers.card_answers == []
    stage.store.release()
    stage.settle()
    assert outcome(given) == AnswerGiven(card, "answered")
    (told,) = stage.workers.card_answers
    assert (told.turn, told.card, told.outcome, told.choices, told.via) == (
        turn,
        "c1",
        "answered",
        ("0",),
        "owner",
    )
    assert waiting(stage) == []
    stage.workers.end(turn)
    stage.settle()
    assert stage.status(turn) == "done"


def test_the_first_of_two_answers_counts_and_the_second_hears_so(stage: Stage) -> None:
    session, _, card = asked(stage)
    first, second = begin(stage, session, card, choices=("Yes",)), begin(stage, session, card, dismiss=True)
    stage.settle()
    assert outcome(first) == AnswerGiven(card, "answered")
    refusal = outcome(second)
    assert (refusal.code, "answered already by owner" in refusal.error) == (Code.ALREADY_ANSWERED, True)
    assert [told.outcome for told in stage.workers.card_answers] == ["answered"]
    third = give(stage, session, card, choices=("No",))
    assert third.code is Code.ALREADY_ANSWERED


@pytest.mark.parametrize(
    ("more", "given", "told"),
    [
        ({}, {"choices": ("Maybe",)}, 'has no option "Maybe": one of "Yes", "No" answers it.'),
        ({}, {"choices": ("Yes", "No")}, "takes one choice, and 2 came."),
        ({}, {"text": "of course"}, "takes no free text"),
        ({"allow_freeform": True}, {}, 'needs one of "Yes", "No" or a text of your own.'),
        ({"form": {"type": "object"}}, {"choices": ("Yes",)}, "is a form"),
    ],
)
def test_an_answer_that_the_card_does_not_take_is_refused_and_it_waits_on(
    stage: Stage, more: dict[str, Any], given: dict[str, Any], told: str
) -> None:
    session, _, card = asked(stage, **more)
    refusal = give(stage, session, card, **given)
    assert (refusal.code, told in refusal.error) == (Code.INVALID_INPUT, True), refusal.error
    assert refusal.fields["options"] == [{"id": "0", "label": "Yes"}, {"id": "1", "label": "No"}]
    assert (status(stage, card), stage.workers.card_answers) == ("pending", [])


@pytest.mark.parametrize(
    ("more", "given", "choices", "text"),
    [
        ({"multi_select": True}, {"choices": ("no", "YES", "No")}, ("1", "0"), None),
        ({"allow_freeform": True}, {"text": " as it is "}, (), " as it is "),
        ({"allow_freeform": True}, {"text": "so", "choices": ("1",)}, ("1",), "so"),
    ],
)
def test_several_choices_and_free_text_are_taken_where_the_card_takes_them(
    stage: Stage, more: dict[str, Any], given: dict[str, Any], choices: tuple[str, ...], text: str | None
) -> None:
    session, _, card = asked(stage, **more)
    assert give(stage, session, card, **given) == AnswerGiven(card, "answered")
    (told,) = stage.workers.card_answers
    assert (told.choices, told.text) == (choices, text)


def test_a_dismissed_card_tells_its_agent_so(stage: Stage) -> None:
    session, _, card = asked(stage)
    assert give(stage, session, card, dismiss=True) == AnswerGiven(card, "dismissed")
    assert [told.outcome for told in stage.workers.card_answers] == ["dismissed"]


def test_a_card_that_nobody_answers_ends_after_eight_hours(stage: Stage) -> None:
    _, turn, card = asked(stage)
    stage.advance(CARD_MILLISECONDS / 1000 - 1)
    assert status(stage, card) == "pending"
    stage.advance(2)
    assert status(stage, card) == "timed_out"
    assert [told.outcome for told in stage.workers.card_answers] == ["timed_out"]
    assert stage.status(turn) == "handed"


# -- its turn --------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["done", "failed"])
def test_a_card_goes_with_the_end_of_its_turn(stage: Stage, how: str) -> None:
    session, turn, card = asked(stage)
    stage.workers.end(turn, how)
    stage.settle()
    assert status(stage, card) == "withdrawn"
    assert stage.workers.card_answers == []
    assert give(stage, session, card, choices=("Yes",)).code is Code.ALREADY_ANSWERED
    stage.advance(9 * HOURS)
    assert status(stage, card) == "withdrawn"


def test_a_stopped_turn_takes_its_card_with_it_before_its_agent_ends(stage: Stage) -> None:
    stage.workers.obedient = False
    session, turn, card = asked(stage)
    stage.stop(session)
    stage.settle()
    assert [stop.turn for stop in stage.workers.stops] == [turn]
    assert (status(stage, card), stage.status(turn)) == ("withdrawn", "handed")
    assert give(stage, session, card, choices=("Yes",)).code is Code.ALREADY_ANSWERED
    stage.workers.ask(turn, "c2", "Yes")
    stage.settle()
    assert [told.outcome for told in stage.workers.card_answers] == ["withdrawn", "withdrawn"]
    assert waiting(stage) == []
    stage.workers.end(turn, "stopped")
    stage.settle()
    assert stage.status(turn) == "stopped"


def test_a_card_that_its_worker_withdraws_goes(stage: Stage) -> None:
    session, turn, card = asked(stage)
    stage.workers.say(CardWithdrawn(session=session, turn=turn, card="c1"))
    stage.settle()
    assert status(stage, card) == "withdrawn"


def test_a_card_of_another_turn_is_not_shown(stage: Stage) -> None:
    session, first = stage.create()
    second = stage.send(session, "second")
    stage.workers.end(first)
    stage.settle()
    stage.workers.ask(first, "late", "Yes")
    stage.settle()
    assert waiting(stage) == []
    assert [(told.turn, told.outcome) for told in stage.workers.card_answers] == [(first, "withdrawn")]
    assert stage.status(second) == "handed"


def test_the_next_turn_asks_anew(stage: Stage) -> None:
    session, turn, card = asked(stage)
    second = stage.send(session, "second")
    stage.workers.end(turn)
    stage.settle()
    again = ask(stage, second, card="c2")
    assert again != card
    give(stage, session, again, choices=("No",))
    assert [(told.turn, told.card) for told in stage.workers.card_answers] == [(second, "c2")]


# -- time ------------------------------------------------------------------------------------------


def test_time_on_a_card_does_not_count_towards_the_longest_turn(stage: Stage) -> None:
    session, turn = stage.create()
    stage.advance(1800)
    card = ask(stage, turn)
    stage.advance(3 * HOURS)
    assert stage.workers.stops == []
    give(stage, session, card, choices=("Yes",))
    stage.advance(1790)
    assert stage.workers.stops == []
    stage.advance(20)
    assert [stop.turn for stop in stage.workers.stops] == [turn]


def test_two_cards_at_a_time_count_once_and_the_time_survives_a_restart(open_stage: OpenStage) -> None:
    stage = outliving(open_stage)
    session, turn = stage.create()
    stage.advance(600)
    first = ask(stage, turn)
    stage.advance(HOURS)
    second = ask(stage, turn, card="c2")
    stage.advance(HOURS)
    give(stage, session, first, choices=("Yes",))
    stage.advance(HOURS)
    give(stage, session, second, choices=("Yes",))
    stage.advance(600)
    again = outliving(open_stage, stage)
    again.advance(0)
    card = ask(again, turn, card="c3")
    again.advance(HOURS)
    give(again, session, card, choices=("Yes",))
    again.advance(3600 - 1200 - 10)
    assert again.workers.stops == []
    again.advance(20)
    assert [stop.turn for stop in again.workers.stops] == [turn]


# -- who waits -------------------------------------------------------------------------------------


def test_who_waits_for_the_turn_is_told_when_it_waits_on_a_card(stage: Stage) -> None:
    session, turn = stage.create()
    waited = await_end(stage, session, turn)
    assert not waited.done
    card = ask(stage, turn)
    assert (waited.done, waited.get()) == (True, None)
    assert await_end(stage, session, turn).get() is None
    give(stage, session, card, choices=("Yes",))
    after = await_end(stage, session, turn)
    assert not after.done
    stage.workers.end(turn)
    stage.settle()
    assert isinstance(after.get(), TurnOver)


def test_nothing_is_shown_to_an_agent_that_waits_on_a_card(open_stage: OpenStage) -> None:
    stage = open_stage(providers=PROVIDERS)
    stage.workers.on_steer = lambda _: None
    session, turn = stage.create(provider="agent")
    card = ask(stage, turn)
    stage.send(session, "look here")
    assert stage.workers.steers == []
    give(stage, session, card, choices=("Yes",))
    assert [steer.text for steer in stage.workers.steers] == ["look here"]


def test_a_message_on_its_way_into_the_turn_waits_again_when_a_card_comes_first(
    open_stage: OpenStage,
) -> None:
    stage = open_stage(providers=PROVIDERS)
    stage.workers.on_steer = lambda _: None
    session, turn = stage.create(provider="agent")
    stage.store.hold()
    sent = stage.begin("send", session=session, text="look here", wait_seconds=0)
    stage.settle()
    stage.store.release_first()
    stage.settle()
    stage.workers.ask(turn, "c1", "Yes")
    stage.settle()
    stage.store.release()
    stage.settle()
    message = sent.get()["message_id"]
    assert stage.workers.steers == []
    assert stage.status(message) == "queued"
