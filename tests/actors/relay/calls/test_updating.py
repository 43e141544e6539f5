"""``update_session``: what is changed, and what becomes of a session then."""

from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.contract.groups import DissolveGroup
from showcaller.actors.relay.calls import GroupRequest
from showcaller.actors.relay.messages import CreateSession, Prompt
from tests.actors.relay.calls.agents import end_turn
from tests.actors.relay.calls.approving import allowed, assistant, begin_call, open_asking, others
from tests.actors.relay.calls.updates import (
    TOLD,
    folder,
    idle,
    last_run,
    owners_group,
    permitted,
    row,
    update,
)
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage
from tests.actors.relay.test_session_tasks import start as begin_task


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_asking(open_stage, {"assistant": TOLD})


# -- what is changed ----------------------------------------------------------------------------------


def test_every_setting_is_changed_and_told_with_those_that_became_different(stage: Stage) -> None:
    session = idle(stage, title="before")
    told = update(
        stage,
        session,
        model="gpt-4",
        effort="high",
        mode="PLAN",
        title="after",
        group="Release",
        auto_compact_window=400_000,
        thinking_enabled=False,
        thinking_display="summarized",
    )
    group = told["settings"].pop("group")
    assert (group["name"], group["role"]) == ("Release", "member")
    assert told["settings"] == {
        "model": "gpt-4",
        "effort": "high",
        "mode": "plan",
        "autoCompactWindow": 400_000,
        "title": "after",
        "thinkingEnabled": False,
        "thinkingDisplay": "summarized",
        "cwd": str(stage.home),
    }
    assert told["changed"] == [
        "model",
        "effort",
        "mode",
        "title",
        "group",
        "auto_compact_window",
        "thinking_enabled",
        "thinking_display",
    ]
    assert told["groupCreated"] is True
    assert "thinking_display is kept and has no effect on assistant" in told["note"]
    assert "relaunched" not in told
    stage.send(session, "go on")
    assert last_run(stage).environment["SHOWCALLER_MODE"] == "plan"
    stored = row(stage.again(), session)
    assert (stored["model"], stored["mode"], stored["title"]) == ("gpt-4", "plan", "after")


def test_what_is_so_already_changes_nothing_and_is_stored_nowhere(stage: Stage) -> None:
    session = idle(stage, title="same", mode="plan")
    before = list(stage.store.commands)
    told = update(stage, session, title="same", mode="plan", auto_compact_window="auto", group="none")
    assert (told["changed"], told["settings"]["title"]) == ([], "same")
    assert stage.store.commands == before


def test_a_window_of_auto_is_none_of_its_own(stage: Stage) -> None:
    session = idle(stage)
    assert update(stage, session, auto_compact_window=1000)["settings"]["autoCompactWindow"] == 1000
    told = update(stage, session, auto_compact_window="auto")
    assert (told["changed"], told["settings"]["autoCompactWindow"]) == (["auto_compact_window"], None)


def test_the_settings_hold_from_the_next_turn_on_and_not_in_the_one_that_runs(stage: Stage) -> None:
    session, turn = others(stage, mode="agent")
    assert update(stage, session, mode="ask")["ok"]
    assert stage.workers.run_of(turn).environment["SHOWCALLER_MODE"] == "agent"
    stage.send(session, "next")
    end_turn(stage, session)
    assert last_run(stage).environment["SHOWCALLER_MODE"] == "ask"


def test_a_mode_lasts_until_a_send_names_another_or_comes_from_a_caller_in_another(stage: Stage) -> None:
    caller = assistant(stage, "agent")
    session = allowed(caller, "create_session", text="x")["session"]
    end_turn(stage, session)
    modes = []
    for change in ("update", "none", "named", "none", "caller", "none"):
        if change == "update":
            assert update(stage, session, mode="plan")["ok"]
        elif change == "caller":
            assert begin_call(caller, "send", session=session, text="x").get()["ok"]
            end_turn(stage, session)
        else:
            stage.send(session, "x", **({"mode": "autopilot"} if change == "named" else {}))
            end_turn(stage, session)
        modes.append((row(stage, session)["mode"], last_run(stage).environment["SHOWCALLER_MODE"]))
    assert modes[1:] == [
        ("plan", "plan"),
        ("autopilot", "autopilot"),
        ("autopilot", "autopilot"),
        ("agent", "agent"),
        ("agent", "agent"),
    ]


