"""``update_session``: about what the owner is asked, what is refused, and what no agent can."""

import pytest

from showcaller.actors.relay.calls import ActRequest
from tests.actors.relay.calls.agents import Agent, end_turn
from tests.actors.relay.calls.approving import (
    allow,
    allowed,
    answer,
    approvals,
    assistant,
    begin_call,
    only_card,
    open_asking,
    others,
    standing,
)
from tests.actors.relay.calls.updates import (
    TOLD,
    begin,
    idle,
    last_run,
    permitted,
    row,
    update,
)
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_asking(open_stage, {"assistant": TOLD})


# -- what is asked and what is refused ----------------------------------------------------------------


def test_a_card_names_each_change_and_allow_covers_later_ones(stage: Stage) -> None:
    caller, target = assistant(stage), idle(stage, title="Theirs")
    begun = begin(
        caller,
        target,
        model="gpt-4",
        effort="high",
        mode="autopilot",
        title="Mine",
        group="Release 2.4",
        thinking_enabled=False,
        auto_compact_window=1000,
    )
    card = only_card(stage)
    assert card["question"].splitlines() == [
        f'This agent wants to change settings of session {target[4:12]} "Theirs".',
        "It did not start that session; Allow covers its later changes of settings of such sessions too.",
    ]
    assert card["detail"] == (
        "Mode: autopilot · Model: gpt-4 · Effort: high · Group: Release 2.4 (new) · Compact window: 1000 · "
        'Thinking: off · Title: "Mine"'
    )
    assert row(stage, target)["title"] == "Theirs"
    allow(stage)
    assert begun.get()["changed"][:2] == ["model", "effort"]
    assert standing(stage, caller) == ["settings"]
    assert begin(caller, target, group="none").get()["changed"] == ["group"]
    assert approvals(stage) == []


def test_deny_is_a_permission_and_nothing_is_changed(stage: Stage) -> None:
    caller, target = assistant(stage), idle(stage)
    begun = begin(caller, target, mode="autopilot")
    answer(stage, only_card(stage)["id"], "Deny")
    assert begun.get()["code"] == "REMOTE_RELAY_PERMISSION"
    assert (row(stage, target)["mode"], standing(stage, caller)) == ("agent", [])


def test_allow_is_for_the_changes_shown_and_for_others_it_asks_anew(stage: Stage) -> None:
    caller, target = assistant(stage), idle(stage, mode="ask")
    begun = begin(caller, target, title="Mine", mode="autopilot")
    first = only_card(stage)
    assert update(stage, target, title="Mine")["ok"], "so less would be changed than was shown"
    stage.ports.in_force.now = stage.ports.settings.model_copy(update={"agent_sessions": True})
    answer(stage, first["id"])
    assert begun.get()["changed"] == ["mode"], "what stands allowed covers it"


def test_a_session_that_the_caller_started_is_changed_unasked_and_in_plan_each_change_asks(
    stage: Stage,
) -> None:
    caller = assistant(stage)
    own = allowed(caller, "create_session", text="x")["session"]
    assert begin(caller, own, mode="autopilot").get()["changed"] == ["mode"]
    end_turn(stage, caller.session)
    stage.send(caller.session, "only plan", mode="plan")
    assert permitted(caller, own, mode="ask")["changed"] == ["mode"]
    assert permitted(caller, own, mode="plan")["changed"] == ["mode"]
    assert standing(stage, caller) == ["create"]


