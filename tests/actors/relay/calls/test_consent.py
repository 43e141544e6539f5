"""Agents' calls about which the owner is asked: the card, the answer, and what is done then."""

from typing import Any

import pytest

from showcaller.actors.contract.inbox import Answer
from showcaller.actors.contract.limits import PROMPTS_UNASKED
from showcaller.actors.relay.calls import AnswerRequest
from tests.actors.relay.asking import ask
from tests.actors.relay.calls.agents import end_turn
from tests.actors.relay.calls.approving import (
    allow,
    allowed,
    answer,
    approvals,
    assistant,
    begin_call,
    only_card,
    open_asking,
    others,
    sessions,
    standing,
    unasked,
)
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_asking(open_stage)


# -- the first create ---------------------------------------------------------------------------------


def test_the_first_create_asks_and_allow_covers_every_later_one(stage: Stage) -> None:
    caller = assistant(stage)
    begun = begin_call(caller, "create_session", text="look into it")
    assert (begun.done, sessions(stage)) == (False, 1)
    card = only_card(stage)
    assert card["question"].splitlines() == [
        "This agent wants to start sessions on this relay (assistant, the default folder).",
        "Sessions it starts use this relay's accounts.",
    ]
    assert 'Prompt: "look into it"' in card["detail"]
    assert [option["label"] for option in card["options"]] == ["Allow", "Deny"]
    assert (card["session"], card["message"]) == (caller.session, stage.workers.runs[0].turn)
    assert (card["allow_freeform"], card["multi_select"]) == (False, False)
    allow(stage)
    assert begun.get()["ok"]
    assert approvals(stage) == []
    assert standing(stage, caller) == ["create"]
    assert begin_call(caller, "create_session", text="and this").get()["ok"]


def test_an_allow_belongs_to_its_conversation(stage: Stage) -> None:
    allowed(assistant(stage), "create_session", text="x")
    begun = begin_call(assistant(stage), "create_session", text="x")
    assert (begun.done, len(approvals(stage))) == (False, 1)


def test_an_allow_survives_the_end_of_the_relay(stage: Stage) -> None:
    caller = assistant(stage)
    allowed(caller, "create_session", text="x")
    assert standing(stage.again(), caller) == ["create"]


@pytest.mark.parametrize("spelling", ["Allow", " aLLoW ", "allow"])
def test_deny_refuses_and_is_remembered_for_nothing(stage: Stage, spelling: str) -> None:
    caller = assistant(stage)
    begun = begin_call(caller, "create_session", text="x")
    answer(stage, only_card(stage)["id"], "deny")
    refused = begun.get()
    assert (refused["code"], sessions(stage)) == ("REMOTE_RELAY_APPROVAL_DENIED", 1)
    assert "said no" in refused["error"]
    assert "Nothing was created" in refused["error"]
    again = begin_call(caller, "create_session", text="x")
    answer(stage, only_card(stage)["id"], spelling)
    assert again.get()["ok"]


def test_parallel_first_creates_of_the_same_kind_share_one_card_which_lists_them(stage: Stage) -> None:
    caller = assistant(stage)
    begun = [begin_call(caller, "create_session", text=f"part {n}") for n in range(3)]
    other = begin_call(caller, "create_session", text="elsewhere", cwd="/tmp")
    assert len(approvals(stage)) == 2
    shared = min(approvals(stage), key=lambda card: card["created_at"] * 100 - len(card["detail"]))
    assert [shared["detail"].count(f'"part {n}"') for n in range(3)] == [1, 1, 1]
    answer(stage, shared["id"])
    assert [call.get()["ok"] for call in begun] == [True, True, True]
    assert not other.done, "it stands allowed, but its own card was not answered"
    allow(stage)
    assert other.get()["ok"]


def test_a_create_that_comes_while_the_answer_is_being_stored_is_listed_on_no_card(stage: Stage) -> None:
    caller = assistant(stage)
    first = begin_call(caller, "create_session", text="one")
    card = only_card(stage)["id"]
    stage.store.hold()
    begun = stage.door._request(_answer(card))
    stage.settle()
    second = begin_call(caller, "create_session", text="two")
    stage.store.release()
    stage.settle()
    assert (begun.get()["ok"], first.get()["ok"], second.get()["ok"]) == (True, True, True)


