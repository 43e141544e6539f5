"""What is kept for a time goes when that time is over, and not before."""

from typing import Any

import pytest

from showcaller.actors.contract.settings import Settings
from showcaller.actors.relay.housekeeping import Housekeeper, old_by
from tests.actors.relay.stage import Stage

DAY = 24 * 3600.0


@pytest.fixture(autouse=True)
def housekeeper(stage: Stage) -> None:
    """Have somebody who tidies up in the relay."""
    actor: Any = stage.supervisor._actor
    with stage.dispatcher:
        Housekeeper.start(stage.ports, actor._writer)
    stage.settle()


def finished(stage: Stage) -> None:
    """Have a turn begun and ended, of a prompt with an id."""
    result = stage.begin("create_session", "the-id", text="go", wait_seconds=0)
    stage.settle()
    assert result.get()["ok"]
    stage.workers.end(stage.workers.runs[-1].turn)
    stage.settle()


def test_events_and_the_names_of_writes_go_after_a_week(stage: Stage) -> None:
    finished(stage)
    stage.advance(7 * DAY - 7200)
    stage.settle()
    assert len(stage.read("events")["events"]) == 2
    assert stage.read("client_call", caller=None, client_id="the-id") is not None
    stage.advance(3 * 3600)
    stage.settle()
    assert stage.read("events") == {"events": [], "next": 2, "gap": 3}
    assert stage.read("client_call", caller=None, client_id="the-id") is None


def test_a_start_is_not_held_up_and_a_short_lived_relay_tidies_up_too(stage: Stage) -> None:
    assert "prune_events" not in stage.store.commands
    stage.advance(61)
    stage.settle()
    assert stage.store.commands[-3:] == ["prune_events", "prune_client_ids", "prune_tasks"]


def test_tidying_up_that_failed_is_tried_again_in_an_hour(stage: Stage) -> None:
    finished(stage)
    stage.store.refusing = frozenset({"prune_events"})
    stage.advance(8 * DAY)
    stage.settle()
    assert len(stage.read("events")["events"]) == 2
    stage.store.refusing = frozenset()
    stage.advance(3601)
    stage.settle()
    assert stage.read("events")["events"] == []


def test_the_owner_says_for_how_long_the_log_is_kept() -> None:
    settings = Settings(log_days=2, log_events=5000)
    day = 24 * 3600 * 1000
    assert old_by(10 * day, settings) == [
        ("prune_events", {"before": 8 * day, "keep": 5000}),
        ("prune_client_ids", {"before": 3 * day}),
        ("prune_tasks", {"before": 10 * day - 3600 * 1000}),
    ]
