"""What an agent asks a person: the card waits, the turn's time stands still, and there is one answer."""

import asyncio
import json
from typing import Any

import pytest

from showcaller.actors.contract.agent_messages import CardAsked
from showcaller.transport.worker.acp.cards import OpenCards
from tests.transport.worker.acp.desk import AgentDesk


async def test_a_permission_is_a_card_and_its_answer_reaches_the_agent(desk: AgentDesk) -> None:
    turn = desk.start("permission Run the tests")
    card = await desk.card(turn)
    assert (card.card_kind, card.question, card.detail) == ("permission", "Run the tests", "make")
    assert [(option.id, option.label, option.kind) for option in card.options] == [
        ("yes", "Allow", "allow_once"),
        ("always", "Always allow", "allow_always"),
        ("no", "Reject", "reject_once"),
    ]
    desk.answer(card, choices=("yes",))
    assert (await desk.stage.end_of(turn)).reply == "permission: yes\n"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"choices": ("no",)}, "no"),
        ({"choices": ("ALWAYS ALLOW",)}, "always"),
        ({"choices": ("unheard of",)}, "no"),
        ({"outcome": "dismissed"}, "no"),
        ({"outcome": "timed_out"}, "no"),
    ],
)
async def test_nothing_but_a_yes_is_one(desk: AgentDesk, answer: dict[str, Any], told: str) -> None:
    turn = desk.start("permission")
    desk.answer(await desk.card(turn), **answer)
    assert (await desk.stage.end_of(turn)).reply == f"permission: {told}\n"


async def test_the_first_answer_counts_and_a_late_one_is_dropped(desk: AgentDesk) -> None:
    turn = desk.start("permission\npermission")
    card = await desk.card(turn)
    desk.answer(card, choices=("yes",))
    desk.answer(card, choices=("no",))
    second = await desk.card(turn, 2)
    assert second.card != card.card
    desk.answer(card, choices=("no",))
    desk.answer(second, choices=("no",))
    assert (await desk.stage.end_of(turn)).reply == "permission: yes\npermission: no\n"


async def test_time_on_a_card_does_not_count(desk: AgentDesk) -> None:
    await desk.run("say started")
    turn = desk.start("permission", turn_more={"timeout": 0.5})
    card = await desk.card(turn)
    other = desk.stage.start(
        "hang", provider="fake", agent=desk.spec(), session="ses_other", cwd=str(desk.work), timeout=2.0
    )
    assert (await desk.stage.end_of(other)).stop_reason == "timeout"
    desk.answer(card, choices=("yes",))
    assert (await desk.stage.end_of(turn)).outcome == "done"


async def test_a_stopped_turn_takes_its_cards_back(desk: AgentDesk) -> None:
    turn = desk.start("permission")
    card = await desk.card(turn)
    desk.stage.stop(turn)
    assert (await desk.withdrawn(card)).turn == turn
    assert (await desk.stage.end_of(turn)).outcome == "stopped"
    desk.answer(card, choices=("yes",))
    assert (await desk.run("say on")).resumed_via == "alive"


async def test_a_dead_agent_takes_its_cards_along(desk: AgentDesk) -> None:
    turn = desk.start("permission")
    card = await desk.card(turn)
    desk.kill()
    await desk.withdrawn(card)
    assert (await desk.stage.end_of(turn)).outcome == "stopped"


async def test_another_relay_is_told_of_the_cards_again(desk: AgentDesk) -> None:
    turn = desk.start("permission")
    card = await desk.card(turn)
    desk.stage.host.meet_another_relay()
    assert await desk.card(turn, 2) == card
    desk.answer(card, choices=("yes",))
    assert (await desk.stage.end_of(turn)).reply == "permission: yes\n"


async def test_a_choice_is_a_question_with_options(desk: AgentDesk) -> None:
    turn = desk.start("choose")
    card = await desk.card(turn)
    assert (card.card_kind, card.question, card.form) == ("ask_user", "Red or blue?", None)
    assert [(option.id, option.label) for option in card.options] == [("r", "Red"), ("b", "Blue")]
    desk.answer(card, choices=("blue",))
    reply = (await desk.stage.end_of(turn)).reply
    assert json.loads(reply.partition(": ")[2]) == {"action": "accept", "content": {"colour": "b"}}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            {"values": {"colour": "red", "why": "warm"}},
            {"action": "accept", "content": {"colour": "red", "why": "warm"}},
        ),
        ({"outcome": "dismissed"}, {"action": "decline"}),
        ({"outcome": "timed_out"}, {"action": "cancel"}),
    ],
)
async def test_a_form_goes_with_its_schema(
    desk: AgentDesk, answer: dict[str, Any], told: dict[str, Any]
) -> None:
    turn = desk.start("form")
    card = await desk.card(turn)
    assert card.form is not None
    assert list(card.form["properties"]) == ["colour", "why"]
    desk.answer(card, **answer)
    reply = (await desk.stage.end_of(turn)).reply
    assert json.loads(reply.partition(": ")[2]) == told


async def test_a_relay_that_was_away_hears_of_a_card_that_is_gone() -> None:
    told: asyncio.Queue[Any] = asyncio.Queue()
    cards, clock = OpenCards(told.put_nowait), Standing()
    asked = CardAsked(session="ses_a", turn="msg_a", card="c1", card_kind="permission", question="May I?")
    gone, waits = (
        asyncio.create_task(cards.ask(asked.model_copy(update={"card": name}), clock))
        for name in ("c1", "c2")
    )
    assert [(await told.get()).card, (await told.get()).card] == ["c1", "c2"]
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert (await told.get()).kind == "card_withdrawn"
    cards.tell_all()
    again = [told.get_nowait(), told.get_nowait()]
    assert [(message.kind, message.card) for message in again] == [
        ("card_withdrawn", "c1"),
        ("card_asked", "c2"),
    ]
    cards.withdraw_all()
    assert ((await waits).outcome, told.get_nowait().card) == ("withdrawn", "c2")
    cards.tell_all()
    assert told.empty()


class Standing:
    """The time of a turn that nobody looks at."""

    def pause(self) -> None:
        """Count no time."""

    def go_on(self) -> None:
        """Count the time again."""
