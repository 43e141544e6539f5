"""A data folder that is in use, newer, damaged or not to be written is told by name, with the way out."""

import os
import sqlite3
from pathlib import Path

import pytest

from tests.e2e.program import Bell, Ended, Showcaller, database, finish


@pytest.fixture
def used(showcaller: Showcaller) -> Path:
    """Give the database of a data folder that was used before."""
    assert showcaller("fanout", "echo {}", "a").code == 0
    return database(showcaller.home)


def assert_told(ended: Ended, path: Path, *words: str) -> None:
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("Error: ")
    assert str(path) in ended.err
    assert "Traceback" not in ended.err
    for word in words:
        assert word in ended.err


def test_a_second_fan_out_in_the_same_data_folder_is_told_who_runs(
    showcaller: Showcaller, bell: Bell
) -> None:
    with showcaller.start("fanout", f"{bell.ring}; {bell.wait}", "a", "--json") as first:
        assert bell.hear(1) == ["a"]
        assert_told(showcaller("fanout", "echo {}", "b"), showcaller.home, str(first.pid))
        listed = showcaller("sessions", "--json")
        assert listed.code == 0, listed.err
        assert '"running_turn"' in listed.out
        bell.open_gate(1)
        assert finish(first).code == 0


def test_a_newer_database_is_told(showcaller: Showcaller, used: Path) -> None:
    connection = sqlite3.connect(used)
    connection.execute("UPDATE schema_migration SET name = '9999_later' WHERE name LIKE '0001%'")
    connection.commit()
    connection.close()
    assert_told(showcaller("fanout", "echo {}", "a"), used, "newer")
    assert_told(showcaller("sessions"), used, "newer")


def test_a_damaged_database_is_told(showcaller: Showcaller, used: Path) -> None:
    used.write_bytes(b"this is no database, whatever its name says" * 100)
    assert_told(showcaller("fanout", "echo {}", "a"), used, "move")
    assert_told(showcaller("sessions"), used, "move")


def test_a_cut_database_is_told(showcaller: Showcaller, used: Path) -> None:
    os.truncate(used, used.stat().st_size // 2)
    assert_told(showcaller("fanout", "echo {}", "a"), used, "missing")


def test_a_disk_that_is_full_from_the_start_is_told(showcaller: Showcaller) -> None:
    ended = showcaller.with_little_space(8, "fanout", "echo {}", "a")
    assert_told(ended, showcaller.home / "relay.db", "free space")


@pytest.mark.slow
def test_a_locked_database_is_told(showcaller: Showcaller, used: Path) -> None:
    """It takes as long as one waits for a lock."""
    connection = sqlite3.connect(used, isolation_level=None)
    try:
        connection.execute("BEGIN EXCLUSIVE")
        assert_told(showcaller("fanout", "echo {}", "a"), used, "another process")
    finally:
        connection.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_data_folder_is_told(showcaller: Showcaller, used: Path) -> None:
    used.chmod(0o400)
    showcaller.home.chmod(0o500)
    try:
        assert_told(showcaller("fanout", "echo {}", "a"), showcaller.home, "permissions")
    finally:
        showcaller.home.chmod(0o700)


@pytest.mark.parametrize("home", ["/dev/null/data", "/proc/showcaller"])
def test_a_data_folder_that_cannot_be_made_is_told(showcaller: Showcaller, home: str) -> None:
    showcaller.home = Path(home)
    assert_told(showcaller("fanout", "echo {}", "a"), Path(home))


def test_a_disk_that_fills_up_in_the_middle_is_told_and_the_rest_can_be_done_later(
    showcaller: Showcaller,
) -> None:
    command = "head -c 20000 /dev/zero | tr '\\0' x; : {}"
    items = [str(number) for number in range(60)]
    cut = showcaller.with_little_space(900, "fanout", command, *items, "--name", "long", "--json")
    assert cut.code == 1
    assert "Traceback" not in cut.err
    assert str(database(showcaller.home)) in cut.err
    assert "--resume" in cut.err
    ended = showcaller("fanout", "--resume", "long", "--json")
    assert ended.code == 0, ended.err
    assert {item: result["status"] for item, result in ended.by_item.items()} == dict.fromkeys(items, "done")


def test_a_data_folder_whose_name_is_no_utf_8_works_and_is_told(showcaller: Showcaller) -> None:
    home = showcaller.home.parent / os.fsdecode(b"bad\xff")
    assert showcaller("--home", str(home), "fanout", "echo {}", "a").code == 0
    (home / "relay.db").write_bytes(b"this is no database, whatever its name says" * 100)
    for command in (("fanout", "echo {}", "a"), ("sessions",)):
        ended = showcaller("--home", str(home), *command)
        assert (ended.code, ended.out) == (1, "")
        assert "bad\\udcff/relay.db: it is not an SQLite database" in ended.err
