"""Approval cards of agents' calls: how they end, what is checked then, and who sees them."""

from typing import Any

import pytest

from showcaller.actors.contract.inbox import Answer
from showcaller.actors.relay.calls import AnswerRequest, CallRequest
from showcaller.actors.relay.settings_keeper import SetSetting
from tests.actors.relay.asking import HOURS, status
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


# -- how a card ends ----------------------------------------------------------------------------------


def test_a_card_that_nobody_answers_refuses_after_eight_hours(stage: Stage) -> None:
    caller = assistant(stage)
    begun = begin_call(caller, "create_session", text="x")
    card = only_card(stage)["id"]
    stage.advance(8 * HOURS + 1)
    refused = begun.get()
    assert (refused["code"], status(stage, card)) == ("REMOTE_RELAY_APPROVAL_DENIED", "timed_out")
    assert "8 hours" in refused["error"]
    assert answer(stage, card)["code"] == "REMOTE_RELAY_ALREADY_ANSWERED"
    assert (sessions(stage), standing(stage, caller)) == (1, [])


@pytest.mark.parametrize("how", ["stop", "end"])
def test_a_card_goes_with_its_turn_and_its_call_is_refused(stage: Stage, how: str) -> None:
    caller = assistant(stage)
    begun = begin_call(caller, "create_session", text="x")
    card = only_card(stage)["id"]
    if how == "stop":
        stage.call("stop", session=caller.session)
    else:
        end_turn(stage, caller.session)
    assert begun.get()["code"] == "REMOTE_RELAY_APPROVAL_DENIED"
    assert (status(stage, card), approvals(stage)) == ("withdrawn", [])
    assert answer(stage, card)["code"] == "REMOTE_RELAY_ALREADY_ANSWERED"
    assert (sessions(stage), standing(stage, caller)) == (1, [])


def test_a_call_whose_client_has_gone_takes_its_card_with_it(stage: Stage) -> None:

    caller = assistant(stage)
    arguments = {"action": "create_session", "relay": "this", "text": "x", "wait_seconds": 0}
    begun = stage.door._start(CallRequest(arguments, caller.caller))
    kept = begin_call(caller, "create_session", text="y")
    shared = only_card(stage)
    begun.give_up()
    stage.settle()
    assert '"x"' not in only_card(stage)["detail"]
    assert only_card(stage)["id"] == shared["id"]
    allow(stage)
    assert (kept.get()["ok"], sessions(stage)) == (True, 2)


def test_who_shuts_agents_out_takes_the_cards_and_what_was_allowed_with_it(stage: Stage) -> None:
    caller = assistant(stage, "plan")
    allowed(caller, "create_session", text="x")
    begun = begin_call(caller, "create_session", text="y")
    card = only_card(stage)["id"]
    changed = stage.supervisor.request(_set("agent_sessions", value=False))
    stage.settle()
    assert not changed.get().agent_sessions
    assert begun.get()["code"] == "REMOTE_RELAY_LOCAL_DISABLED"
    assert (status(stage, card), approvals(stage), standing(stage, caller)) == ("withdrawn", [], [])
    assert answer(stage, card)["code"] == "REMOTE_RELAY_ALREADY_ANSWERED"
    stage.supervisor.request(_set("agent_sessions", value=True))
    stage.settle()
    again = begin_call(caller, "create_session", text="y")
    assert (again.done, len(approvals(stage))) == (False, 1)


def _set(name: str, *, value: object) -> Any:

    return SetSetting(name, value)


# -- checked again ------------------------------------------------------------------------------------


def test_all_is_checked_again_after_allow_and_what_was_allowed_stands(stage: Stage) -> None:
    caller = assistant(stage)
    waiting = begin_call(caller, "create_session", text="x")
    stage.ports.in_force.now = stage.ports.settings.of_values(
        {**stage.ports.settings.values_set(), "providers.assistant.agents_may_start": False}
    )
    allow(stage)
    assert waiting.get()["code"] == "REMOTE_RELAY_PROVIDER_UNAVAILABLE"
    assert (sessions(stage), standing(stage, caller)) == (1, ["create"])


def test_allow_is_for_what_was_shown_and_another_thing_is_asked_about_anew(stage: Stage) -> None:
    caller, (target, _) = assistant(stage, "ask"), others(stage)
    begun = begin_call(caller, "send", session=target, text="x")
    shown = only_card(stage)
    assert "Mode: ask" in shown["detail"]
    made = begin_call(caller, "create_session", text="y")
    (first,) = [card for card in approvals(stage) if card["id"] != shown["id"]]
    object.__setattr__(stage.ports, "default_folder", "/tmp")
    answer(stage, first["id"])
    assert not made.done, "it would work in another folder than was shown"
    (second,) = [card for card in approvals(stage) if card["id"] != shown["id"]]
    assert "Folder: /tmp" in second["detail"]
    answer(stage, shown["id"])
    assert begun.get()["ok"]


