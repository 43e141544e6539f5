"""Commands about the relay itself: settings, providers, backup, restore, doctor, completion."""

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.transport.doors.cli.doctor.findings import (
    descriptors_finding,
    disk_finding,
    folder_finding,
    providers_finding,
    python_finding,
    socket_finding,
    versions_findings,
)
from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import FakeRelay

SWITCH = "providers.command.agents_may_start"


def test_settings_are_listed_read_and_set_and_switches_take_on_and_off(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    assert showcaller("settings", "set", "agent_sessions", "on").code == 0
    assert showcaller("settings", "set", SWITCH, "ON").code == 0
    assert showcaller("settings", "set", "log_days", "3", "--json").out == '{"name":"log_days","value":3}\n'
    assert relay.set == {"agent_sessions": True, SWITCH: True, "log_days": 3}
    assert showcaller("settings", "get", "agent_sessions").out == "on\n"
    assert showcaller("settings", "get", SWITCH, "--json").out == f'{{"name":"{SWITCH}","value":true}}\n'
    listed = {row["name"]: row for row in json.loads(showcaller("settings", "--json").out)["settings"]}
    facts = {"type": "number", "minimum": 1, "maximum": 3650}
    said = {"description": "Days for which the log of events is kept."}
    assert listed["log_days"] == {"name": "log_days", "value": 3, "default": 7} | facts | said
    lines = showcaller("settings").out.splitlines()
    place = [line.split() for line in lines].index(["agent_sessions", "on", "off", "on", "or", "off"])
    assert lines[place + 1] == "  Agents of this relay may use other sessions at all."


def test_a_list_is_set_by_its_texts_and_shown_as_it_is(showcaller: ShowCaller, relay: FakeRelay) -> None:
    assert showcaller("settings", "set", "clone_hosts", "github.com, git.example.org").code == 0
    assert relay.set == {"clone_hosts": ("github.com", "git.example.org")}
    assert showcaller("settings", "get", "clone_hosts").out == "github.com,git.example.org\n"
    told = showcaller("settings", "set", "allowed_folders", '["/a,b"]', "--json")
    assert json.loads(told.out) == {"name": "allowed_folders", "value": ["/a,b"]}
    assert showcaller("settings", "set", "clone_hosts", "").code == 0
    assert showcaller("settings", "get", "clone_hosts").out == "none\n"
    for wrong in ("ftp://x", '["x"', "[7]"):
        assert showcaller("settings", "set", "clone_hosts", wrong).code == 2


def test_an_owners_own_provider_has_its_switch(showcaller: ShowCaller, relay: FakeRelay, home: Path) -> None:
    (home / "providers.toml").write_text('[providers.mine]\nlabel = "Mine"\ncommand = ["mine"]\n')
    switch = "providers.mine.agents_may_start"
    assert showcaller("settings", "get", switch).out == "on\n"
    assert showcaller("settings", "set", switch, "off").code == 0
    assert relay.set == {switch: False}
    assert showcaller("settings", "get", switch).out == "off\n"
    assert switch in showcaller("settings").out


def test_whoever_has_consent_switched_off_is_warned_and_whoever_looks_is_too(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    assert "UNSAFE" not in showcaller("settings").err
    assert "UNSAFE" in showcaller("settings", "set", "unsafe_no_cards", "on").err
    switched = showcaller("settings", "set", "unsafe_no_cards", "on", "--json")
    assert (json.loads(switched.out)["value"], "UNSAFE" in switched.err) == (True, True)
    assert "UNSAFE" in showcaller("settings").err
    assert "UNSAFE" in showcaller("settings", "--json").err
    assert relay.set == {"unsafe_no_cards": True}
    assert "UNSAFE" not in showcaller("settings", "set", "unsafe_no_cards", "off").err


@pytest.mark.parametrize("typed", ["9" * 20, "-1", "many"])
def test_what_is_no_number_of_a_settings_range_is_told_the_range(showcaller: ShowCaller, typed: str) -> None:
    refused = showcaller("settings", "set", "--", "max_turn_minutes", typed)
    assert (refused.code, "whole number from 0 to 600, not" in refused.err) == (2, True), refused.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("set", "agent_sessions", "3"), 2),
        (("set", "log_days", "on"), 2),
        (("set", "log_days", "0"), 2),
        (("set", "log_days", "-1"), 2),
        (("set", "log_days", ""), 2),
        (("set", "moon", "on"), 2),
        (("set", "providers.moon.agents_may_start", "on"), 2),
        (("get", "moon"), 2),
        (("get",), 2),
        (("--json", "get", "log_days"), 2),
    ],
)
def test_what_is_no_setting_or_no_value_for_it_is_refused(
    showcaller: ShowCaller, relay: FakeRelay, words: tuple[str, ...], code: int
) -> None:
    ended = showcaller("settings", *words)
    assert (ended.code, '"ok":false' in ended.out) == (code, "--json" in words)
    assert relay.set == {}


