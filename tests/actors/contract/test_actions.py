import pytest

from showcaller.actors.contract.actions import ACTIONS, available_actions, find_action
from showcaller.actors.contract.errors import Refusal

LEVELS = {
    "none": {"list_relays", "ask", "list_questions", "withdraw"},
    "read": {
        "relay_info",
        "usage",
        "list_sessions",
        "read_session",
        "read_task_output",
        "wait",
        "subscribe",
        "unsubscribe",
        "list_subscriptions",
        "transfer_subscriptions",
    },
    "prompt": {"send"},
    "full": {"create_session", "update_session", "answer_question", "stop", "archive"},
    "this relay": {"schedule", "list_schedules", "unschedule"},
}


def test_there_are_23_actions_with_the_levels_of_the_contract() -> None:
    assert len(ACTIONS) == 23
    assert {level: {row.name for row in ACTIONS.values() if row.level == level} for level in LEVELS} == LEVELS
    assert {row.name for row in ACTIONS.values() if row.level_with_session == "prompt"} == {"ask"}


def test_writes_and_counted_prompts_are_those_of_the_contract() -> None:
    always = {row.name for row in ACTIONS.values() if row.write == "always"}
    assert always == {"send", "create_session", "update_session", "answer_question", "stop", "archive"}
    assert {row.name for row in ACTIONS.values() if row.write == "with session"} == {"schedule", "ask"}
    counted = {row.name for row in ACTIONS.values() if row.prompt == "always"}
    assert counted == {"send", "create_session", "answer_question"}
    assert {row.name for row in ACTIONS.values() if row.prompt == "with session"} == {"schedule"}
    assert {row.name for row in ACTIONS.values() if row.own_card} == {"subscribe", "transfer_subscriptions"}


def test_ten_actions_mean_this_relay_when_they_name_none() -> None:
    optional = {row.name for row in ACTIONS.values() if row.relay_optional}
    assert len(optional) == 10
    assert {row.name for row in ACTIONS.values() if not row.takes_relay} == {"list_relays"}


def test_a_built_action_is_the_one_that_its_model_names() -> None:
    assert [row.name for row in available_actions()] == [
        "list_relays",
        "relay_info",
        "list_sessions",
        "read_session",
        "read_task_output",
        "send",
        "create_session",
        "update_session",
        "wait",
        "answer_question",
        "stop",
        "archive",
        "subscribe",
        "unsubscribe",
        "list_subscriptions",
    ]
    for row in ACTIONS.values():
        assert row.model.model_fields["action"].default == row.name


def test_an_action_is_found_in_any_case() -> None:
    assert find_action("SEND") is ACTIONS["send"]
    with pytest.raises(Refusal, match=r'There is no action "sing"\. Actions: list_relays, '):
        find_action("sing")