# -- groups -------------------------------------------------------------------------------------------


def test_a_group_is_an_id_a_name_a_new_name_or_none(stage: Stage) -> None:
    session, group = idle(stage), owners_group(stage, "Release 2.4")
    for named in (group, "release 2.4"):
        told = update(stage, session, group=named)
        assert (told["settings"]["group"]["id"], told["changed"]) == (group, ["group"])
        assert "groupCreated" not in told
        assert update(stage, session, group=named)["changed"] == []
        left = update(stage, session, group="NONE")
        assert (left["settings"]["group"], left["changed"]) == (None, ["group"])
    made = update(stage, session, group="Brand new")
    assert (made["groupCreated"], made["settings"]["group"]["name"]) == (True, "Brand new")
    assert made["note"] == 'No group was called "Brand new", so it is a new one.'
    assert stage.read("find_group", name="brand new")[0]["id"] == made["settings"]["group"]["id"]


@pytest.mark.parametrize("group", ["grp_zzzzzzzzzzzz", "GRP_ZZZZZZZZZZZZ", "grp_zz"])
def test_an_id_of_no_group_makes_none(stage: Stage, group: str) -> None:
    refused = update(stage, idle(stage), group=group)
    assert (refused["code"], refused["groups"]) == ("REMOTE_RELAY_UNKNOWN_GROUP", [])
    assert "Nothing was changed" in refused["error"]


def test_a_name_that_several_groups_have_is_refused_with_them(stage: Stage) -> None:
    ids = {owners_group(stage, "twice"), owners_group(stage, "twice")}
    refused = update(stage, idle(stage), group="twice")
    assert refused["code"] == "REMOTE_RELAY_UNKNOWN_GROUP"
    assert {one["id"] for one in refused["groups"]} == ids


def test_a_group_that_an_agent_made_by_name_goes_with_its_last_session_and_an_owners_stays(
    stage: Stage,
) -> None:
    caller, session = assistant(stage), idle(stage)
    assert permitted(caller, session, group="by an agent")["groupCreated"]
    kept = owners_group(stage, "by the owner")
    assert update(stage, session, group=kept)["ok"]
    assert stage.read("find_group", name="by an agent") == []
    assert update(stage, session, group="none")["ok"]
    assert [one["id"] for one in stage.read("find_group", name="by the owner")] == [kept]


def test_a_group_that_its_head_leaves_keeps_the_name_that_was_listed(stage: Stage) -> None:
    caller = assistant(stage, title="The starter")
    member = allowed(caller, "create_session", text="x")
    assert update(stage, caller.session, group="none")["ok"]
    place = row(stage, member["session"])
    assert (place["group_name"], place["group_head"]) == ("The starter", None)


def test_two_updates_that_make_a_group_of_one_name_make_one(stage: Stage) -> None:
    sessions = [idle(stage) for _ in range(2)]
    begun = [stage.begin("update_session", session=each, group="The same") for each in sessions]
    stage.settle()
    told = [call.get() for call in begun]
    assert len({each["settings"]["group"]["id"] for each in told}) == 1
    assert sorted(each.get("groupCreated", False) for each in told) == [False, True]


def test_a_group_that_is_dissolved_meanwhile_changes_nothing(stage: Stage) -> None:
    session, group = idle(stage, title="before"), owners_group(stage, "Release")
    stage.store.hold()
    dissolved = stage.door._request(GroupRequest(DissolveGroup(group=group)))
    stage.settle()
    begun = stage.begin("update_session", session=session, group=group, title="after")
    stage.settle()
    stage.store.release()
    stage.settle()
    assert dissolved.get()["ok"]
    assert begun.get()["code"] == "REMOTE_RELAY_UNKNOWN_GROUP"
    assert row(stage, session)["title"] == "before"


# -- folders ------------------------------------------------------------------------------------------