@pytest.mark.parametrize("mode", ["ask", "plan", "agent", "autopilot"])
def test_a_call_that_changes_nothing_asks_nobody(stage: Stage, mode: str) -> None:
    caller, target = assistant(stage, mode), idle(stage, title="same")
    assert begin(caller, target, title="same").get()["changed"] == []
    assert approvals(stage) == []


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("UNKNOWN_MODEL", {"model": "gpt-5-4"}),
        ("INVALID_INPUT", {"effort": "immense"}),
        ("UNKNOWN_GROUP", {"group": "grp_zzzzzzzzzzzz"}),
        ("INVALID_INPUT", {"cwd": "relative"}),
        ("BUSY", {"cwd": "/"}),
    ],
)
def test_the_whole_call_is_checked_before_any_card_and_any_change(
    stage: Stage, code: str, wrong: dict[str, str]
) -> None:
    caller, (target, _) = assistant(stage, "ask"), others(stage, title="before")
    refused = begin(caller, target, title="after", **wrong).get()
    assert (refused["code"], approvals(stage)) == (f"REMOTE_RELAY_{code}", [])
    assert row(stage, target)["title"] == "before"
    if code == "UNKNOWN_MODEL":
        assert refused["suggestions"] == ["gpt-5.4", "gpt-4"]
        assert "Nothing was changed" in refused["error"]


def test_an_agent_changes_neither_itself_nor_what_it_may_not_start_nor_what_is_put_away(stage: Stage) -> None:
    caller = assistant(stage)
    command, _ = stage.create("true", provider="command")
    away = idle(stage)
    assert stage.call("archive", session=away)["ok"]
    for session, code in (
        (caller.session, "OWN_SESSION"),
        (command, "PROVIDER_UNAVAILABLE"),
        (away, "NOT_FOUND"),
        ("ses_zzzzzzzzzzzz", "NOT_FOUND"),
    ):
        assert begin(caller, session, title="x").get()["code"] == f"REMOTE_RELAY_{code}"
    assert approvals(stage) == []


def test_a_command_is_asked_about_each_time(stage: Stage) -> None:
    caller = assistant(stage, "autopilot")
    settings = stage.ports.settings.of_values(
        {**stage.ports.settings.values_set(), "providers.command.agents_may_start": True}
    )
    stage.ports.in_force.now = settings
    command, _ = stage.create("true", provider="command")
    assert permitted(caller, command, title="one")["ok"]
    assert permitted(caller, command, title="two")["ok"]


def test_a_repeat_gives_what_the_first_gave(stage: Stage) -> None:
    session = idle(stage)
    first = update(stage, session, "one", title="after", group="New")
    again = update(stage, session, "one", title="after", group="New")
    assert (again["changed"], again["settings"]) == (first["changed"], first["settings"])
    other = update(stage, session, "one", title="other")
    assert other["code"] == "REMOTE_RELAY_INVALID_INPUT"


def test_an_update_that_is_not_stored_changes_nothing(stage: Stage) -> None:
    session = idle(stage, mode="agent")
    stage.store.refusing = frozenset({"update_session"})
    assert update(stage, session, mode="plan")["code"] == "REMOTE_RELAY_STORAGE"
    stage.store.refusing = frozenset()
    stage.send(session, "x")
    assert last_run(stage).environment["SHOWCALLER_MODE"] == "agent"


# -- what no agent can --------------------------------------------------------------------------------

SPELLINGS = (
    "mayCreateSessions",
    "may_create_sessions",
    "MAY_CREATE_SESSIONS",
    "MayCreateSessions",
    "maycreatesessions",
    "may-create-sessions",
    " mayCreateSessions ",
    "may create sessions",
    "may.create.sessions",
)


def test_no_agent_lets_a_session_start_others_in_whatever_words(stage: Stage) -> None:
    caller = assistant(stage)
    started = allowed(caller, "create_session", text="x")["session"]
    for name in SPELLINGS:
        for value in (True, False, "true", 1, 0, ["true"]):
            for more in ({}, {"title": "x"}):
                refused = begin(caller, started, **{name: value, **more}).get()
                assert refused["code"] == "REMOTE_RELAY_INVALID_INPUT", refused
                assert "does not take" in refused["error"]
            refused = begin_call(caller, "create_session", text="x", **{name: value}).get()
            assert refused["code"] == "REMOTE_RELAY_INVALID_INPUT"
    assert (row(stage, started)["may_create_sessions"], approvals(stage)) == (False, [])


