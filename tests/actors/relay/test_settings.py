"""What the owner sets is kept, and what the relay goes by from then on."""

import logging
from typing import Any

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.settings import DEFAULTS, Settings
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage


def put(stage: Stage, name: str, value: Any) -> Settings:
    """Set something as the owner does."""
    with stage.dispatcher:
        return stage.door.set_setting(name, value)


def limits(stage: Stage) -> Any:
    return stage.call("list_relays")["limits"]


def test_what_is_set_holds_at_once_and_in_every_later_relay(stage: Stage) -> None:
    assert put(stage, "longest_wait_minutes", 5) == DEFAULTS.model_copy(update={"longest_wait_minutes": 5})
    assert limits(stage)["maxWaitSeconds"] == 300
    stage = stage.again()
    assert limits(stage)["maxWaitSeconds"] == 300
    assert put(stage, "longest_wait_minutes", None) == DEFAULTS
    assert stage.again().door.settings() == DEFAULTS


def test_that_nobody_is_asked_any_more_is_in_the_log_by_whatever_door_it_was_set(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    for value, times in ((True, 1), (True, 1), (False, 1), (True, 2), (None, 2)):
        put(stage, "unsafe_no_cards", value)
        assert caplog.text.count("UNSAFE") == times


def test_a_limit_of_turns_holds_from_the_next_turn_on(stage: Stage) -> None:
    put(stage, "max_turn_minutes", 5)
    session, first = stage.create()
    put(stage, "max_turn_minutes", 10)
    second = stage.send(session, "second")
    stage.advance(301)
    assert stage.status(first) == "failed"
    stage.advance(301)
    assert stage.status(second) == "handed"
    stage.advance(300)
    assert stage.status(second) == "failed"


def test_what_a_relay_was_opened_with_comes_first_until_somebody_sets_it(open_stage: OpenStage) -> None:
    put(open_stage(), "log_days", 3)
    stage = open_stage(settings=Settings(log_days=7))
    assert stage.door.settings().log_days == 7
    assert put(stage, "log_events", 5_000) == Settings(log_days=7, log_events=5_000)
    assert put(stage, "log_days", 2).log_days == 2
    assert open_stage().door.settings() == Settings(log_days=2, log_events=5_000)
    assert open_stage(read_only=True).door.settings().log_days == 2


def test_a_kept_value_that_passes_no_longer_is_ignored_and_named(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    put(stage, "log_days", 3)
    put(stage, "max_active_sessions", 9)
    database = stage.store._inner._database.connection
    database.execute("UPDATE setting SET value = '65' WHERE name = 'max_active_sessions'")
    database.execute("INSERT INTO setting (name, value) VALUES ('moon', '\"full\"')")
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        again = stage.again()
    assert again.door.settings() == Settings(log_days=3)
    told = [record.getMessage() for record in caplog.records if "setting" in record.getMessage()]
    assert len(told) == 2
    assert "max_active_sessions" in told[0]
    assert "moon" in told[1]


def test_what_was_not_stored_is_not_in_force(stage: Stage) -> None:
    stage.store.refusing = frozenset({"set_setting"})
    with pytest.raises(Refusal) as refused:
        put(stage, "log_days", 3)
    assert refused.value.code is Code.STORAGE
    assert stage.door.settings() == DEFAULTS
    stage.store.refusing = frozenset()
    assert put(stage, "log_days", 3).log_days == 3


def test_a_relay_that_only_looks_or_is_closed_sets_nothing(stage: Stage, open_stage: OpenStage) -> None:
    with pytest.raises(Refusal, match="reading only"):
        put(open_stage(read_only=True), "log_days", 3)
    stage.close()
    with pytest.raises(Refusal, match="closed"):
        put(stage, "log_days", 3)
