"""A running relay is found by its file, a dead one is not, and its return is heard without asking again."""

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from showcaller.transport.doors.http.returning import Return, announce
from showcaller.transport.doors.http.token import TokenCheck, own_token, read_token
from showcaller.transport.doors.http.whereabouts import FILE, Whereabouts, forget, running_relay
from showcaller.transport.doors.start_error import RelayStartError


def test_a_relay_is_found_while_its_process_lives(tmp_path: Path) -> None:
    here = Whereabouts.of_this_process(8321, "1.2.3")
    here.write(tmp_path)
    assert running_relay(tmp_path) == here
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    forget(tmp_path)
    forget(tmp_path)
    assert running_relay(tmp_path) is None


def test_a_file_that_a_dead_relay_left_counts_for_nothing(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    gone = Whereabouts(pid=process.pid, process_started=1, port=1, version="1")
    gone.write(tmp_path)
    assert running_relay(tmp_path) is None
    stranger = Whereabouts(pid=os.getpid(), process_started=1, port=1, version="1")
    stranger.write(tmp_path)
    assert running_relay(tmp_path) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"pid": 0, "process_started": 1, "port": 1, "version": "1"}']
)
def test_a_file_that_makes_no_sense_counts_for_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, errors="surrogateescape")
    assert running_relay(tmp_path) is None


def test_whoever_waits_hears_of_the_start_and_whoever_gives_up_is_let_go(tmp_path: Path) -> None:
    announce(tmp_path)  # nobody waits, and nobody hears of it later
    heard: list[bool] = []
    with Return(tmp_path) as first, Return(tmp_path) as second, Return(tmp_path) as third:
        waiting = [
            threading.Thread(target=lambda each=each: heard.append(each.wait(20))) for each in (first, second)
        ]
        for thread in waiting:
            thread.start()
        third.give_up()
        assert not third.wait(20)
        assert not third.wait(20)
        announce(tmp_path)
        for thread in waiting:
            thread.join()
        assert heard == [True, True]
        assert first.wait(0)  # it was started since, however late one looks
    with Return(tmp_path) as late:
        assert not late.wait(0)


def test_the_token_is_made_once_for_the_owner_alone(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_token(tmp_path)
    token = own_token(tmp_path)
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    assert own_token(tmp_path) == read_token(tmp_path) == token
    check = TokenCheck(token)
    assert check.is_owner(token)
    assert not any(check.is_owner(other) for other in ("", token[:-1], token + "x", token.upper(), "\udcff"))


@pytest.mark.parametrize("text", ["", "short", "x" * 300, "é" * 43])
def test_a_file_that_holds_no_token_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "token").write_text(text)
    (tmp_path / "token").chmod(0o600)
    with pytest.raises(RelayStartError, match="holds no token"):
        own_token(tmp_path)


def test_a_link_is_no_token(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("x" * 43)
    (tmp_path / "token").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RelayStartError, match="cannot be read"):
        own_token(tmp_path)


def test_the_file_is_what_other_programs_may_rely_on(tmp_path: Path) -> None:
    Whereabouts.of_this_process(8321, "1.2.3").write(tmp_path)
    told = json.loads((tmp_path / FILE).read_text())
    assert (told["pid"], told["port"], told["version"]) == (os.getpid(), 8321, "1.2.3")