def test_an_old_allow_is_good_for_nothing_else(stage: Stage) -> None:
    caller, (target, _) = assistant(stage, "ask"), others(stage)
    begun = begin_call(caller, "send", "once", session=target, text="x")
    card = only_card(stage)["id"]
    allow(stage)
    assert begun.get()["ok"]
    assert begin_call(caller, "send", "once", session=target, text="x").get()["status"] == "duplicate"
    assert begin_call(caller, "send", "once", session=target, text="y").get()["code"] == (
        "REMOTE_RELAY_INVALID_INPUT"
    )
    assert answer(stage, card)["code"] == "REMOTE_RELAY_ALREADY_ANSWERED"
    assert not begin_call(caller, "send", "twice", session=target, text="x").done


def test_a_repeat_beside_its_first_waits_for_the_same_card_and_is_done_once(stage: Stage) -> None:
    caller, (target, _) = assistant(stage, "ask"), others(stage)
    both = [begin_call(caller, "send", "once", session=target, text="x") for _ in range(2)]
    other = begin_call(caller, "send", "once", session=target, text="y")
    assert other.get()["code"] == "REMOTE_RELAY_INVALID_INPUT"
    allow(stage)
    assert sorted(call.get()["status"] for call in both) == ["duplicate", "queued"]
    assert unasked(stage, caller) == 1


# -- who sees and answers it --------------------------------------------------------------------------


def test_agents_neither_see_nor_answer_approvals(stage: Stage) -> None:
    caller, other = assistant(stage, "plan"), assistant(stage)
    begun = begin_call(caller, "create_session", text="a secret plan")
    card = only_card(stage)["id"]
    seen = [
        other.call("read_session", session=caller.session),
        caller.call("read_session", session=caller.session),
        other.call("list_sessions"),
        other.call("wait", session=caller.session, message_id=stage.workers.runs[0].turn, wait_seconds=0),
    ]
    assert all(result["ok"] for result in seen)
    assert all(card not in f"{result}" and "secret plan" not in f"{result}" for result in seen)
    assert (seen[0]["waiting"], seen[0]["pendingQuestions"]) == ("approval", [])
    assert (seen[3]["status"], seen[3]["approvalsPending"]) == ("waiting_for_answer", 1)
    for each, code in ((other, "REMOTE_RELAY_FORBIDDEN"), (caller, "REMOTE_RELAY_OWN_SESSION")):
        for choice in ("Allow", "allow"):
            refused = each.call("answer_question", question_id=card, choices=[choice])
            assert (refused["code"], status(stage, card)) == (code, "pending")
    assert not begun.done


@pytest.mark.parametrize(
    "given",
    [
        {"answer": "Allow"},
        {"choices": ("Allow",), "answer": "yes"},
        {"choices": ("Allow", "Deny")},
        {"choices": ("yes",)},
        {"dismiss": True},
    ],
)
def test_an_approval_takes_allow_or_deny_and_nothing_else(stage: Stage, given: dict[str, Any]) -> None:

    begun = begin_call(assistant(stage), "create_session", text="x")
    card = only_card(stage)["id"]
    answered = stage.door._request(AnswerRequest(Answer(question_id=card, **given)))
    stage.settle()
    assert answered.get()["code"] == "REMOTE_RELAY_INVALID_INPUT"
    assert (begun.done, status(stage, card)) == (False, "pending")


def test_the_turns_time_stands_still_while_its_call_waits_for_approval(stage: Stage) -> None:
    caller = assistant(stage)
    begun = begin_call(caller, "create_session", text="x")
    stage.advance(7 * HOURS)
    allow(stage)
    assert begun.get()["ok"]
    assert stage.status(stage.workers.runs[0].turn) == "handed"


def test_who_allows_what_cannot_be_stored_is_told_so_and_the_call_waits_on(stage: Stage) -> None:
    caller = assistant(stage)
    begun = begin_call(caller, "create_session", text="x")
    card = only_card(stage)["id"]
    stage.store.refusing = frozenset({"end_approval"})
    assert answer(stage, card)["code"] == "REMOTE_RELAY_STORAGE"
    assert not begun.done
    stage.store.refusing = frozenset()
    assert answer(stage, card)["ok"]
    assert begun.get()["ok"]


def test_a_card_that_cannot_be_stored_refuses_its_call(stage: Stage) -> None:
    caller = assistant(stage)
    stage.store.refusing = frozenset({"open_approval"})
    assert begin_call(caller, "create_session", text="x").get()["code"] == "REMOTE_RELAY_STORAGE"
    assert (approvals(stage), sessions(stage)) == ([], 1)
    stage.store.refusing = frozenset()
    first = begin_call(caller, "create_session", text="x")
    stage.store.refusing = frozenset({"change_approval"})
    second = begin_call(caller, "create_session", text="y")
    assert (first.done, second.get()["code"]) == (False, "REMOTE_RELAY_STORAGE")