def reopen(stage: Stage, outcome: Any = "done", **more: Any) -> None:
    """Have the worker open the agent's conversation, or fail to."""
    run = last_run(stage)
    assert run.opens
    stage.workers.end(run.turn, outcome, resumed_via="load" if outcome == "done" else None, **more)
    stage.settle()


def test_another_folder_restarts_the_agent_there(stage: Stage) -> None:
    session, there = idle(stage), folder(stage)
    begun = stage.begin("update_session", session=session, cwd=there)
    stage.settle()
    assert (last_run(stage).opens, last_run(stage).cwd) == (True, there)
    reopen(stage)
    told = begun.get()
    assert (told["relaunched"], told["changed"], told["settings"]["cwd"]) == (True, ["cwd"], there)
    stage.send(session, "go on")
    assert last_run(stage).cwd == there


def test_where_the_restart_fails_the_folder_is_kept_for_the_next_start(stage: Stage) -> None:
    session, there = idle(stage), folder(stage)
    begun = stage.begin("update_session", session=session, cwd=there, title="after")
    stage.settle()
    reopen(stage, "failed", error_text="it wants a sign-in")
    told = begun.get()
    assert (told["ok"], told["relaunched"]) == (True, False)
    assert told["changed"] == ["title", "cwd"]
    assert "it wants a sign-in" in told["note"]
    assert "kept for the next start" in told["note"]
    assert row(stage, session)["cwd"] == there


def test_a_session_that_has_not_started_keeps_the_folder_for_its_first_start(stage: Stage) -> None:
    session, _ = others(stage)
    end_turn(stage, session, outcome="failed", stop_reason="died", error_text="no such program")
    there = folder(stage)
    told = update(stage, session, cwd=there)
    assert (told["relaunched"], told["settings"]["cwd"]) == (False, there)
    stage.send(session, "now")
    assert last_run(stage).cwd == there


@pytest.mark.parametrize("why", ["runs", "waits", "task"])
def test_the_folder_of_a_session_at_work_stays(stage: Stage, why: str) -> None:
    session, _ = others(stage)
    if why == "task":
        begin_task(stage, session)
    if why == "waits":
        stage.store.refusing = frozenset({"hand_over"})
        stage.send(session, "waits")
    if why != "runs":
        end_turn(stage, session)
    refused = update(stage, session, cwd=folder(stage), title="other")
    assert refused["code"] == "REMOTE_RELAY_BUSY"
    assert row(stage, session)["title"] == "theirs", "the call is refused as a whole"


def test_the_folder_of_a_clone_stays(open_stage: OpenStage) -> None:
    stage = open_asking(open_stage)
    row = {"id": "ses_onaclone0000", "title": "t", "provider": "assistant", "mode": "agent", "created_at": 1}
    row |= {"origin": "owner", "repo": "https://example.org/a.git"}
    prompt = Prompt({"id": "msg_onaclone0000", "origin": "owner", "text": "x", "created_at": 1})
    stage.supervisor.tell(CreateSession(row, prompt))
    stage.settle()
    end_turn(stage, "ses_onaclone0000")
    refused = update(stage, "ses_onaclone0000", cwd=folder(stage))
    assert (refused["code"], "a clone of its own" in refused["error"]) == ("REMOTE_RELAY_INVALID_INPUT", True)


@pytest.mark.parametrize("cwd", ["relative", "/nowhere/at/all", __file__])
def test_a_folder_that_cannot_be_had_is_refused_with_those_there_are(stage: Stage, cwd: str) -> None:
    refused = update(stage, idle(stage), cwd=cwd)
    assert refused["code"] == "REMOTE_RELAY_INVALID_INPUT"
    assert refused["folders"] == [str(stage.home)]
    assert "Nothing was changed" in refused["error"]


def test_a_folder_beyond_those_allowed_is_refused(open_stage: OpenStage, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    stage = open_asking(open_stage, allowed_folders=(str(inside),))
    (inside / "out").symlink_to("/")
    session = idle(stage)
    assert update(stage, session, cwd=str(inside / "out"))["code"] == "REMOTE_RELAY_INVALID_INPUT"
