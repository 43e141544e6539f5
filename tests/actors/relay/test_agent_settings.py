"""What an agent is to be set to is checked before a prompt is stored, by what it has told that it offers."""

from typing import Any

import pytest

from showcaller.actors.contract.calls import CreateSession
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.handshakes import Handshake
from showcaller.actors.contract.provider_entries import ProviderEntry
from showcaller.actors.relay.prompts import Elsewhere, check_settings

AGENT = ProviderEntry("fake", "Fake agent", kind="acp", program="fake")
TOLD = Handshake(command=("fake",), models=("gpt-5.4", "gpt-4"), efforts=("low", "high"), at=1)


def checked(told: Handshake | None = TOLD, entry: ProviderEntry = AGENT, **named: Any) -> list[str]:
    call = CreateSession.model_validate({"relay": "this", "text": "hi", **named})
    return check_settings(call, entry.provider, entry, told)


def test_what_it_offers_passes() -> None:
    assert checked(model="gpt-4", effort="high", mode="plan") == []


def test_an_unknown_model_is_refused_with_what_is_close() -> None:
    with pytest.raises(Refusal, match=r"did you mean 'gpt-5\.4'\?") as refused:
        checked(model="gpt-5-4")
    assert refused.value.code is Code.UNKNOWN_MODEL
    told = refused.value.to_result()
    assert (told["suggestions"], told["models"]) == (["gpt-5.4", "gpt-4"], ["gpt-5.4", "gpt-4"])


def test_a_model_that_just_one_other_provider_lists_is_refused_with_that_provider() -> None:
    call = CreateSession.model_validate({"relay": "this", "text": "hi", "model": "large"})
    one = Elsewhere("desk", {"other": ("large",), "third": ("small",)})
    with pytest.raises(Refusal, match=r'on relay "desk";.* other has it: .*Nothing was created') as refused:
        check_settings(call, "fake", AGENT, TOLD, one)
    assert refused.value.code is Code.UNKNOWN_MODEL
    with pytest.raises(Refusal, match=r"command has no models.* other has it"):
        check_settings(call, "command", None, None, one)
    two = one._replace(models={"other": ("large",), "third": ("large",)})
    with pytest.raises(Refusal) as refused:
        check_settings(call, "fake", AGENT, TOLD, two)
    assert "has it" not in refused.value.error


def test_an_unknown_effort_is_refused_with_those_there_are() -> None:
    with pytest.raises(Refusal, match="it has: low, high") as refused:
        checked(effort="max")
    assert refused.value.to_result()["efforts"] == ["low", "high"]


def test_without_a_list_a_model_passes_with_a_note() -> None:
    assert checked(None, model="anything", effort="max") == [
        "Fake agent has told no list of models yet, so the model was not checked."
    ]


def test_a_repository_is_refused_where_a_folder_is_wanted() -> None:
    with pytest.raises(Refusal, match="takes no repo or branch"):
        checked(repo="owner/name")


def test_an_agent_that_wants_a_clone_is_not_run_in_a_folder() -> None:
    cloning = AGENT._replace(takes="repo")
    wrong: list[dict[str, Any]] = [
        {},
        {"branch": "fix"},
        {"cwd": "/srv"},
        {"cwd": "/srv", "repo": "owner/name"},
    ]
    for named in wrong:
        with pytest.raises(Refusal, match=r"works on a fresh clone and .*name its repo") as refused:
            checked(entry=cloning, **named)
        assert refused.value.code is Code.INVALID_INPUT
    assert checked(entry=cloning, repo="owner/name", branch="fix") == []
