"""Every row runs, by us and by each peer that is installed, with a tiny size."""

import math
from pathlib import Path

import pytest

from bench import catalogue, measuring
from bench.peer import PEERS, Peer
from bench.row import PLAIN, US, Row

ROWS = catalogue.every_row()
LIMIT = 60.0


def measured(row: Row, by: str) -> float:
    """Measure once in a fresh process; skip what cannot be measured here."""
    reason = row.missing()
    if reason is not None:
        pytest.skip(reason)
    return measuring.in_fresh_process(row, by, row.tiny, LIMIT)


def jobs(peer: Peer) -> list[str]:
    """Name what a peer can be measured at, if it is here."""
    return list(peer.jobs()) if peer.installed else []


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_gives_a_figure_of_ours(row: Row) -> None:
    figure = measured(row, US)
    assert math.isfinite(figure)
    assert figure > 0


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if row.plain], ids=lambda row: row.name)
def test_every_cost_gives_a_figure_without_the_feature(row: Row) -> None:
    assert measured(row, PLAIN) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("peer", "row"), [(peer.name, row) for peer in PEERS for row in jobs(peer)])
def test_every_installed_peer_gives_its_figures(peer: str, row: str) -> None:
    figure = measured(catalogue.by_name(row), peer)
    assert math.isfinite(figure)


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_does_only_rows_that_exist(peer: Peer) -> None:
    known = {row.name for row in ROWS}
    assert set(jobs(peer)) <= known


def test_every_bar_is_over_a_peer_that_exists() -> None:
    known = {peer.name for peer in PEERS}
    assert all(set(row.bars) <= known for row in ROWS)
    assert all(bar > 0 for row in ROWS for bar in row.bars.values())


def test_a_job_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(measuring.MeasurementFailed, match="has no plain form"):
        measuring.in_fresh_process(catalogue.by_name("ring"), PLAIN, 1, LIMIT)


def test_a_job_without_end_is_ended_with_its_children() -> None:
    with pytest.raises(measuring.MeasurementFailed, match="no end within 0 s"):
        measuring.in_fresh_process(catalogue.by_name("beside-sleep"), US, 60_000, 0.2)


def test_an_unknown_row_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(KeyError, match=r"no row or group 'fast'; there are runtime, .*tell-one"):
        catalogue.chosen(("fast",))


def test_a_row_asked_for_twice_is_measured_once() -> None:
    assert [row.name for row in catalogue.chosen(("ring", "runtime", "ring"))][:2] == ["ring", "tell-one"]


def test_no_benchmark_uses_a_file_of_the_tests() -> None:
    files = list(Path(catalogue.__file__).parent.rglob("*.py"))
    assert len(files) > len(ROWS) / 2
    assert [file.name for file in files if '"tests"' in (text := file.read_text()) or "tests/" in text] == []
