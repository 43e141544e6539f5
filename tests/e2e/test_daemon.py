"""One relay runs on a data folder, is found, looked at and stopped, and leaves nothing behind at its end."""

import json
import signal
import socket
import stat
import subprocess
import sys

import pytest

from tests.e2e.daemon import living_workers, serving
from tests.e2e.program import LIMIT, Bell, Showcaller, alive, finish
from tests.e2e.test_interrupted import press_until_it_leaves
from tests.transport.worker.stage import processes_with


def children(pid: int) -> list[int]:
    """Give the process ids of the children of a process."""
    with open(f"/proc/{pid}/task/{pid}/children") as listing:  # noqa: PTH123 - a file of the kernel
        return [int(child) for child in listing.read().split()]


def test_status_ends_with_0_when_a_relay_answers_and_3_when_none_runs_and_warns_of_versions(
    showcaller: Showcaller,
) -> None:
    nobody = showcaller("status", "--json")
    assert (nobody.code, json.loads(nobody.out)["running"]) == (3, False)
    assert not showcaller.home.exists()
    with serving(showcaller) as daemon:
        status = showcaller("status", "--json")
        assert status.code == 0, status.err
        told = json.loads(status.out)
        assert (told["running"], told["pid"]) == (True, daemon.process.pid)
        assert "warning" not in told
        assert told["defaultFolder"] == str(showcaller.folder)
        assert f"folder of sessions that name none: {showcaller.folder}\n" in showcaller("status").out
        newer = (
            "from showcaller.transport.doors.cli.group import run; import sys; "
            "sys.exit(run(sys.argv[1:], None, '99.0'))"
        )
        home = str(showcaller.home)
        other = subprocess.run(
            [sys.executable, "-c", newer, "--home", home, "status"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert other.returncode == 0, other.stderr
        assert f"version {told['version']}, and 99.0 is installed" in other.stderr
        daemon.process.kill()
        daemon.process.wait(LIMIT)
        assert (daemon.home / "relay.json").exists()
        assert showcaller("status").code == 3
    with serving(showcaller, "--port", str(daemon.port)) as after:
        assert (after.port, after.token) == (daemon.port, daemon.token)


def test_one_relay_serves_a_folder_for_its_owner_alone_and_a_second_serve_names_it(
    showcaller: Showcaller,
) -> None:
    with serving(showcaller) as daemon:
        for name in ("relay.json", "token", "lock"):
            assert stat.S_IMODE((daemon.home / name).stat().st_mode) == 0o600, name
        assert stat.S_IMODE(daemon.home.stat().st_mode) == 0o700
        second = showcaller("serve")
        assert (second.code, second.out) == (1, "")
        assert f"process {daemon.process.pid}, http://127.0.0.1:{daemon.port}" in second.err
        assert showcaller("status").code == 0


def test_modules_in_the_folder_where_it_was_started_are_none_of_a_workers(showcaller: Showcaller) -> None:
    for name in ("zmq", "pydantic", "msgpack", "logging", "showcaller"):
        (showcaller.folder / f"{name}.py").write_text("raise RuntimeError('this is somebody else')\n")
    with serving(showcaller) as daemon, daemon.owner as owner:
        call = {"action": "create_session", "relay": "this", "text": "echo runs", "wait_seconds": 60}
        assert owner.post("/api/call", json=call).json()["reply"]["text"] == "runs\n"


def test_a_port_that_is_taken_is_told_before_anything_is_stored(showcaller: Showcaller) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = showcaller("serve", "--port", str(port))
    assert (ended.code, ended.out) == (1, "")
    assert f"The port {port} cannot be taken" in ended.err
    assert not (showcaller.home / "relay.db").exists()


def test_a_signal_ends_it_in_order_and_leaves_its_workers_alone(showcaller: Showcaller) -> None:
    with serving(showcaller, "--log", "json") as daemon:
        assert showcaller("fanout", "true {}", "a").code == 0
        (worker,) = living_workers(daemon.home)
        writer = [child for child in children(daemon.process.pid) if child != worker.guardian]
        assert writer
        daemon.process.send_signal(signal.SIGTERM)
        ended = finish(daemon.process)
        assert ended.code == 0, ended.err
        assert alive(writer) == []
        assert living_workers(daemon.home) == [worker]
    events = [json.loads(line)["event"] for line in ended.err.splitlines()]
    assert [event for event in events if event.islower()] == ["ready", "stopping", "stopped"]
    assert not (showcaller.home / "relay.json").exists()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", daemon.port))


def test_stop_waits_until_the_relay_has_ended_and_tells_when_there_is_none(showcaller: Showcaller) -> None:
    with serving(showcaller) as daemon:
        stopped = showcaller("stop", "--workers", "--json")
        told = {"stopped": daemon.process.pid, "interrupted": {"turns": 0, "tasks": 0}}
        assert (stopped.code, json.loads(stopped.out)) == (0, told)
        assert alive([daemon.process.pid]) == []
        assert living_workers(daemon.home) == []
        assert daemon.process.wait(LIMIT) == 0
    assert showcaller("stop").code == 3


def test_stop_ends_the_workers_of_a_relay_that_was_killed_and_says_how_many(
    showcaller: Showcaller, bell: Bell
) -> None:
    with serving(showcaller) as daemon, showcaller.start("fanout", f"{bell.ring}; {bell.wait}", "a"):
        bell.hear(1)
        (worker,) = living_workers(daemon.home)
        daemon.process.kill()
        daemon.process.wait(LIMIT)
        kept = showcaller("stop")
        assert (kept.code, living_workers(daemon.home)) == (3, [worker]), "they go on without --workers"
        ended = showcaller("stop", "--workers")
        assert ended.code == 0, ended.err
        assert "1 worker that one had left has ended" in ended.err
        assert living_workers(daemon.home) == []
        assert processes_with(worker.marker or "no marker") == []
        assert showcaller("stop", "--workers").code == 3
    with serving(showcaller) as daemon, daemon.owner as owner:
        listing = {"action": "list_sessions", "relay": "this", "scope": "all"}
        (session,) = owner.post("/api/call", json=listing).json()["sessions"]
    assert session["lastTurn"] == "interrupted"


def test_stop_says_what_goes_on_in_the_workers_and_how_to_end_it(showcaller: Showcaller, bell: Bell) -> None:
    with serving(showcaller):
        assert showcaller("new", f"{{ {bell.wait}; }} > /dev/null 2>&1 &").code == 0
        assert showcaller("new", "--no-wait", f"echo a > {bell.path}; {bell.wait}").code == 0
        bell.hear(1)
        assert "in the background: 1 running" in showcaller("status").out
        stopped = showcaller("stop")
        assert stopped.code == 0, stopped.err
        assert "1 turn and 1 task in the background go on in its workers" in stopped.err
        assert "showcaller stop --workers" in stopped.err
        assert showcaller("stop", "--workers").code == 0


def test_stop_with_its_workers_says_what_it_has_interrupted(showcaller: Showcaller, bell: Bell) -> None:
    with serving(showcaller):
        assert showcaller("new", "--no-wait", f"echo a > {bell.path}; {bell.wait}").code == 0
        bell.hear(1)
        stopped = showcaller("stop", "--workers")
        assert stopped.code == 0, stopped.err
        assert "1 turn was interrupted, and ended with its workers." in stopped.err
    assert "interrupted" in showcaller("sessions").out


def test_a_second_signal_leaves_at_once(showcaller: Showcaller, bell: Bell) -> None:
    """It would wait for the turns to end, and this one's does not want to."""
    stubborn = f"trap '' TERM; {bell.ring}; {bell.wait}; {bell.wait}"
    with serving(showcaller) as daemon, showcaller.start("fanout", stubborn, "a", "--json"):
        bell.hear(1)
        with daemon.owner as owner:
            assert owner.post("/api/stop", json={"workers": True}).json()["ok"]
        assert daemon.process.stderr is not None
        while "stopping" not in daemon.process.stderr.readline():
            pass
        assert press_until_it_leaves(daemon.process) == 130


def test_a_token_that_others_may_read_is_refused_with_the_way_out(showcaller: Showcaller) -> None:
    showcaller.home.mkdir(mode=0o700)
    token = showcaller.home / "token"
    token.write_text("x" * 43)
    token.chmod(0o644)
    ended = showcaller("serve")
    assert (ended.code, ended.out) == (1, "")
    assert str(token) in ended.err
    assert "Delete it" in ended.err


def test_neither_the_token_nor_a_prompt_is_in_the_log(showcaller: Showcaller) -> None:
    with serving(showcaller, "--log", "json") as daemon, daemon.owner as owner:
        secret = "a-word-that-only-the-prompt-has"
        call = {
            "action": "create_session",
            "relay": "this",
            "text": f"echo {secret}; exit 3",
            "wait_seconds": 60,
        }
        assert owner.post("/api/call", json=call).json()["status"] == "failed"
        owner.post("/api/call", content=secret)
        owner.get(f"/api/{secret}")
        owner.get("/api/status", headers={"authorization": f"Bearer {daemon.token}x"})
        daemon.process.send_signal(signal.SIGINT)
        err = finish(daemon.process).err
    assert secret not in err
    assert daemon.token not in err
    assert '"event": "stopped"' in err
