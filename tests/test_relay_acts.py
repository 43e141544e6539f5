"""What an owner does with a relay in its own program, beside calling: real processes and commands."""

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from showcaller import FanoutSpec, Refusal, Relay, RelayStartError, Settings
from tests.e2e.program import alive

LIMIT = 30.0


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[Relay]:
    with Relay.open(tmp_path / "home", writer_process=False) as relay:
        yield relay


def begin(relay: Relay, folder: Path, text: str = "") -> dict[str, Any]:
    """Start a command, and give it back once it runs."""
    os.mkfifo(folder / "started")
    text = f"echo > {folder}/started; {text or 'exec sleep 600'}"
    begun = relay.call({"action": "create_session", "text": text, "wait_seconds": 0})
    (folder / "started").read_text()
    return begun


def end_of(relay: Relay, begun: dict[str, Any]) -> dict[str, Any]:
    """Wait for the end of a prompt."""
    names = {name: begun[name] for name in ("session", "message_id")}
    return relay.call({"action": "wait", **names, "wait_seconds": 20})


def spec(folder: Path, **more: Any) -> FanoutSpec:
    values: dict[str, Any] = {"kind": "command", "template": "echo {}", "provider": "command", "jobs": 2}
    values |= {"cwd": str(folder), **more}
    return FanoutSpec(**values)


def test_a_stop_ends_a_command_and_what_waits_goes_on_when_the_owner_says_so(
    relay: Relay, tmp_path: Path
) -> None:
    begun = begin(relay, tmp_path)
    prompt = {"action": "send", "session": begun["session"], "text": "echo later", "wait_seconds": 0}
    later = relay.call(prompt)
    assert relay.call({"action": "stop", "session": begun["session"]})["stopRequested"]
    assert end_of(relay, begun)["status"] == "stopped"
    assert relay.go_on(begun["session"])["ok"]
    assert end_of(relay, later)["reply"]["text"] == "later\n"


def test_a_kill_ends_a_command_and_a_delete_takes_its_session_away(relay: Relay, tmp_path: Path) -> None:
    begun = begin(relay, tmp_path)
    assert relay.delete(begun["session"])["code"] == "REMOTE_RELAY_BUSY"
    assert relay.kill(begun["session"], id="kill")["stopRequested"]
    assert end_of(relay, begun)["status"] == "stopped"
    assert relay.kill(begun["session"], id="kill")["stopRequested"]
    assert relay.delete(begun["session"])["ok"]
    assert relay.call({"action": "list_sessions", "scope": "all"})["sessions"] == []


