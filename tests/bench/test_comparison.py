"""Medians, ratios and verdicts; runs in turns."""

import json
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from bench import plan, plot, record, table
from bench.measuring import MeasurementFailed
from bench.peer import PEERS
from bench.row import US
from tests.bench.rows_for_tests import RATE, rate, size

FACTS = {"system": "a machine <1>", "python": "CPython 3"}


def test_the_median_counts_and_the_spread_is_told() -> None:
    ours = rate().figures[0]
    assert ours.median == 2e6
    assert ours.spread == (1e6, 3e6)


def test_a_bar_over_a_peer_is_reached_or_missed_by_the_ratio_of_medians() -> None:
    comparison = rate()
    assert comparison.ratio("pykka") == pytest.approx(10)
    assert comparison.ratio("erlang") == pytest.approx(0.1)
    assert [comparison.reached(by) for by in ("pykka", "erlang", "xoscar", US)] == [True, False, None, None]


def test_an_absolute_bar_is_reached_by_our_own_figure() -> None:
    assert size().reached(US) is True
    assert size().ratio(US) is None


def test_every_run_begins_with_another_and_all_do_the_same_number() -> None:
    steps = [plan.Step(RATE, by, 1) for by in ("a", "b", "c")]
    order = [step.by for step in plan.interleaved(steps, 4)]
    assert "".join(order) == "abcbcacababc"


def test_who_fails_is_named_and_not_asked_again() -> None:
    asked = []

    def measure(step: plan.Step) -> float:
        asked.append(step.by)
        if step.by == "b":
            raise MeasurementFailed("b: it broke")
        return 2.0

    comparison = plan.compare([plan.Step(RATE, by, 1) for by in (US, "b")], 3, measure)
    assert asked.count("b") == 1
    assert comparison.failures == {"b": "b: it broke"}
    assert [(figure.by, figure.values) for figure in comparison.figures] == [(US, (2.0, 2.0, 2.0))]


def test_a_slower_peer_does_a_share_but_not_where_the_count_is_the_question() -> None:
    (pykka,) = [peer for peer in PEERS if peer.name == "pykka"]
    assert pykka.count(RATE, "normal") == 100
    assert pykka.count(RATE, "tiny") == RATE.tiny


def printed() -> str:
    """Print the table in a terminal of 80 columns without colours."""
    console = Console(width=80, no_color=True)
    with console.capture() as capture:
        console.print(table.table([rate(), size()], FACTS))
    return capture.get()


def test_the_table_shows_ratio_bar_and_verdict_within_80_columns() -> None:
    lines = printed().splitlines()
    assert max(len(line) for line in lines) <= 80
    (pykka,) = [line.split() for line in lines if line.startswith("  pykka")]
    assert pykka[:3] == ["pykka", "200", "k/s"]
    assert pykka[-6:] == ["10", "×", "≥", "8", "×", "reached"]
    (erlang,) = [line.split() for line in lines if line.startswith("  erlang")]
    assert erlang[-1] == "missed"
    assert "  xoscar failed: it <fell> over" in lines


def test_the_record_holds_every_value_and_can_be_read_back() -> None:
    read = json.loads(json.dumps(record.record([rate(), size()], FACTS)))
    assert read["measured_on"] == FACTS
    (tell, idle) = read["rows"]
    assert tell["figures"][0]["values"] == [1e6, 3e6, 2e6]
    assert (tell["figures"][1]["bar"], tell["figures"][1]["reached"]) == (8, True)
    assert tell["failures"] == {"xoscar": "xoscar: it <fell> over"}
    assert (idle["limit"], idle["figures"][0]["reached"]) == (500, True)


def drawn() -> ET.Element:
    """Draw the picture and read it as XML."""
    return ET.fromstring(plot.draw([rate(), size()], FACTS))


def test_the_picture_is_valid_and_names_rows_peers_and_values() -> None:
    words = {element.text for element in drawn().iter() if element.text}
    assert {"tell, 1 → 1", "2.00 M/s", "an idle actor", "pykka", "erlang", "200 k/s"} <= words
    assert "20.0 M/s, bar missed" in words
    assert "bar 500 B, reached" in words
    assert any("a machine <1>" in word for word in words)


def test_the_picture_shows_slower_peers_left_of_us_and_faster_ones_right() -> None:
    axis = plot.Axis.over([0.1, 10])
    boxes = [box for box in drawn().iter("{http://www.w3.org/2000/svg}rect") if len(box)]
    starts = [float(box.get("x", "nan")) for box in boxes]
    assert starts[0] == pytest.approx(axis.x(0.1), abs=0.1)
    assert starts[1] == pytest.approx(axis.x(1), abs=0.1)


def test_the_axis_spans_whole_decades_around_one() -> None:
    assert plot.Axis.over([]) == plot.Axis(-1, 1)
    assert plot.Axis.over([0.004, 3]) == plot.Axis(-3, 1)
    assert plot.Axis(-1, 1).x(0.001) == plot.Axis(-1, 1).x(0.1)