def test_a_create_that_comes_while_deny_is_being_stored_asks_for_itself(stage: Stage) -> None:
    caller = assistant(stage)
    first = begin_call(caller, "create_session", text="one")
    card = only_card(stage)["id"]
    stage.store.hold()
    stage.door._request(_answer(card, "Deny"))
    stage.settle()
    second = begin_call(caller, "create_session", text="two")
    stage.store.release()
    stage.settle()
    assert first.get()["code"] == "REMOTE_RELAY_APPROVAL_DENIED"
    assert not second.done
    assert '"two"' in only_card(stage)["detail"]
    assert only_card(stage)["id"] != card


def test_in_ask_each_first_create_has_a_card_of_its_own(stage: Stage) -> None:
    caller = assistant(stage, "ask")
    begun = [begin_call(caller, "create_session", text=f"part {n}") for n in range(2)]
    assert len(approvals(stage)) == 2
    answer(stage, approvals(stage)[0]["id"])
    assert sorted(call.done for call in begun) == [False, True]


def _answer(card: str, choice: str = "Allow") -> Any:

    return AnswerRequest(Answer(question_id=card, choices=(choice,)))


# -- every mode ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["agent", "autopilot"])
def test_in_agent_and_autopilot_a_write_that_no_row_lists_asks_nobody(stage: Stage, mode: str) -> None:
    caller, (target, turn) = assistant(stage, mode), others(stage)
    asked = ask(stage, turn, "Yes", card_kind="ask_user")
    assert caller.call("answer_question", question_id=asked, choices=["Yes"])["ok"]
    assert caller.call("send", session=target, text="x", wait_seconds=0)["ok"]
    assert caller.call("stop", session=target)["ok"]
    assert caller.call("archive", session=target)["ok"]
    assert approvals(stage) == []


@pytest.mark.parametrize("mode", ["ask", "plan"])
def test_in_ask_and_plan_every_write_asks_once(stage: Stage, mode: str) -> None:
    caller, (target, turn) = assistant(stage, mode), others(stage, mode=mode)
    asked = ask(stage, turn, "Yes", card_kind="ask_user")
    assert allowed(caller, "answer_question", question_id=asked, choices=["Yes"])["status"] == "answered"
    assert allowed(caller, "send", session=target, text="x")["status"] == "queued"
    assert allowed(caller, "update_session", session=target, title="x")["changed"] == ["title"]
    assert allowed(caller, "stop", session=target)["ok"]
    assert allowed(caller, "archive", session=target)["ok"]
    made = allowed(caller, "create_session", text="x")["session"]
    assert standing(stage, caller) == ["create", "settings"]
    assert allowed(caller, "create_session", text="y")["ok"], "each write asks, allowed before or not"
    assert caller.call("read_session", session=made)["ok"], "who only reads asks nobody"


def test_the_mode_is_that_of_the_turn(stage: Stage) -> None:
    caller, (target, _) = assistant(stage), others(stage)
    end_turn(stage, caller.session)
    stage.send(caller.session, "only a plan", mode="plan")
    begun = begin_call(caller, "send", session=target, text="x")
    assert not begun.done
    allow(stage)
    assert begun.get()["ok"]
    made = allowed(caller, "create_session", text="x")
    assert made["mode"] == "plan", "what it starts inherits the mode of the turn"


@pytest.mark.parametrize("action", ["send", "create_session", "update_session", "stop", "archive"])
def test_a_caller_without_a_running_turn_is_refused_where_a_card_is_due(stage: Stage, action: str) -> None:
    caller, (target, _) = assistant(stage, "ask"), others(stage)
    end_turn(stage, target)
    end_turn(stage, caller.session)
    more = {"text": "x"} if action in {"send", "create_session"} else {}
    more |= {"title": "x"} if action == "update_session" else {}
    more |= {} if action == "create_session" else {"session": target}
    refused = begin_call(caller, action, **more).get()
    assert (refused["code"], approvals(stage)) == ("REMOTE_RELAY_NO_ACTIVE_TURN", [])


# -- the settings of others, commands, the loop guard -------------------------------------------------


