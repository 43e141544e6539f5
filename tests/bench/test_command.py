"""The command as people type it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench import peer
from bench.__main__ import main
from bench.measuring import ROOT


def run(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, words)


def test_list_names_rows_groups_bars_and_peers() -> None:
    result = run("list")
    assert result.exit_code == 0
    assert "tell-one         tell, 1 sender → 1 actor 8 × pykka; 1.5 × asyncio; 0.2 × erlang" in result.output
    assert "smoke            tell-one, line" in result.output
    assert "pykka            installed" in result.output


def test_without_a_name_the_list_is_shown() -> None:
    assert run().output == run("list").output


def test_an_unknown_name_or_peer_is_refused_with_those_there_are() -> None:
    row, by = run("fast"), run("ring", "--peers", "akka")
    assert row.exit_code == by.exit_code == 2
    assert "no row or group 'fast'" in row.stderr
    assert "no peer 'akka'; there are pykka, asyncio" in by.stderr


def test_a_peer_that_is_not_installed_is_named_and_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = peer.Peer("akka", "bench.peers.akka", "no_such_module", "get it yourself", 1)
    monkeypatch.setattr(peer, "PEERS", (*peer.PEERS, absent))
    result = run("ring", "--size", "tiny", "--runs", "1", "--peers", "akka")
    assert result.exit_code == 0, result.output
    assert "akka is left out: it is not installed (get it yourself)" in result.stderr
    assert "akka" not in result.stdout


@pytest.mark.slow
def test_one_command_prints_a_table_and_writes_data_and_a_picture(tmp_path: Path) -> None:
    files = ["--json", str(tmp_path / "bench.json"), "--plot", str(tmp_path / "bench.svg")]
    words = ["ring", "idle-actor", "--size", "tiny", "--runs", "2", "--peers", "pykka,asyncio", *files]
    done = subprocess.run(
        [sys.executable, "-m", "bench", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "ring of 1,000, hops" in done.stdout
    assert "lowest – highest" in done.stdout
    rows = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))["rows"]
    assert [[figure["by"] for figure in row["figures"]] for row in rows] == [
        ["showcaller", "pykka", "asyncio"]
    ] * 2
    assert all(len(figure["values"]) == 2 for row in rows for figure in row["figures"])
    assert (tmp_path / "bench.svg").read_text(encoding="utf-8").startswith("<svg ")


def test_a_tiny_run_shows_no_verdicts() -> None:
    result = run("tell-one", "--size", "tiny", "--runs", "1", "--peers", "none")
    assert "how fast it is they do not say" in result.stderr
    assert "reached" not in result.stdout
    assert "missed" not in result.stdout
