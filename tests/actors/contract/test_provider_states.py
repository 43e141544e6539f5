"""The four states of a provider, and what is told of each."""

import json
from pathlib import PurePath

import pytest

from showcaller.actors.contract.handshakes import Handshake, handshakes_in, handshakes_text
from showcaller.actors.contract.provider_catalogue import known_providers, shipped_agents
from showcaller.actors.contract.provider_states import ProviderRow, provider_list
from showcaller.actors.contract.settings import DEFAULTS

CLAUDE = shipped_agents()["claude"]
PROVEN = Handshake(
    command=CLAUDE.command,
    version="0.49.0",
    models=("opus", "sonnet"),
    modes=("default", "plan"),
    efforts=("low", "high"),
    loads=True,
    resumes=False,
    http=True,
    at=1_000_000_000_000,
)


def found(program: str) -> str | None:
    return str(PurePath("/bin") / program)


def not_found(program: str) -> str | None:
    return None


def row(name: str, handshakes: dict[str, Handshake], *, installed: bool = True) -> ProviderRow:
    find = found if installed else not_found
    (one,) = provider_list(known_providers(), DEFAULTS, [name], find, handshakes).providers
    return one


def test_an_agent_is_unknown_missing_available_or_ready() -> None:
    assert row("nobody", {}).state == "unknown"
    assert row("claude", {}, installed=False).state == "missing"
    assert row("claude", {}).state == "available"
    assert row("claude", {"claude": PROVEN}).state == "ready"


def test_a_missing_agent_says_how_to_get_it_and_one_that_is_there_does_not() -> None:
    assert row("claude", {}, installed=False).to_install == CLAUDE.install
    assert row("claude", {}).to_install is None


def test_a_handshake_tells_version_models_modes_and_efforts() -> None:
    told = row("claude", {"claude": PROVEN})
    assert (told.version, told.models, told.modes) == ("0.49.0", ("opus", "sonnet"), ("default", "plan"))
    assert (told.efforts, told.resumes, told.checked_at) == (
        ("low", "high"),
        False,
        "2001-09-09T01:46:40.000Z",
    )


def test_a_handshake_of_another_command_proves_nothing_and_neither_does_one_of_what_has_gone() -> None:
    other = PROVEN.model_copy(update={"command": ("other",)})
    assert row("claude", {"claude": other}).state == "available"
    assert row("claude", {"claude": other}).version is None
    assert row("claude", {"claude": PROVEN}, installed=False).state == "missing"


def test_kept_handshakes_come_back() -> None:
    assert handshakes_in(handshakes_text({"claude": PROVEN})) == {"claude": PROVEN}


@pytest.mark.parametrize(
    "damaged",
    ["", "[]", "{", "[" * 100_000, json.dumps({"claude": {"command": 1}}), json.dumps({"claude": None})],
)
def test_a_damaged_file_of_handshakes_proves_nothing(damaged: str) -> None:
    assert handshakes_in(damaged) == {}


def test_one_damaged_handshake_harms_no_other() -> None:
    kept = json.loads(handshakes_text({"claude": PROVEN}))
    assert handshakes_in(json.dumps({**kept, "codex": {"at": -1}})) == {"claude": PROVEN}


def closest(name: str) -> str:
    suggestions = row(name, {}).suggestions
    assert suggestions is not None
    return suggestions[0]


def test_of_an_unknown_name_those_are_told_that_are_close() -> None:
    assert closest("clade") == "claude"
    assert closest("Codex:x") == "codex"
    assert row("zzzzzz", {}).suggestions is None


def test_a_name_that_says_what_to_run_is_that_of_a_provider_as_a_sessions_is() -> None:
    told = row("generic:cat --json", {})
    assert (told.provider, told.state, told.kind) == ("generic:cat --json", "available", "acp")
    assert row("generic:cat", {}, installed=False).state == "missing"
    proven = {"generic:cat": PROVEN.model_copy(update={"command": ("cat",)})}
    assert row("generic:cat", proven).state == "ready"
    assert row("generic:dog", {"generic:dog": proven["generic:cat"]}).state == "available"
    assert row("callable:mymodule:work", {}).state == "ready"
    for wrong in ("generic:", "generic:'", "command:x", "claude:x"):
        assert row(wrong, {}).state == "unknown", wrong