def test_a_relay_that_is_closed_ends_what_its_sessions_have_in_the_background(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Relay.open(home, writer_process=False) as relay:
        left = relay.call({"action": "create_session", "text": "sleep 600 & echo $!", "wait_seconds": 20})
        assert (left["status"], left["background"]["running"]) == ("running", 1)
        assert alive([int(left["reply"]["text"])]) != []
    assert alive([int(left["reply"]["text"])]) == []
    with Relay.open(home, writer_process=False) as relay:
        session = relay.call({"action": "read_session", "session": left["session"]})
        assert session["session"]["state"] == "idle"
        assert [task["status"] for task in session["tasks"]] == ["interrupted"]


async def test_the_acts_can_be_awaited(relay: Relay, tmp_path: Path) -> None:
    begun = begin(relay, tmp_path)
    async with asyncio.timeout(LIMIT):
        assert (await relay.kill_async(begun["session"]))["stopRequested"]
        names = {name: begun[name] for name in ("session", "message_id")}
        ended = await relay.call_async({"action": "wait", **names, "wait_seconds": 20})
        assert ended["status"] == "stopped"
        assert (await relay.go_on_async(begun["session"]))["ok"]
        assert (await relay.delete_async(begun["session"]))["ok"]


def test_an_act_on_nothing_is_refused_and_raises_nothing(relay: Relay) -> None:
    for refused in (relay.kill("ses_zzzzzzzzzzzz"), relay.delete("ses_zzzzzzzzzzzz"), relay.go_on("zzzzzz")):
        assert (refused["ok"], refused["code"]) == (False, "REMOTE_RELAY_NOT_FOUND")


def test_a_fan_out_gives_one_result_per_item_in_their_order(relay: Relay, tmp_path: Path) -> None:
    slow_first = "[ {} != a ] || until [ -e done ]; do :; done; echo {}; [ {} = a ] || : > done"
    results = relay.fanout(spec(tmp_path, template=slow_first), ["a", "b", "c"])
    assert [(result.item, result.reply) for result in results] == [("a", "a\n"), ("b", "b\n"), ("c", "c\n")]
    with pytest.raises(Refusal, match="NUL"):
        relay.fanout(spec(tmp_path), ["a\0"])


async def test_an_awaited_fan_out_leaves_the_loop_free_and_stops_when_it_is_cancelled(
    relay: Relay, tmp_path: Path
) -> None:
    async with asyncio.timeout(LIMIT):
        both = await asyncio.gather(*(relay.fanout_async(spec(tmp_path), [n]) for n in ("a", "b")))
        assert [results[0].reply for results in both] == ["a\n", "b\n"]
    os.mkfifo(tmp_path / "started")
    text = f"echo > {tmp_path}/started; exec sleep 60{{}}"
    running = asyncio.ensure_future(relay.fanout_async(spec(tmp_path, template=text, name="cut"), [1]))
    await asyncio.to_thread((tmp_path / "started").read_text)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (result,) = relay.resume_fanout("cut", rerun=False).results()
    assert result.status == "interrupted"


def test_a_copy_that_was_made_while_the_relay_ran_is_put_back(tmp_path: Path) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy.db"
    with Relay.open(home, writer_process=False) as relay:
        kept = relay.call({"action": "create_session", "text": "echo kept", "wait_seconds": 20})
        assert relay.back_up(copy) == copy
        with pytest.raises(Refusal, match="Nothing was copied") as refused:
            relay.back_up(copy)
        assert str(copy) in refused.value.error
        assert relay.back_up(copy, replace=True) == copy
        assert relay.delete(kept["session"])["ok"]
        assert (relay.check(), relay.check(quick=True)) == ([], [])
        with pytest.raises(RelayStartError, match="running already"):
            Relay.restore(copy, home)
    before = Relay.restore(copy, home)
    assert before is not None
    assert before.is_file()
    with Relay.open(home, read_only=True) as relay:
        (listed,) = relay.call({"action": "list_sessions"})["sessions"]
        assert listed["id"] == kept["session"]
        stop = {"action": "stop", "session": listed["id"]}
        for result in (relay.kill(listed["id"]), relay.call(stop)):
            assert result["code"] == "REMOTE_RELAY_STORAGE"
    assert Relay.restore(copy, tmp_path / "new") is None


def test_what_is_no_copy_is_not_put_back(tmp_path: Path) -> None:
    (tmp_path / "other.db").write_bytes(b"this is no database" * 1_000)
    for wrong in ("missing.db", "other.db"):
        with pytest.raises(RelayStartError, match="cannot be restored") as refused:
            Relay.restore(tmp_path / wrong, tmp_path / "home")
        assert wrong in str(refused.value)


def test_a_damaged_store_is_told_in_words(relay: Relay) -> None:
    relay.call({"action": "create_session", "text": "echo kept", "wait_seconds": 20})
    with sqlite3.connect(relay._database) as connection:
        connection.execute("UPDATE session SET message_count = 7")
    connection.close()
    (finding,) = relay.check()
    assert "ses_" in finding


def test_a_relay_keeps_to_the_settings_with_which_it_was_opened(tmp_path: Path) -> None:
    settings = Settings(longest_wait_minutes=2, max_active_sessions=9)
    with Relay.open(tmp_path / "home", writer_process=False, settings=settings) as relay:
        made = relay.call({"action": "create_session", "text": "true", "wait_seconds": 300})
        assert "120" in made["note"]
        assert relay.call({"action": "list_relays"})["limits"] == {
            "maxWaitSeconds": 120,
            "maxActiveSessions": 9,
        }


def test_an_owner_looks_into_the_inbox_and_answers_in_both_styles(relay: Relay) -> None:
    assert relay.inbox()["items"] == []
    assert asyncio.run(relay.inbox_async(limit=1))["items"] == []
    missing = relay.answer("q_zzzzzzzzzzzz", ["Allow"])
    assert missing["code"] == "REMOTE_RELAY_NOT_FOUND"
    assert asyncio.run(relay.answer_async("q_zzzzzzzzzzzz", dismiss=True)) == missing
    assert relay.answer("q_zzzzzzzzzzzz")["code"] == "REMOTE_RELAY_INVALID_INPUT"
    assert relay.answer("q_zzzzzzzzzzzz", ["Allow"], dismiss=True)["code"] == "REMOTE_RELAY_INVALID_INPUT"
    assert relay.inbox(limit=0)["code"] == "REMOTE_RELAY_INVALID_INPUT"
    assert relay.inbox(cursor="nobody's")["code"] == "REMOTE_RELAY_INVALID_INPUT"