def test_a_looser_mode_for_a_session_of_others_asks_once_and_deny_is_a_permission(stage: Stage) -> None:
    caller, (target, _) = assistant(stage), others(stage, mode="plan")
    begun = begin_call(caller, "send", session=target, text="x", mode="autopilot")
    assert "loosened to autopilot" in only_card(stage)["question"]
    answer(stage, only_card(stage)["id"], "Deny")
    assert begun.get()["code"] == "REMOTE_RELAY_PERMISSION"
    assert allowed(caller, "send", session=target, text="x", mode="agent")["ok"]
    assert standing(stage, caller) == ["settings"]
    assert begin_call(caller, "send", session=target, text="x", mode="autopilot").get()["ok"]
    own = allowed(caller, "create_session", text="x", mode="ask")["session"]
    assert begin_call(caller, "send", session=own, text="y", mode="autopilot").get()["ok"]


def test_each_act_on_a_command_shows_the_whole_of_it_in_every_mode(stage: Stage) -> None:
    caller = assistant(stage, "autopilot")
    settings = stage.ports.settings.of_values(
        {**stage.ports.settings.values_set(), "providers.command.agents_may_start": True}
    )
    stage.ports.in_force.now = settings
    command = "echo one\n" * 100 + "rm -rf build"
    begun = begin_call(caller, "create_session", text=command, provider="command")
    assert 'echo one\\nrm -rf build"' in only_card(stage)["detail"]
    allow(stage)
    made = begun.get()["session"]
    again = begin_call(caller, "create_session", text="ls", provider="command")
    assert (again.done, "first" in only_card(stage)["question"]) == (False, False)
    answer(stage, only_card(stage)["id"], "Deny")
    assert again.get()["code"] == "REMOTE_RELAY_APPROVAL_DENIED"
    assert allowed(caller, "send", session=made, text="ls")["ok"]
    assert begin_call(caller, "stop", session=made).get()["ok"], "to stop one asks nobody"


def test_the_prompt_beyond_thirty_asks_in_every_mode_and_allow_begins_the_count_again(stage: Stage) -> None:
    caller, (target, _) = assistant(stage, "autopilot"), others(stage)
    for number in range(PROMPTS_UNASKED):
        assert begin_call(caller, "send", session=target, text=f"{number}").get()["ok"]
        stage.advance(6)
    begun = begin_call(caller, "send", session=target, text="one more")
    assert "30 prompts" in only_card(stage)["question"]
    stage.advance(60)
    assert begin_call(caller, "stop", session=target).get()["ok"], "what is no prompt asks nobody"
    allow(stage)
    assert begun.get()["ok"]
    assert unasked(stage, caller) == 1
    assert begin_call(caller, "send", session=target, text="and on").get()["ok"]


def test_a_flood_of_prompts_passes_the_loop_guard_with_none_too_many(stage: Stage) -> None:
    caller, (target, _) = assistant(stage), others(stage)
    for number in range(PROMPTS_UNASKED - 2):
        assert begin_call(caller, "send", session=target, text=f"{number}").get()["ok"]
        stage.advance(6)
    stage.advance(60)
    begun = [caller.begin("send", session=target, text=f"at once {n}", wait_seconds=0) for n in range(6)]
    stage.settle()
    assert (sum(call.done for call in begun), len(approvals(stage))) == (2, 4)
    assert unasked(stage, caller) == PROMPTS_UNASKED
    answer(stage, approvals(stage)[0]["id"], "Deny")
    answer(stage, approvals(stage)[0]["id"])
    assert [call.get()["ok"] for call in begun if call.done].count(False) == 1
    assert (unasked(stage, caller), len(approvals(stage))) == (1, 2)


def test_an_answer_of_the_owner_leaves_the_count_as_it_is(stage: Stage) -> None:
    caller, (target, _) = assistant(stage), others(stage)
    begin_call(caller, "send", session=target, text="x").get()
    card = ask(stage, stage.workers.runs[0].turn, "Yes")
    answer(stage, card, "Yes")
    assert unasked(stage, caller) == 1
    assert unasked(stage.again(), caller) == 1, "the count survives the end of the relay"


def test_what_the_owner_types_begins_the_count_again(stage: Stage) -> None:
    caller, (target, _) = assistant(stage), others(stage)
    begin_call(caller, "send", session=target, text="x").get()
    stage.send(target, "a word to another conversation")
    assert unasked(stage, caller) == 1
    stage.send(caller.session, "go on")
    assert unasked(stage, caller) == 0


def test_one_card_tells_of_all_rows_and_allow_grants_each(stage: Stage) -> None:
    caller = assistant(stage, "plan")
    begun = begin_call(caller, "create_session", text="x")
    allow(stage)
    assert (begun.get()["ok"], standing(stage, caller)) == (True, ["create"])
