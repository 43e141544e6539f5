"""Models are checked before any card; a session never changes provider because of one."""

from typing import Any

import pytest

from showcaller.actors.contract.handshakes import Handshake
from showcaller.actors.contract.provider_entries import ProviderCatalogue, ProviderEntry
from tests.actors.relay.calls.approving import ASKING, allowed, approvals, assistant, begin_call, others
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage


def told(*models: str) -> Handshake:
    return Handshake(command=("fake",), models=models, efforts=("low", "high"), at=1)


KNOWN = {"assistant": told("gpt-5.4", "gpt-4"), "scholar": told("deep"), "closed": told("secret")}
PROVIDERS = ProviderCatalogue(
    ProviderEntry("assistant", "Assistant", agents_may_start=True, kind="acp"),
    ProviderEntry("scholar", "Scholar", agents_may_start=True, kind="acp"),
    ProviderEntry("closed", "Closed", kind="acp"),
    ProviderEntry("silent", "Silent", agents_may_start=True, kind="acp"),
)


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_stage(settings=ASKING, providers=PROVIDERS, handshakes=lambda: KNOWN)


@pytest.mark.parametrize("action", ["create_session", "send", "update_session"])
def test_an_unknown_model_is_refused_before_any_card_with_what_is_close(stage: Stage, action: str) -> None:
    caller, (target, _) = assistant(stage, "ask"), others(stage)
    more: dict[str, Any] = {} if action == "create_session" else {"session": target}
    more |= {} if action == "update_session" else {"text": "x", "wait_seconds": 0}

    def refused(model: str) -> dict[str, object]:
        begun = caller.begin(action, model=model, **more)
        stage.settle()
        assert begun.done
        result: dict[str, object] = begun.get()
        assert (result["code"], approvals(stage)) == ("REMOTE_RELAY_UNKNOWN_MODEL", [])
        return result

    close = refused("gpt-5-4")
    nothing = {"create_session": "created", "send": "sent", "update_session": "changed"}[action]
    assert str(close["error"]).startswith(
        'Unknown model "gpt-5-4" for Assistant on relay "stage"; did you mean \'gpt-5.4\'?'
    )
    assert str(close["error"]).endswith(f"Nothing was {nothing}.")
    assert (close["suggestions"], close["models"]) == (["gpt-5.4", "gpt-4"], ["gpt-5.4", "gpt-4"])
    assert "scholar has it" in str(refused("deep")["error"])
    assert "has it" not in str(refused("secret")["error"]), "it may not start a session of that provider"
    assert stage.read("load_session", session=target)["provider"] == "assistant"


def test_a_model_that_cannot_be_checked_passes_and_a_note_of_its_own_says_so(stage: Stage) -> None:
    made = stage.call("create_session", text="x", provider="silent", model="any", wait_seconds=0)
    assert (made["model"], made["modelSource"]) == ("any", "requested")
    assert "has told no list of models yet" in made["modelNote"]
    assert "note" not in made


def test_a_started_session_takes_over_model_and_effort_as_far_as_its_provider_has_them(stage: Stage) -> None:
    caller = assistant(stage, model="gpt-4", effort="high")
    same = allowed(caller, "create_session", text="x")
    assert (same["model"], same["modelSource"], same["effort"]) == ("gpt-4", "caller", "high")
    other = begin_call(caller, "create_session", text="x", provider="scholar").get()
    assert (other.get("model"), other["modelSource"], other["effort"]) == (None, "requested", "high")
    named = begin_call(caller, "create_session", text="x", model="gpt-5.4").get()
    assert (named["model"], named["modelSource"]) == ("gpt-5.4", "requested")