def test_providers_stand_in_a_table_and_a_missing_one_says_how_to_get_it(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    assert "command   ready" in showcaller("providers").out
    assert showcaller("providers", "moon").code == 3
    relay.find_program = lambda program: None
    ended = showcaller("providers", "command")
    assert ended.code == 1
    assert "command: Install a POSIX shell" in ended.err
    assert showcaller("providers").code == 0
    (row,) = json.loads(showcaller("providers", "moon", "--json").out)["providers"]
    assert row == {"provider": "moon", "state": "unknown"}


def test_a_backup_is_named_by_its_whole_path_and_a_refusal_is_told(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    assert json.loads(showcaller("backup", "x.db", "--json").out) == {"file": str(Path("x.db").absolute())}
    relay.backup_error = Refusal(Code.INVALID_INPUT, "it exists already")
    assert showcaller("backup", "x.db").code == 1


@pytest.mark.parametrize(
    "words",
    [("backup",), ("restore",), ("restore", "--force"), ("serve", "--log-file"), ("new", "x", "--cwd")],
)
@pytest.mark.parametrize("empty", ["", "  "])
def test_a_path_that_is_empty_names_nothing(
    showcaller: ShowCaller, relay: FakeRelay, words: tuple[str, ...], empty: str
) -> None:
    ended = showcaller(*words, empty)
    assert (ended.code, ended.out) == (2, "")
    assert "it is empty" in ended.err
    assert relay.opened == []


def test_a_copy_that_there_is_not_is_told_before_anything_else(
    showcaller: ShowCaller, tmp_path: Path
) -> None:
    ended = showcaller("restore", str(tmp_path / "none.db"))
    assert (ended.code, ended.out) == (3, "")
    assert f"There is no copy {tmp_path / 'none.db'}." in ended.err
    assert "showcaller backup FILE" in ended.err


def test_a_folder_that_holds_something_takes_no_copy_unless_told_to(
    showcaller: ShowCaller, tmp_path: Path
) -> None:
    (tmp_path / "x.db").touch()
    ended = showcaller("restore", str(tmp_path / "x.db"))
    assert (ended.code, ended.out) == (1, "")
    assert "--force" in ended.err


@pytest.mark.parametrize("words", [("call", "{}"), ("tokens", "new")])
@pytest.mark.parametrize("name", ["", "../x", ".x", "a\nb", "x" * 65])
def test_a_name_that_no_token_may_have_is_a_mistake_in_the_command_line(
    showcaller: ShowCaller, words: tuple[str, ...], name: str
) -> None:
    ended = showcaller(*words, "--name", name)
    assert (ended.code, '"ok":false' in ended.out) == (2, words[0] == "call")
    assert "the name must" in ended.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_a_script_that_makes_it_complete(showcaller: ShowCaller, shell: str) -> None:
    script = showcaller("completion", shell).out
    assert "_SHOWCALLER_COMPLETE" in script
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script, text=True, check=True, timeout=60)


def test_a_shell_that_asks_how_a_line_goes_on_is_told(
    showcaller: ShowCaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_SHOWCALLER_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "showcaller st")
    monkeypatch.setenv("COMP_CWORD", "1")
    offered = showcaller().out.split()
    assert offered == ["plain,stop-turn", "plain,status", "plain,stop"]


def test_a_doctor_ends_with_0_where_all_is_well_and_with_1_where_something_is_to_be_mended(
    showcaller: ShowCaller, home: Path
) -> None:
    home.chmod(0o700)
    ended = showcaller("doctor", "--json")
    checks = {row["check"]: row for row in json.loads(ended.out)["checks"]}
    assert {"python", "data folder", "disk", "socket path", "token", "relay", "store"} <= checks.keys()
    assert [row for row in checks.values() if row["state"] == "mend" and row["check"] != "open files"] == []
    home.chmod(0o777)
    worse = showcaller("doctor")
    assert worse.code == 1
    assert f"data folder: chmod go-w {home}" in worse.out


def found(mode: int, user: int = 7) -> os.stat_result:
    return os.stat_result((mode, 1, 1, 1, user, 1, 1, 1, 1, 1))


def test_each_thing_is_judged_by_what_was_measured() -> None:
    home = Path("/data")
    assert python_finding((3, 10, 2)).state == "mend"
    assert descriptors_finding(-1).state == "good"
    assert descriptors_finding(256).mend == "ulimit -n 1024"
    assert folder_finding(home, None, 7, may_use=False).state == "good"
    assert folder_finding(home, found(stat.S_IFDIR | 0o700), 7, may_use=True).state == "good"
    for wrong in (stat.S_IFDIR | 0o720, stat.S_IFREG | 0o700):
        assert folder_finding(home, found(wrong), 7, may_use=True).state == "mend"
    assert folder_finding(home, found(stat.S_IFDIR | 0o700), 8, may_use=True).state == "mend"
    assert folder_finding(home, found(stat.S_IFDIR | 0o700), 7, may_use=False).state == "mend"
    assert [disk_finding(home, free).state for free in (2**20, 2**29, 2**33)] == ["mend", "note", "good"]
    assert socket_finding(Path("/" + "x" * 100)).state == "good"
    assert socket_finding(Path("/" + "x" * 101)).state == "mend"
    assert providers_finding([{"provider": "p", "state": "missing", "toInstall": "get it"}]).mend == "get it"
    workers = [{"name": "w", "pid": 1, "version": "1"}]
    same = versions_findings({"version": "1", "workers": workers}, "1", "stop")
    assert [finding.state for finding in same] == ["good", "good"]
    other = versions_findings({"version": "1", "workers": workers}, "2", "stop")
    assert [finding.state for finding in other] == ["mend", "note"]
    assert versions_findings({"version": "1"}, "1", "stop")[1].state == "mend"
