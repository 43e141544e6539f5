from typing import get_args

from showcaller.actors.contract.events import EVENTS, EventName, heard_events

ALWAYS = {"question_answered", "link_lost", "link_restored"}
USUAL = {
    "question_asked",
    "error",
    "turn_end",
    "subagent_finished",
    "task_failed",
    "stalled",
    "all_idle",
    "archived",
}


def test_the_table_has_every_event_once() -> None:
    assert tuple(EVENTS) == get_args(EventName)
    assert {name for name, event in EVENTS.items() if event.urgent} == {"question_asked", "error"} | ALWAYS


def test_a_subscription_that_names_no_events_gets_the_usual_ones() -> None:
    assert heard_events(None) == USUAL | ALWAYS


def test_a_subscription_that_names_some_gets_those() -> None:
    assert heard_events(["turn_started"]) == {"turn_started"} | ALWAYS


def test_naming_finished_tasks_takes_in_finished_agents() -> None:
    assert heard_events(["task_finished"]) == {"task_finished", "subagent_finished"} | ALWAYS


def test_a_heartbeat_comes_with_its_interval_only() -> None:
    assert heard_events(["heartbeat"]) == ALWAYS
    assert heard_events(None, heartbeat=True) == USUAL | ALWAYS | {"heartbeat"}
