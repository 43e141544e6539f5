"""A relay inside a program: real threads, processes, files and commands."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from showcaller import Relay
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.fanout import FanoutSpec
from showcaller.data_folder import DataFolder
from showcaller.store.writer import InlineWriter, ProcessWriter
from showcaller.transport.doors.start_error import RelayStartError

LIMIT = 30.0
THIS = {"relay": "this"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(params=[True, False], ids=["writer process", "inline writer"])
def relay(home: Path, request: pytest.FixtureRequest) -> Iterator[Relay]:
    with Relay.open(home, writer_process=request.param) as relay:
        yield relay
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("showcaller-")] == []


def create(relay: Relay, text: str, **more: Any) -> dict[str, Any]:
    return relay.call({"action": "create_session", **THIS, "text": text, "wait_seconds": 20, **more})


def spec(home: Path, **more: Any) -> FanoutSpec:
    values: dict[str, Any] = {
        "kind": "command",
        "template": "echo {}",
        "provider": "command",
        "jobs": 2,
        "cwd": str(home),
        **more,
    }
    return FanoutSpec(**values)


# -- the walk --------------------------------------------------------------------------------------


def test_a_prompt_runs_as_a_command_and_comes_back(relay: Relay, tmp_path: Path) -> None:
    (tmp_path / "three").write_text("1\n2\n3\n")
    found = create(relay, "wc -l < three; echo $SHOWCALLER_SESSION", cwd=str(tmp_path))
    assert (found["status"], found["stopReason"]) == ("done", "end")
    assert found["reply"]["text"].split() == ["3", found["session"]]
    again = {"action": "send", **THIS, "session": found["session"], "text": "exit 3", "wait_seconds": 20}
    assert relay.call(again)["status"] == "failed"
    read = relay.call({"action": "read_session", **THIS, "session": found["session"]})
    assert [message["role"] for message in read["messages"]] == ["user", "assistant", "user"]
    assert (read["state"], read["lastTurn"]) == ("idle", "failed")


async def test_a_call_can_be_awaited_and_the_loop_goes_on_meanwhile(relay: Relay, tmp_path: Path) -> None:
    """Ten commands that each wait for all ten: blocking the loop would keep the others from starting."""
    meet = f"touch {tmp_path}/$SHOWCALLER_TURN; until [ $(ls {tmp_path} | grep -c msg_) = 10 ]; do :; done"
    call = {"action": "create_session", **THIS, "text": meet, "wait_seconds": 30}
    async with asyncio.timeout(LIMIT):
        results = await asyncio.gather(*(relay.call_async(call) for _ in range(10)))
    assert {result["status"] for result in results} == {"done"}


def test_the_same_id_again_runs_nothing_again(relay: Relay, tmp_path: Path) -> None:
    call = {"action": "create_session", **THIS, "text": f"echo x >> {tmp_path}/ran", "wait_seconds": 20}
    first, second = (relay.call(call, id="mine") for _ in range(2))
    assert (first["status"], second["status"]) == ("done", "duplicate")
    assert (tmp_path / "ran").read_text() == "x\n"


def test_a_fan_out_runs_every_item_and_is_listed(relay: Relay, tmp_path: Path) -> None:
    run = relay.start_fanout(spec(tmp_path, name="greetings"), ["a b", "$(c)", "-d"])
    results = {result.item: result for result in run.results()}
    assert {item: result.reply for item, result in results.items()} == {
        "a b": "a b\n", "$(c)": "$(c)\n", "-d": "-d\n"
    }  # fmt: skip
    assert list(run.results()) == []  # asked again: each is given once, and nothing hangs
    (listed,) = relay.list_fanouts()
    assert (listed["group"], listed["name"], listed["ended"]) == (run.group, "greetings", 3)
    again = relay.resume_fanout("greetings")
    assert {result.item: result for result in again.results()} == results


# -- close -----------------------------------------------------------------------------------------


def test_a_close_ends_what_runs_and_a_later_relay_knows_how(home: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "started")
    with Relay.open(home) as relay:
        call = {"action": "create_session", **THIS, "text": f"echo > {tmp_path}/started; exec sleep 600"}
        begun = relay.call({**call, "wait_seconds": 0})
        (tmp_path / "started").read_text()
    assert relay.call({"action": "list_sessions", **THIS})["code"] == "REMOTE_RELAY_UNAVAILABLE"
    with pytest.raises(Refusal, match="closed"):
        relay.start_fanout(spec(home), ["a"])
    relay.close()
    with Relay.open(home) as later:
        wait = {"action": "wait", **THIS, "session": begun["session"], "message_id": begun["message_id"]}
        found = later.call(wait)
        assert (found["status"], found["stopReason"]) == ("failed", "interrupted")


def test_who_waits_in_another_thread_when_the_relay_closes_gets_an_answer(home: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "started")
    results: list[dict[str, Any]] = []
    with Relay.open(home, writer_process=False) as relay:
        first = create(relay, "true")
        call = {"action": "send", **THIS, "session": first["session"], "wait_seconds": 600}
        texts = [f"echo > {tmp_path}/started; exec sleep 600", "echo never"]
        threads = [
            threading.Thread(target=lambda text=text: results.append(relay.call({**call, "text": text})))
            for text in texts
        ]
        threads[0].start()
        (tmp_path / "started").read_text()
        threads[1].start()
    for thread in threads:
        thread.join(LIMIT)
        assert not thread.is_alive()
    assert len(results) == 2
    assert "interrupted" in {result.get("stopReason") for result in results}


def test_a_fan_out_that_a_close_cuts_goes_on_in_a_later_relay(home: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "started")
    text = f"[ -e {tmp_path}/open ] || {{ echo > {tmp_path}/started; exec sleep 600; }}; echo {{}}"
    with Relay.open(home) as relay:
        run = relay.start_fanout(spec(tmp_path, template=text, jobs=1), ["a", "b"])
        (tmp_path / "started").read_text()
    statuses = {result.item: result.status for result in run.results()}
    assert statuses == {"a": "interrupted", "b": "skipped"}
    run.stop()  # harmless by now
    (tmp_path / "open").touch()
    with Relay.open(home) as later:
        on = {result.item: result for result in later.resume_fanout(run.group).results()}
    assert {item: result.status for item, result in on.items()} == {"a": "done", "b": "done"}
    assert {item: result.attempts for item, result in on.items()} == {"a": 2, "b": 1}


# -- one relay a folder ----------------------------------------------------------------------------


def test_a_second_relay_on_one_folder_is_told_who_holds_it_and_the_way_out(home: Path) -> None:
    with Relay.open(home), pytest.raises(RelayStartError) as refused:
        Relay.open(home)
    assert str(home) in refused.value.message
    assert str(os.getpid()) in refused.value.message
    assert "SHOWCALLER_HOME" in refused.value.way_out
    Relay.open(home).close()


def test_a_relay_of_another_process_is_named_by_its_id(home: Path) -> None:
    program = (
        "import sys; from showcaller import Relay\n"
        "with Relay.open(sys.argv[1]): print('open', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path.cwd()) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(RelayStartError, match=rf"process {other.pid}\b"):
            Relay.open(home)
        with Relay.open(home, read_only=True) as looking:
            assert looking.call({"action": "list_sessions", **THIS})["sessions"] == []
        other.communicate(timeout=LIMIT)
    assert other.returncode == 0


def test_to_read_works_beside_a_running_relay_and_sees_what_it_stores(home: Path) -> None:
    with Relay.open(home) as relay, Relay.open(home, read_only=True) as looking:
        made = create(relay, "echo hello")
        read = looking.call({"action": "read_session", **THIS, "session": made["session"]})
        assert read["messages"][-1]["text"] == "hello\n"
        refused = looking.call({"action": "send", **THIS, "session": made["session"], "text": "x"})
        assert refused["code"] == "REMOTE_RELAY_STORAGE"
        with pytest.raises(Refusal, match="reading only"):
            looking.start_fanout(spec(home), ["a"])


# -- a folder or a database that cannot be used ----------------------------------------------------


def start_error(home: Path, *, read_only: bool = False) -> str:
    """Give the text with which a relay refuses to start, in both forms of its writer the same kind."""
    texts: list[str] = []
    for own_process in (True, False):
        with pytest.raises(RelayStartError) as refused:
            Relay.open(home, read_only=read_only, writer_process=own_process)
        texts.append(str(refused.value))
    assert texts[0] == texts[1]
    return texts[0]


def stored(home: Path) -> Path:
    """Make a database with something in it; gives its file."""
    with Relay.open(home, writer_process=False) as relay:
        create(relay, "echo kept")
    return DataFolder(home).database


def test_to_read_where_no_relay_ever_was_names_the_file(home: Path) -> None:
    text = start_error(home, read_only=True)
    assert str(home / "relay.db") in text
    assert "run something first" in text
    assert not home.exists()


def test_a_folder_that_is_a_file(home: Path) -> None:
    home.write_text("")
    text = start_error(home)
    assert str(home) in text
    assert "name another one in SHOWCALLER_HOME" in text


def test_a_damaged_database(home: Path) -> None:
    database = stored(home)
    database.write_bytes(b"this is no database" * 1_000)
    text = start_error(home)
    assert str(database) in text
    assert "move the file away" in text


def test_a_database_cut_short(home: Path) -> None:
    database = stored(home)
    os.truncate(database, database.stat().st_size // 2)
    text = start_error(home)
    assert str(database) in text
    assert "restore a backup" in text


def test_a_database_of_a_newer_version(home: Path) -> None:
    database = stored(home)
    with sqlite3.connect(database) as connection:
        (table,) = connection.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE '%migration%' AND type = 'table'"
        ).fetchone()
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        row = dict(zip(columns, connection.execute(f"SELECT * FROM {table}").fetchone(), strict=True))
        row |= {"name": "9999_later"} | ({"id": 9_999} if "id" in row else {})
        slots = ", ".join(f":{column}" for column in columns)
        connection.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({slots})", row)
    connection.close()
    text = start_error(home)
    assert str(database) in text
    assert "newer version" in text
    assert "install" in text
    assert start_error(home, read_only=True) == text


def test_a_database_of_another_program(home: Path) -> None:
    home.mkdir()
    with sqlite3.connect(home / "relay.db") as connection:
        connection.execute("CREATE TABLE theirs (id)")
    connection.close()
    text = start_error(home)
    assert str(home / "relay.db") in text
    assert "another program" in text


def test_a_locked_database(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = stored(home)
    for writer in (InlineWriter, ProcessWriter):
        impatient = partial(writer, busy_seconds=0.05)
        monkeypatch.setattr(f"showcaller.assembly.{writer.__name__}", impatient)
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    text = start_error(home)
    other.close()
    assert str(database) in text
    assert "end that process, or wait" in text


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_database_that_may_not_be_written(home: Path) -> None:
    database = stored(home)
    database.chmod(0o400)
    text = start_error(home)
    assert str(database) in text
    assert "permissions" in text
    with Relay.open(home, read_only=True) as looking:
        assert len(looking.call({"action": "list_sessions", **THIS})["sessions"]) == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of 1 MiB, where that is allowed."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    if mount is None:
        pytest.skip("no disk can be mounted here: there is no program mount")
    options = ["-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", str(folder)]
    mounting = subprocess.run([mount, *options], capture_output=True, text=True, check=False)
    if mounting.returncode:
        pytest.skip(f"no disk can be mounted here: {mounting.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Use up what a disk has left."""
    with (folder / "ballast").open("wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(b"x" * 4096)
        except OSError:
            return


def test_a_full_disk(small_disk: Path) -> None:
    home = small_disk / "home"
    database = stored(home)
    fill(small_disk)
    text = start_error(home)
    assert str(database) in text
    assert "free space" in text or "free some space" in text
    (small_disk / "ballast").unlink()
    with Relay.open(home) as relay:
        assert create(relay, "echo more")["status"] == "done"
        fill(small_disk)
        refused = create(relay, "x" * 90_000)
        assert refused["code"] == "REMOTE_RELAY_STORAGE"
        assert str(database) in refused["error"]
        (small_disk / "ballast").unlink()
        assert create(relay, "echo after")["status"] == "done"


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_disk_that_may_only_be_read(small_disk: Path) -> None:
    home = small_disk / "home"
    stored(home)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    text = start_error(home)
    assert str(home / "lock") in text
    assert "Read-only file system" in text
    assert "name another folder in SHOWCALLER_HOME" in text
    assert str(small_disk / "new") in start_error(small_disk / "new")
    with Relay.open(home, read_only=True) as relay:
        assert len(relay.call({"action": "list_sessions"})["sessions"]) == 1
        assert relay.check() == []


def test_a_start_that_fails_leaves_nothing_behind(home: Path) -> None:
    home.mkdir()
    (home / "relay.db").write_bytes(b"this is no database" * 1_000)
    before = open_descriptors()
    start_error(home)
    assert open_descriptors() == before
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("showcaller")] == []
    (home / "relay.db").unlink()
    Relay.open(home).close()


def test_no_refusal_of_a_fan_out_leaves_anything_stored(home: Path) -> None:
    with Relay.open(home, writer_process=False) as relay:
        bad: list[tuple[Any, str]] = [
            ("a\0b", "NUL"),
            ("\udcff", "surrogate"),
            ({1, 2}, "JSON"),
            (float("nan"), "number"),
        ]
        for item, why in bad:
            with pytest.raises(Refusal, match=why) as refused:
                relay.start_fanout(spec(home), ["fine", item])
            assert refused.value.code is Code.INVALID_INPUT
            assert "Nothing was started" in refused.value.error
        assert relay.list_fanouts() == []
        for group in ("grp_nothing", "a\nb", "\udcff", "x" * 10_000):
            with pytest.raises(Refusal, match="no fan-out"):
                relay.resume_fanout(group)
        with pytest.raises(Refusal, match="0 jobs"):
            relay.resume_fanout("grp_nothing", jobs=0)
        runs = [relay.start_fanout(spec(home, name="twice"), ["a"]) for _ in range(2)]
        for run in runs:
            assert len(list(run.results())) == 1
        with pytest.raises(Refusal, match="several fan-outs") as several:
            relay.resume_fanout("twice")
        assert runs[0].group in several.value.error
