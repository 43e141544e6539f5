"""What the owner types, with a relay that runs and without one."""

import json
import signal
from pathlib import Path

import pytest

from tests.e2e.daemon import serving
from tests.e2e.program import Bell, Showcaller, finish


def test_a_prompt_runs_within_the_command_where_no_relay_runs(showcaller: Showcaller, folder: Path) -> None:
    made = showcaller("new", "pwd; echo wrong >&2; exit 3", "--title", "nightly")
    assert made.code == 1
    assert made.out.startswith(f"{folder}\n")
    assert "exited with code 3" in made.err
    again = showcaller("send", "nightly", "-", "--json", stdin="echo twice")
    assert (again.code, json.loads(again.out)["reply"]["text"]) == (0, "twice\n")
    cut = showcaller("send", "nightly", "sleep 1000", "--wait", "200ms")
    assert cut.code == 1
    assert "ended with this command" in cut.err
    assert "is running" not in cut.err
    told = showcaller("export", "nightly").out
    assert "exited with code 3" in told
    assert "twice" in told
    assert told.count("\n## Prompt") == 3
    assert "interrupted" in told
    prompts = [
        json.loads(line)["message"] for line in showcaller("export", "nightly", "--json").out.splitlines()[1:]
    ]
    exported = {message["id"]: message["seconds"] for message in prompts if message["role"] == "user"}
    shown = json.loads(showcaller("show", "nightly", "--json").out)["messages"]
    assert {row["id"]: row["seconds"] for row in shown if row["role"] == "user"} == exported
    assert len(exported) == 3
    later = showcaller("new", "--no-wait", "echo later")
    assert (later.code, "showcaller serve" in later.err) == (3, True)


@pytest.mark.slow
def test_what_a_relay_has_left_waiting_is_not_cut_by_a_command_but_run_by_the_next_relay(
    showcaller: Showcaller, bell: Bell
) -> None:
    with serving(showcaller) as daemon:
        made = showcaller(
            "new", "--no-wait", bell.ring.format("begun") + "; sleep 600", "--title", "busy", "--json"
        )
        bell.hear(1)
        sent = showcaller("send", "busy", "--no-wait", bell.ring.format("second"), "--json")
        ids = {"session": json.loads(made.out)["session"], "message_id": json.loads(sent.out)["message_id"]}
        daemon.process.kill()
        daemon.process.wait(timeout=60)
    assert showcaller("stop", "--workers").code == 3
    assert showcaller("settings", "set", "log_days", "5").code == 0
    showcaller("stop-turn", "busy")  # which holds what waits
    assert showcaller("new", "echo another").code == 0
    assert bell.heard() == []
    refused = showcaller("go-on", "busy")
    assert (refused.code, "showcaller serve" in refused.err) == (3, True)
    with serving(showcaller) as daemon:
        assert showcaller("go-on", "busy").code == 0
        assert bell.hear(1) == ["second"]
        with daemon.owner as owner:
            answer = owner.post("/api/call", json={"action": "wait", "relay": "this", **ids}).json()
        assert answer["status"] == "done"


@pytest.mark.slow
def test_with_a_relay_a_prompt_is_waited_for_through_kill_9_of_the_relay_and_sent_once(
    showcaller: Showcaller, folder: Path, bell: Bell
) -> None:
    with serving(showcaller) as daemon:
        started = showcaller("new", "--no-wait", "echo first", "--title", "watched", "--json")
        assert started.code == 0, started.err
        session = json.loads(started.out)["session"]
        command = f"{bell.ring.format('began')}; {bell.wait}; echo ended"
        with showcaller.start("send", "watched", command) as sending:
            assert bell.hear(1) == ["began"]
            daemon.process.send_signal(signal.SIGKILL)
            daemon.process.wait(60)
            with serving(showcaller):
                bell.open_gate(1)
                ended = finish(sending)
                assert (ended.code, ended.out) == (0, "ended\n"), ended.err
                assert bell.heard() == []
                busy = showcaller("new", "--no-wait", f"{bell.ring.format('again')}; {bell.wait}", "--json")
                other = json.loads(busy.out)["session"]
                assert bell.hear(1) == ["again"]
                assert showcaller("send", other, "x", "--if-busy", "fail").code == 1
                assert showcaller("delete", "--yes", other).code == 1
                assert showcaller("kill", other).code == 0
                put_away = showcaller("archive", session, other, "--json")
                assert [row.get("archived") for row in json.loads(put_away.out)["sessions"]] == [True, True]
                assert showcaller("delete", "--yes", session).code == 0
                assert showcaller("show", session).code == 3
                assert showcaller("doctor").code == 0
                assert showcaller("settings", "set", "log_days", "9").code == 0
                assert showcaller("settings", "get", "log_days").out == "9\n"


def test_a_copy_is_put_back_where_nothing_is_and_over_what_is_there_only_when_told_to(
    showcaller: Showcaller, tmp_path: Path
) -> None:
    assert showcaller("new", "echo kept", "--title", "kept").code == 0
    copy = tmp_path / "copy.db"
    assert showcaller("backup", str(copy)).code == 0
    assert showcaller("backup", str(copy)).code == 1
    refused = showcaller("restore", str(copy))
    assert (refused.code, "--force" in refused.err) == (1, True)
    forced = showcaller("restore", "--force", str(copy), "--json")
    assert Path(json.loads(forced.out)["kept"]).exists()
    elsewhere = tmp_path / "elsewhere"
    assert showcaller("restore", "--home", str(elsewhere), str(copy)).code == 0
    assert "kept" in showcaller("show", "kept", "--home", str(elsewhere)).out
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(copy.read_bytes()[: copy.stat().st_size // 2])
    wrong = showcaller("restore", "--force", str(damaged))
    assert wrong.code == 1
    assert "kept" in showcaller("show", "kept").out
    with serving(showcaller):
        running = showcaller("restore", "--force", str(copy))
        assert (running.code, "stop" in running.err) == (1, True)
