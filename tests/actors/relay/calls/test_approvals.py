"""What stands allowed: listed for the owner alone, and revoked; external conversations are unlocked."""

from typing import Any

import pytest

from showcaller.actors.contract.approvals import Approvals, Revoke
from showcaller.actors.contract.outside import read_request
from showcaller.actors.relay.calls import OWNER, ActRequest, Caller, RevokeRequest, WatchRequest
from tests.actors.relay.calls.approving import (
    allow,
    allowed,
    approvals,
    assistant,
    begin_call,
    open_asking,
    others,
    standing,
    unasked,
)
from tests.actors.relay.calls.external import client
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_asking(open_stage)


def done(stage: Stage, request: Any) -> dict[str, Any]:
    """Have a request of the owner, or of somebody else, carried out; gives its result."""
    begun = stage.door._request(request)
    stage.settle()
    result: dict[str, Any] = begun.get()
    return result


def listed(stage: Stage, caller: Caller = OWNER, **more: Any) -> dict[str, Any]:
    return done(stage, WatchRequest(read_request(Approvals, more), caller))


def revoke(stage: Stage, session: str, kind: str | None = None) -> dict[str, Any]:
    return done(stage, RevokeRequest(read_request(Revoke, {"session": session, "kind": kind})))


def test_what_stands_is_listed_page_by_page(stage: Stage) -> None:
    callers = [assistant(stage) for _ in range(2)]
    for caller in callers:
        allowed(caller, "create_session", text="x")
    target, _ = others(stage, mode="plan")
    allowed(callers[0], "send", session=target, text="x", mode="agent")
    first = listed(stage, limit=2)
    rest = listed(stage, cursor=first["nextCursor"])
    found = [(one["session"], one["kind"]) for one in (*first["approvals"], *rest["approvals"])]
    assert sorted(found) == sorted(
        [(callers[0].session, "create"), (callers[0].session, "settings"), (callers[1].session, "create")]
    )
    assert {one["title"] for one in first["approvals"]} == {"work"}
    assert first["approvals"][0]["allowedAt"].endswith("Z")
    assert "nextCursor" not in rest


def test_what_is_revoked_is_asked_for_again(stage: Stage) -> None:
    caller = assistant(stage)
    allowed(caller, "create_session", text="x")
    result = revoke(stage, caller.session[:12])
    assert (result["ok"], result["session"], result["revoked"]) == (True, caller.session, ["create"])
    begun = begin_call(caller, "create_session", text="y")
    assert (begun.done, len(approvals(stage))) == (False, 1)
    again = revoke(stage, caller.session)
    assert (again["code"], "Nothing stands allowed" in again["error"]) == ("REMOTE_RELAY_NOT_FOUND", True)


def test_one_kind_is_revoked_and_the_other_stands(stage: Stage) -> None:
    caller, (target, _) = assistant(stage), others(stage, mode="plan")
    allowed(caller, "create_session", text="x")
    allowed(caller, "send", session=target, text="x", mode="agent")
    assert revoke(stage, caller.session, "create")["revoked"] == ["create"]
    assert standing(stage, caller) == ["settings"]
    assert revoke(stage, caller.session, "create")["code"] == "REMOTE_RELAY_NOT_FOUND"


def test_approvals_are_the_owners_alone(stage: Stage) -> None:
    caller = assistant(stage)
    allowed(caller, "create_session", text="x")
    for other in (caller.caller, Caller("external", client(stage).session, supervises=True)):
        refused = listed(stage, other)
        assert refused["code"] == "REMOTE_RELAY_FORBIDDEN"
        assert "approvals" not in refused


def test_a_session_that_is_not_there_has_nothing_to_revoke(stage: Stage) -> None:
    assert revoke(stage, "ses_zzzzzzzzzzzz")["code"] == "REMOTE_RELAY_NOT_FOUND"


def test_a_revocation_that_cannot_be_stored_says_so(stage: Stage) -> None:
    caller = assistant(stage)
    allowed(caller, "create_session", text="x")
    stage.store.refusing = frozenset({"revoke_approvals"})
    assert revoke(stage, caller.session)["code"] == "REMOTE_RELAY_STORAGE"
    assert standing(stage, caller) == ["create"]


def test_an_external_conversations_count_begins_again_when_its_owner_unlocks_it(stage: Stage) -> None:
    laptop, (target, _) = client(stage), others(stage)
    for number in range(30):
        assert laptop.call("send", session=target, text=f"{number}", wait_seconds=0)["ok"]
        stage.advance(6)
    begun = laptop.begin("send", session=target, text="one more", wait_seconds=0)
    stage.settle()
    assert len(approvals(stage)) == 1
    assert done(stage, ActRequest("unlock", laptop.session))["ok"]
    stage.advance(60)
    assert laptop.call("send", session=target, text="and another", wait_seconds=0)["ok"]
    allow(stage)
    assert begun.get()["ok"]


def test_a_session_that_the_relay_runs_is_unlocked_by_a_word_in_it(stage: Stage) -> None:
    caller, (target, _) = assistant(stage), others(stage)
    begin_call(caller, "send", session=target, text="x").get()
    refused = done(stage, ActRequest("unlock", caller.session))
    assert (refused["code"], "type a message in it" in refused["error"]) == (
        "REMOTE_RELAY_INVALID_INPUT",
        True,
    )
    assert unasked(stage, caller) == 1
