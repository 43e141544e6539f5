"""``showcaller fanouts``."""

import json
from pathlib import Path

import pytest

from showcaller.transport.doors.cli.times import age
from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import FakeRelay

FANOUT = {
    "group": "grp_0d1v9x3k7q2m",
    "name": "counts\x1b",
    "createdAt": "2026-11-29T17:00:00.000Z",
    "items": 1_200,
    "ended": 7,
    "notDone": 2,
    "state": "unfinished",
}


def test_fan_outs_stand_in_a_table_with_how_far_each_is(showcaller: ShowCaller, relay: FakeRelay) -> None:
    relay.fanouts = [FANOUT]
    ended = showcaller("fanouts")
    assert (ended.code, "\x1b" in ended.out) == (0, False)
    (line,) = ended.out.splitlines()[1:]
    assert line.split()[:6] == ["grp_0d1v9x3k7q2m", "counts\\x1b", "unfinished", "1,200", "7", "2"]
    assert json.loads(showcaller("fanouts", "--json").out) == {"fanouts": [FANOUT]}
    assert [read_only for _, read_only in relay.opened] == [True, True]


def test_where_there_is_none_it_is_said_how_to_begin_one(
    showcaller: ShowCaller, relay: FakeRelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "showcaller fanout" in showcaller("fanouts").err
    monkeypatch.setenv("SHOWCALLER_HOME", str(tmp_path / "none"))
    assert json.loads(showcaller("fanouts", "--json").out) == {"fanouts": []}
    assert len(relay.opened) == 1, "nothing is opened where nothing was ever stored"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(-5, "< 1 min"), (59, "< 1 min"), (60, "1 min"), (7_200, "2 h"), (86_400 * 1_500, "1,500 d")],
)
def test_an_age_is_told_in_the_largest_whole_unit(seconds: int, told: str) -> None:
    assert age("1970-01-01T00:16:40.000Z", (1_000 + seconds) * 1_000) == told
    assert age("soon", 0) == ""


def test_it_is_told_how_those_ended_that_are_not_done_and_one_is_found_by_how_its_id_begins(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    cut = FANOUT | {"endedAs": {"done": 5, "failed": 1, "interrupted": 1}}
    relay.fanouts = [cut, FANOUT | {"group": "grp_zzzzzzzzzzzz", "name": "other"}]
    (line, _) = showcaller("fanouts").out.splitlines()[1:]
    assert "2 (1 failed, 1 interrupted)" in line
    for name in ("0d1v9x", "grp_0d1v9x3k", FANOUT["group"], FANOUT["name"]):
        found = json.loads(showcaller("fanouts", str(name), "--json").out)["fanouts"]
        assert found == [cut], name
    missing = showcaller("fanouts", "0d1v9")
    assert (missing.code, "first six characters" in missing.err) == (3, True), missing
