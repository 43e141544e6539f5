"""Tool calls: what each gives, what it refuses, and that a repeat is harmless."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.relay.calls import OWNER
from showcaller.store.errors import StoreLocked
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

NO_CALLS: list[Any] = [None, [], "{", "{}", {"action": "nothing"}, {"action": "send"}, b"\xff"]
INVALID, NOT_FOUND = "REMOTE_RELAY_INVALID_INPUT", "REMOTE_RELAY_NOT_FOUND"


# -- create_session --------------------------------------------------------------------------------


def test_a_new_session_says_with_what_it_was_started(stage: Stage, tmp_path: Path) -> None:
    created = stage.call("create_session", text="wc -l x\nmore", cwd=str(tmp_path), wait_seconds=0)
    assert created["ok"]
    assert created["status"] == "running"
    shown = {name: created[name] for name in ("provider", "modelSource", "mode", "title", "cwd", "group")}
    assert shown == {
        "provider": "command",
        "modelSource": "default",
        "mode": "agent",
        "title": "wc -l x",
        "cwd": str(tmp_path),
        "group": None,
    }


def test_it_can_join_a_group_by_its_name_or_id(stage: Stage) -> None:
    run = stage.fan_out(["a"], name="counts")
    run.work()
    for name in ("counts", run.group):
        created = stage.call("create_session", text="go", group=name, wait_seconds=0)
        assert created["group"] == {"id": run.group, "name": "counts", "role": "member"}
        shown = stage.call("read_session", session=created["session"])["session"]["group"]
        assert shown == created["group"]


def test_a_session_whose_group_cannot_be_read_back_is_told_as_stored(stage: Stage) -> None:
    run = stage.fan_out(["a"], name="counts")
    run.work()
    stage.reader.failing["load_session"] = StoreLocked("relay.db", "somebody holds it")
    created = stage.call("create_session", text="go", group="counts", wait_seconds=0)
    assert (created["ok"], created["status"]) == (True, "running")
    assert "cannot be read now" in created["note"]
    assert stage.workers.texts[-1] == "go"


def test_no_part_of_a_groups_id_names_it(stage: Stage) -> None:
    run = stage.fan_out(["a"], name="counts")
    run.work()
    before = stage.read("counts")["sessions"]
    for part in (run.group[:-1], run.group[:10], run.group[4:], run.group[4], run.group.upper(), "grp_"):
        refused = stage.call("create_session", text="go", group=part)
        assert refused["code"] == "REMOTE_RELAY_UNKNOWN_GROUP"
        assert refused["groups"] == [{"id": run.group, "name": "counts"}]
    assert stage.read("counts")["sessions"] == before


def test_a_group_that_is_not_there_is_refused_and_nothing_created(stage: Stage) -> None:
    refused = stage.call("create_session", text="go", group="nobody's")
    assert refused["code"] == "REMOTE_RELAY_UNKNOWN_GROUP"
    assert "Nothing was created" in refused["error"]
    assert stage.read("counts")["sessions"] == 0


@pytest.mark.parametrize(
    "cwd", ["relative", "/does/not/exist", "{home}/file", "/" + "x" * 300, "{home}/loop", "{home}/file/below"]
)
def test_a_folder_that_cannot_be_worked_in_is_refused_by_its_name(stage: Stage, cwd: str) -> None:
    (stage.home / "file").touch()
    (stage.home / "loop").symlink_to(stage.home / "loop")
    refused = stage.call("create_session", text="go", cwd=cwd.format(home=stage.home))
    assert refused["code"] == INVALID
    assert "Nothing was created" in refused["error"]
    assert stage.read("counts")["sessions"] == 0


def test_a_folder_is_kept_as_the_one_it_leads_to(stage: Stage) -> None:
    (stage.home / "real").mkdir()
    (stage.home / "link").symlink_to(stage.home / "real")
    created = stage.call("create_session", text="go", cwd=str(stage.home / "link"), wait_seconds=0)
    assert created["cwd"] == str((stage.home / "real").resolve())


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"provider": "claude"}, "REMOTE_RELAY_PROVIDER_UNAVAILABLE"),
        ({"provider": "callable"}, "REMOTE_RELAY_PROVIDER_UNAVAILABLE"),
        ({"provider": "callable:"}, "REMOTE_RELAY_PROVIDER_UNAVAILABLE"),
        ({"provider": "callable:work"}, "REMOTE_RELAY_PROVIDER_UNAVAILABLE"),
        ({"provider": "callable:my-module:work"}, "REMOTE_RELAY_PROVIDER_UNAVAILABLE"),
        ({"provider": "commander"}, "REMOTE_RELAY_PROVIDER_UNAVAILABLE"),
        ({"model": "m"}, "REMOTE_RELAY_UNKNOWN_MODEL"),
        ({"repo": "owner/name"}, INVALID),
        ({"relay": "elsewhere"}, "REMOTE_RELAY_UNKNOWN"),
        ({"session": "ses_000000"}, INVALID),
    ],
)
def test_what_this_relay_does_not_have_is_refused_and_nothing_created(
    stage: Stage, arguments: dict[str, Any], code: str
) -> None:
    refused = stage.call("create_session", text="go", **arguments)
    assert (refused["ok"], refused["code"]) == (False, code)
    assert stage.read("counts")["sessions"] == 0


def test_a_setting_without_effect_is_noted(stage: Stage) -> None:
    created = stage.call("create_session", text="go", mode="plan", effort="high", wait_seconds=0)
    assert "mode and effort has no effect on command" in created["note"]


# -- send ------------------------------------------------------------------------------------------


def test_a_second_message_during_a_turn_is_queued(stage: Stage) -> None:
    session, first = stage.create()
    sent = stage.call("send", session=session, text="second", wait_seconds=0)
    assert (sent["status"], sent["session"]) == ("queued", session)
    listed = stage.call("list_sessions")["sessions"][0]
    assert (listed["state"], listed["queued"], listed["process"]) == ("running_turn", 1, "alive")
    assert listed["id"] == session
    stage.workers.end(first)
    stage.settle()
    assert stage.workers.texts == ["first", "second"]


@pytest.mark.parametrize("seed", range(6))
def test_if_busy_fail_refuses_while_anything_runs_waits_or_is_being_stored(
    open_stage: OpenStage, seed: int
) -> None:
    stage = open_stage(seed)
    session, first = stage.create()
    refused = stage.call("send", session=session, text="no", if_busy="fail")
    assert refused["code"] == "REMOTE_RELAY_BUSY"
    assert "Wait until it is idle, or stop it." in refused["error"]
    assert "Nothing was sent" in refused["error"]
    stage.workers.end(first)
    stage.settle()
    both = [stage.begin("send", session=session, text="x", if_busy="fail", wait_seconds=0) for _ in range(2)]
    stage.settle()
    assert sorted(call.get()["ok"] for call in both) == [False, True]
    assert len(stage.workers.runs) == 2


def test_the_same_id_again_gives_the_first_message_though_the_session_is_busy_with_it(stage: Stage) -> None:
    session, first = stage.create()
    stage.workers.end(first)
    stage.settle()
    sent = [
        stage.call("send", "id-1", session=session, text="x", if_busy="fail", wait_seconds=0)
        for _ in range(3)
    ]
    assert [result["status"] for result in sent] == ["running", "duplicate", "duplicate"]
    assert len({result["message_id"] for result in sent}) == 1
    assert stage.workers.texts == ["first", "x"]


@pytest.mark.parametrize("seed", range(6))
def test_the_same_id_at_the_same_time_is_carried_out_once(open_stage: OpenStage, seed: int) -> None:
    stage = open_stage(seed)
    calls = [stage.begin("create_session", "id-1", text="go", wait_seconds=0) for _ in range(3)]
    stage.settle()
    results = [call.get() for call in calls]
    assert sorted(result["status"] for result in results)[:2] == ["duplicate", "duplicate"]
    assert len({result["session"] for result in results}) == 1
    assert stage.workers.texts == ["go"]
    assert stage.awake == [results[0]["session"]]


def test_the_same_id_with_another_body_is_refused(stage: Stage) -> None:
    session, _ = stage.create()
    assert stage.call("send", "id-1", session=session, text="x", wait_seconds=0)["ok"]
    refused = stage.call("send", "id-1", session=session, text="y", wait_seconds=0)
    assert refused["code"] == INVALID
    assert "id-1" in refused["error"]


@pytest.mark.parametrize("other", [{"title": "else"}, {"cwd": "/"}, {"text": "stop"}])
def test_an_id_of_another_create_is_refused(stage: Stage, other: dict[str, str]) -> None:
    assert stage.call("create_session", "one", text="go", wait_seconds=0)["ok"]
    assert stage.call("create_session", "one", text="go", wait_seconds=9)["status"] == "duplicate"
    refused = stage.call("create_session", "one", **{"text": "go", "wait_seconds": 0, **other})
    assert (refused["code"], stage.read("counts")["sessions"]) == (INVALID, 1)


@pytest.mark.parametrize("client_id", ["", "x" * 256, "a\nb", "\ud800", 7])
def test_an_id_that_cannot_be_kept_is_refused(stage: Stage, client_id: Any) -> None:
    assert stage.call("create_session", client_id, text="go")["code"] == INVALID
    assert stage.read("counts")["sessions"] == 0


def test_a_full_queue_refuses_the_next_message(stage: Stage) -> None:
    session, _ = stage.create()
    for number in range(100):
        stage.send(session, f"no {number}")
    refused = stage.call("send", session=session, text="one too many", wait_seconds=0)
    assert refused["code"] == "REMOTE_RELAY_QUEUE_LIMIT"
    assert "Wait until one of them has run, or send to another session." in refused["error"]
    assert stage.read("counts")["queued"] == 100


def test_a_session_keeps_its_provider(stage: Stage) -> None:
    session, _ = stage.create()
    refused = stage.call("send", session=session, text="x", provider="callable:m:f")
    assert refused["code"] == "REMOTE_RELAY_PROVIDER_UNAVAILABLE"
    assert stage.call("send", session=session, text="x", provider="command", wait_seconds=0)["ok"]


# -- naming a session ------------------------------------------------------------------------------


def test_a_session_is_named_by_its_beginning_as_long_as_that_is_clear(stage: Stage) -> None:
    session, _ = stage.create()
    for name in (session, session[4:], session[:10], session[4:10]):
        assert stage.call("read_session", session=name)["session"]["id"] == session
    assert stage.call("read_session", session="ses_zzzzzz")["code"] == NOT_FOUND
    assert stage.call("read_session", session="zz")["code"] == INVALID


def test_a_beginning_that_several_share_is_refused_with_their_ids(stage: Stage) -> None:
    numbers = count(1)
    object.__setattr__(stage.ports, "new_id", lambda prefix: f"{prefix}aaaaaa{next(numbers):06}")
    for _ in range(2):
        stage.create()
    refused = stage.call("send", session="aaaaaa", text="x")
    assert refused["code"] == INVALID
    assert len(refused["sessions"]) == 2
    assert all(stage.call("read_session", session=session)["ok"] for session in refused["sessions"])


# -- the relay's name, and mistakes ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["this", "THIS", "stage", "Stage", "@stage"])
def test_the_relay_is_named_by_this_or_by_its_name(stage: Stage, name: str) -> None:
    assert stage.call("list_sessions", relay=name)["relay"] == "stage"


def test_a_store_that_cannot_be_read_is_a_refusal_that_names_it(stage: Stage) -> None:
    stage.reader.failing["list_sessions"] = StoreLocked("relay.db", "another process is writing to it")
    refused = stage.call("list_sessions")
    assert refused["code"] == "REMOTE_RELAY_STORAGE"
    assert "relay.db" in refused["error"]


def test_a_mistake_of_ours_gives_a_reference_into_the_log_and_nothing_else(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.reader.failing["list_sessions"] = LookupError("a secret of the inside")
    refused = stage.call("list_sessions")
    assert refused["code"] == "REMOTE_RELAY_INTERNAL"
    assert "secret" not in refused["error"]
    reference = refused["error"].rstrip(".").split()[-1]
    assert reference in caplog.text
    caplog.clear()


@pytest.mark.parametrize("arguments", NO_CALLS)
def test_what_is_no_call_is_refused(stage: Stage, arguments: Any) -> None:
    result = stage.door._begin(arguments, OWNER, None)
    stage.settle()
    assert (result.get()["ok"], result.get()["code"]) == (False, INVALID)
