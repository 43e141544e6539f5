"""What an owner sets is checked where it comes in, and where it was kept."""

from typing import Any

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.provider_entries import BUILT_IN, ProviderEntry
from showcaller.actors.contract.setting_facts import setting_facts
from showcaller.actors.contract.settings import (
    DEFAULTS,
    Settings,
    check_setting,
    setting_schemas,
    switch_name,
    valid_settings,
)

WRONG: list[tuple[object, Any, str]] = [
    ("longest_wait_minutes", 61, "longest_wait_minutes must be at most 60 .*default"),
    ("longest_wait_minutes", 1, "longest_wait_minutes must be at least 2 "),
    ("longest_wait_minutes", "5", "whole number"),
    ("longest_wait_minutes", True, "whole number"),
    ("agent_sessions", 1, "true or false"),
    ("log_days", [7], "whole number"),
    ("providers.command.agents_may_start", "on", "true or false"),
    ("providers.moon.agents_may_start", True, "no setting .*providers.command.agents_may_start"),
    ("providers", {}, "no setting"),
    ("log_dayz", 7, "no setting .*log_dayz.*log_days"),
    ("now", None, "no setting"),
    ("clone_hosts", "github.com", "must be a list"),
    ("clone_hosts", ["github.com", 7], "must be text"),
    ("clone_hosts", ["https://github.com/"], "no name of a host.*default is none"),
    ("clone_hosts", ["-oProxyCommand=x"], "no name of a host"),
    ("clone_hosts", ["h"] * 101, "more than 100 entries"),
    ("allowed_folders", ["work"], "no absolute folder"),
    ("allowed_folders", ["/srv/../etc"], "no absolute folder"),
    ("allowed_folders", ["/a\0b"], "no absolute folder"),
    (7, 7, "no setting int"),
]


@pytest.mark.parametrize(("name", "value", "told"), WRONG)
def test_what_is_no_setting_is_refused_with_what_is(name: object, value: Any, told: str) -> None:
    with pytest.raises(Refusal, match=told) as refused:
        check_setting(name, value)
    assert refused.value.code is Code.INVALID_INPUT


def test_every_setting_takes_its_default_and_nothing() -> None:
    assert "providers.command.agents_may_start" in DEFAULTS.values()
    for name, value in DEFAULTS.values().items():
        assert check_setting(name, value) == {name: value}
        assert check_setting(name, None) == {name: None}


def test_a_list_is_taken_as_it_comes_in_json_and_written_one_way() -> None:
    assert check_setting("clone_hosts", ["GitHub.com", " h:8443"]) == {
        "clone_hosts": ("github.com", "h:8443")
    }
    assert check_setting("allowed_folders", ["/srv/", "/"]) == {"allowed_folders": ("/srv", "/")}
    assert Settings.of_values({"allowed_folders": ("/srv",)}).allowed_folders == ("/srv",)


def test_an_owners_own_provider_has_a_switch_where_it_is_known() -> None:
    mine = (*BUILT_IN, ProviderEntry("mine", "Mine", kind="acp", agents_may_start=True))
    switch = switch_name("mine")
    with pytest.raises(Refusal, match="no setting"):
        check_setting(switch, False)
    assert check_setting(switch, False, mine) == {switch: False}
    with pytest.raises(Refusal, match="true or false"):
        check_setting(switch, "off", mine)
    assert Settings().values(mine)[switch] is True
    settings = Settings.of_values({switch: False})
    assert settings.values(mine)[switch] is False
    assert not settings.agents_may_start(mine[-1])
    assert valid_settings({switch: False}) == ({switch: False}, [])
    assert [fact.name for fact in setting_facts(mine)][-1] == switch


def test_of_what_was_kept_only_what_does_not_pass_is_left_out() -> None:
    valid, problems = valid_settings({"log_days": 3, "log_events": 1, "of_a_later_version": "x"})
    assert valid == {"log_days": 3}
    assert len(problems) == 2
    assert problems[0].startswith("log_events must")
    assert "of_a_later_version" in problems[1]


def test_a_switch_of_a_provider_is_kept_by_its_name_and_beside_what_the_catalogue_says() -> None:
    name = switch_name("command")
    opened = Settings.of_values({"log_days": 3, name: True})
    assert opened.values()[name] is True
    assert opened.values_set() == {"log_days": 3, name: True}
    assert Settings.of_values(opened.values_set()) == opened
    (command, function) = BUILT_IN
    assert opened.agents_may_start(command)
    assert not opened.agents_may_start(function)
    assert not DEFAULTS.agents_may_start(command)


def test_what_each_setting_takes_is_told_by_its_name() -> None:
    schemas = setting_schemas()
    assert schemas.keys() == DEFAULTS.values().keys()
    assert schemas["longest_wait_minutes"]["maximum"] == 60
    assert schemas[switch_name("command")]["type"] == "boolean"


def test_every_setting_says_what_it_is_for_what_it_takes_and_its_default() -> None:
    facts = {fact.name: fact for fact in setting_facts()}
    assert list(facts) == list(DEFAULTS.values())
    for name, fact in facts.items():
        assert fact.default == DEFAULTS.values()[name]
        assert 15 < len(fact.description) <= 100
        assert fact.description.endswith(".")
        assert "\n" not in fact.description
    assert facts["longest_wait_minutes"].takes == "2 to 60"
    assert facts["agent_sessions"].takes == "on or off"
    assert facts["longest_wait_minutes"].told() == {
        "name": "longest_wait_minutes",
        "default": 10,
        "type": "number",
        "minimum": 2,
        "maximum": 60,
        "description": "Minutes that one call of the tool waits at most.",
    }
