"""What a fan-out may prompt: agents, and commands that get prompts as their input."""

from pathlib import Path

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.provider_catalogue import catalogue_of, read_providers, shipped_agents
from showcaller.actors.relay.fanout_provider import check_prompted
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import spec_of

FILE = """
[providers.lines]
kind = "command"
label = "Count lines"
command = ["wc", "-l"]

[providers.cloner]
like = "claude"
takes = "repo"
"""
_ENTRIES = read_providers(FILE, "providers.toml", shipped_agents())
KNOWN = catalogue_of(_ENTRIES.agents.values(), _ENTRIES.commands.values())
INSTALLED = {"wc": "/bin/wc", "claude-agent-acp": "/bin/claude-agent-acp"}.get


@pytest.mark.parametrize("provider", ["claude", "lines"])
def test_what_is_installed_and_takes_prompts_may_be_prompted(provider: str, tmp_path: Path) -> None:
    check_prompted(spec_of(tmp_path, kind="prompt", provider=provider), KNOWN, INSTALLED)


@pytest.mark.parametrize(
    ("provider", "code", "why"),
    [
        ("nobody", Code.PROVIDER_UNAVAILABLE, "This relay has no provider"),
        ("gemini", Code.PROVIDER_UNAVAILABLE, "is not installed here"),
        ("command", Code.INVALID_INPUT, "name what runs as a command line"),
        ("callable:work:run", Code.INVALID_INPUT, "name what runs with --callable"),
        ("cloner", Code.INVALID_INPUT, "no fan-out names one"),
        ("generic:no-such-agent", Code.PROVIDER_UNAVAILABLE, "no program"),
    ],
)
def test_another_is_refused_with_the_reason(provider: str, code: Code, why: str, tmp_path: Path) -> None:
    spec = spec_of(tmp_path, kind="prompt", provider=provider)
    with pytest.raises(Refusal, match=why) as refused:
        check_prompted(spec, KNOWN, INSTALLED)
    assert refused.value.code is code
    assert refused.value.error.endswith("Nothing was started.")


def test_commands_functions_and_what_is_gone_on_with_are_not_looked_at(tmp_path: Path) -> None:
    check_prompted(spec_of(tmp_path), KNOWN, INSTALLED)
    check_prompted(spec_of(tmp_path, kind="callable", template="a:b"), KNOWN, INSTALLED)
    check_prompted(None, KNOWN, INSTALLED)


def test_one_that_is_refused_leaves_no_group_behind(open_stage: OpenStage) -> None:
    stage = open_stage()
    run = stage.fan_out(["a"], kind="prompt", template="mend {}", provider="nobody")
    stage.settle()
    with pytest.raises(Refusal, match="This relay has no provider"):
        run.ref.get()
    assert stage.read("fanout", group=run.group) is None
