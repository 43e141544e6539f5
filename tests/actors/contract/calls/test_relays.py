import pytest
from pydantic import ValidationError

from showcaller.actors.contract.calls import ListRelays
from showcaller.actors.contract.calls.relays import (
    GroupInfo,
    ListRelaysResult,
    Meter,
    OwnName,
    ProviderInfo,
    ProviderUsage,
    RelayInfoResult,
    RelayLimits,
    RelayRow,
    UsageResult,
    Workspaces,
)
from tests.actors.contract.shaping import call_of, refusal_of, shaped


def info(groups: tuple[GroupInfo, ...] | None) -> RelayInfoResult:
    return RelayInfoResult(
        relay="desk",
        summary="relay_info → desk",
        name="desk",
        version="1.0",
        platform="linux",
        protocol=1,
        accepts_agent_prompts=True,
        providers=(ProviderInfo(provider="claude", label="Claude", configured=True, agents_may_start=True),),
        workspaces=Workspaces(default="/srv/a"),
        relay_modes=("ask", "plan", "agent", "autopilot"),
        groups=groups,
        groups_note=None if groups is not None else "The relay is too old.",
    )


def test_list_relays_works_with_no_relay_and_ignores_one() -> None:
    assert call_of(ListRelays) == ListRelays()
    assert shaped("list_relays", relay="desk").ignored == ("relay",)


def test_list_relays_gives_this_relay_first_and_marks_it() -> None:
    result = ListRelaysResult(
        relay="desk",
        summary="list_relays: 2 relays, 1 unlocked",
        own=OwnName(name="desk"),
        relays=(
            RelayRow(name="desk", own=True, online=True, version="1.0", permission="full", unlocked=True),
            RelayRow(
                name="build-box",
                url="tcp://build-box:7301",
                online=False,
                permission="prompt",
                unlocked=False,
            ),
        ),
        limits=RelayLimits(max_wait_seconds=600, max_active_sessions=4),
    ).to_result()
    assert result["self"] == {"name": "desk"}
    assert result["relays"][0]["self"] is True
    assert "self" not in result["relays"][1]
    assert result["limits"] == {"maxWaitSeconds": 600, "maxActiveSessions": 4}


def test_relay_info_lists_groups_without_their_members() -> None:
    result = info((GroupInfo(id="grp_000000000000", name="Release 2.4", member_count=3),)).to_result()
    assert result["groups"] == [{"id": "grp_000000000000", "name": "Release 2.4", "memberCount": 3}]
    assert result["acceptsAgentPrompts"] is True
    assert result["relayModes"] == ["ask", "plan", "agent", "autopilot"]
    assert result["providers"][0]["agentsMayStart"] is True
    with pytest.raises(ValidationError):
        info((GroupInfo(id="grp_000000000000", name="x", member_count=1),) * 51)
    with pytest.raises(ValidationError):
        GroupInfo.model_validate({"id": "grp_000000000000", "name": "x", "memberCount": 1, "members": []})


def test_groups_that_cannot_be_read_are_null_with_the_reason() -> None:
    result = info(None).to_result()
    assert result["groups"] is None
    assert result["groupsNote"] == "The relay is too old."


def test_usage_tells_what_is_left_and_until_when_turns_are_paused() -> None:
    result = UsageResult(
        relay="desk",
        summary="usage → desk",
        providers=(
            ProviderUsage(
                provider="claude",
                status="tracked",
                meters=(Meter(name="5 h", used=9, allowance=10, left=1, rate=0.9, resets_at=0),),
                paused=True,
                resumes_at=0,
            ),
            ProviderUsage(provider="codex", status="not_configured"),
        ),
    ).to_result()
    assert result["providers"][0]["meters"][0]["resetsAt"] == "1970-01-01T00:00:00.000Z"
    assert result["providers"][0]["resumesAt"] == "1970-01-01T00:00:00.000Z"
    assert result["providers"][1] == {
        "provider": "codex",
        "status": "not_configured",
        "meters": [],
        "paused": False,
    }


@pytest.mark.parametrize("private", ["account", "email", "token"])
def test_usage_has_no_place_for_an_account_an_address_or_a_token(private: str) -> None:
    with pytest.raises(ValidationError):
        ProviderUsage.model_validate({"provider": "claude", "status": "tracked", private: "x"})


@pytest.mark.parametrize("action", ["relay_info", "usage"])
def test_a_relay_must_be_named(action: str) -> None:
    assert refusal_of(action, relay="") == f'{action}: needs relay ("this" is this relay).'