def test_the_owner_lets_a_session_that_an_agent_started_start_others(stage: Stage) -> None:
    caller = assistant(stage)
    started = Agent(stage, allowed(caller, "create_session", text="x")["session"])
    assert begin_call(started, "create_session", text="y").get()["code"] == "REMOTE_RELAY_NESTED_SESSION"
    told = update(stage, started.session, may_create_sessions=True)
    assert told["changed"] == ["may_create_sessions"]
    assert caller.call("read_session", session=started.session)["session"]["mayCreateSessions"] is True
    assert allowed(started, "create_session", text="y")["ok"], "the other rules go on applying to it"
    assert update(stage, started.session, may_create_sessions=False)["changed"] == ["may_create_sessions"]
    assert begin_call(started, "create_session", text="y").get()["code"] == "REMOTE_RELAY_NESTED_SESSION"


def test_the_switch_is_there_only_for_sessions_that_an_agent_started(stage: Stage) -> None:
    refused = update(stage, idle(stage), may_create_sessions=True)
    assert (refused["code"], "not started by an agent" in refused["error"]) == (
        "REMOTE_RELAY_INVALID_INPUT",
        True,
    )


def test_a_mode_that_the_owner_tightens_holds_for_what_an_agent_has_queued_with_a_looser_one(
    stage: Stage,
) -> None:
    caller, (target, _) = assistant(stage, "autopilot"), others(stage, mode="autopilot")
    assert begin_call(caller, "send", session=target, text="x", mode="autopilot").get()["ok"]
    assert begin_call(caller, "send", session=target, text="y").get()["ok"]
    assert update(stage, target, mode="plan")["ok"]
    assert [each["mode"] for each in row(stage, target)["unfinished"]] == [None, "plan", "plan"]
    ran = []
    for _ in range(2):
        end_turn(stage, target)
        ran.append((last_run(stage).text, last_run(stage).environment["SHOWCALLER_MODE"]))
    assert ran == [("x", "plan"), ("y", "plan")]
    assert row(stage, target)["mode"] == "plan"


def test_a_send_that_was_checked_before_its_owner_tightened_the_mode_is_checked_again(stage: Stage) -> None:
    caller, (target, _) = assistant(stage, "agent"), others(stage, mode="autopilot")
    stage.reader.hold("standing_approvals")
    begun = begin_call(caller, "send", session=target, text="x", mode="autopilot")
    assert update(stage, target, mode="plan")["ok"]
    stage.reader.release()
    stage.settle()
    assert not begun.done
    assert "loosened to autopilot" in only_card(stage)["question"]
    answer(stage, only_card(stage)["id"], "Deny")
    assert begun.get()["code"] == "REMOTE_RELAY_PERMISSION"


def test_a_send_that_names_no_mode_loosens_nothing_behind_one_that_did(stage: Stage) -> None:
    caller = assistant(stage, "plan")
    target, _ = others(stage, mode="plan")
    stage.send(target, "loose", mode="autopilot")
    assert allowed(caller, "send", session=target, text="strict")["ok"]
    end_turn(stage, target)
    assert last_run(stage).environment["SHOWCALLER_MODE"] == "autopilot"
    end_turn(stage, target)
    assert (last_run(stage).text, last_run(stage).environment["SHOWCALLER_MODE"]) == ("strict", "plan")


def test_of_a_flood_of_creates_and_updates_none_passes_without_its_allow(stage: Stage) -> None:
    caller = assistant(stage)
    targets = [idle(stage, title=f"theirs {n}") for n in range(3)]
    creates = [caller.begin("create_session", text=f"part {n}", wait_seconds=0) for n in range(3)]
    updates = [caller.begin("update_session", session=each, title="mine") for each in targets]
    stage.settle()
    assert not any(call.done for call in (*creates, *updates))
    assert len(approvals(stage)) == 4, "the creates share one"
    begun = stage.door._request(ActRequest("kill", caller.session))
    stage.settle()
    assert begun.get()["ok"]
    for call in (*creates, *updates):
        assert call.get()["code"] == "REMOTE_RELAY_APPROVAL_DENIED"
    assert [row(stage, each)["title"] for each in targets] == ["theirs 0", "theirs 1", "theirs 2"]
    assert stage.read("counts")["sessions"] == 4
