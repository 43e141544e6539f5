"""Where results go."""

import csv
import io
import json

import pytest

from showcaller.actors.contract.fanout import ItemResult
from showcaller.transport.doors.cli.fanout.results import CommaSeparated, JsonLines, ResultTable, reply_cell
from showcaller.transport.doors.cli.fanout.tally import Tally
from tests.transport.doors.cli.fake import done, failed


@pytest.mark.parametrize(
    ("reply", "cell"),
    [
        ("12 a.py\n", "12 a.py"),
        ("  12 a.py\r\n", "12 a.py"),
        ("", ""),
        ("\n", ""),
        ("one\ntwo\n", "one (+1 line)"),
        ("one\n\ntwo\n\n", "one (+2 lines)"),
        ("\x1b[31mred\n", "\\x1b[31mred"),
    ],
)
def test_a_reply_of_one_line_is_shown_whole_and_a_longer_one_counts_its_lines(reply: str, cell: str) -> None:
    assert reply_cell(reply) == cell


def test_a_table_lists_results_in_the_order_of_the_items(capsys: pytest.CaptureFixture[str]) -> None:
    table = ResultTable()
    tally = Tally(4)
    for number, item in ((4, "c"), (1, "a"), (2, "b"), (3, "a")):
        result = (failed if item == "b" else done)(item, number)
        tally.count(result)
        table.add(result)
    table.end(tally.summary(1.0))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ITEM", "a", "b", "a", "c"]
    assert lines[2].split() == ["b", "failed", "3", "0.25", "1", "no", "such", "file"]


def test_what_never_started_is_one_line_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    table = ResultTable()
    tally = Tally(69)
    for result in (done("a", 1), *(ItemResult(item="b", number=n, status="skipped") for n in range(2, 70))):
        tally.count(result)
        table.add(result)
    table.end(tally.summary(1.0))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ITEM", "a", "68"]
    assert lines[2] == "68 not started"


@pytest.mark.parametrize(
    "item", ["x" * 90_000 + "/end.py", "deep/" * 100 + "end.py", "\x1b" * 5_000 + "end.py"]
)
def test_a_long_item_is_cut_in_its_middle_in_the_table(item: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = ResultTable()
    for number, each in enumerate(("a", item), start=1):
        table.add(done(each, number).model_copy(update={"reply": "ok"}))
    table.end(Tally(2).summary(1.0))
    title, short, long = capsys.readouterr().out.splitlines()
    assert max(map(len, (title, short, long))) < 200
    assert "…" in long
    assert "end.py  done" in long


def test_a_long_item_is_whole_in_what_programs_read(capsys: pytest.CaptureFixture[str]) -> None:
    item = "x" * 90_000
    JsonLines().add(done(item, 1))
    assert json.loads(capsys.readouterr().out)["item"] == item
    CommaSeparated().add(done(item, 1))
    assert item in capsys.readouterr().out


def test_a_table_that_is_cut_off_shows_the_results_that_came(capsys: pytest.CaptureFixture[str]) -> None:
    table = ResultTable()
    table.cut_off()
    assert capsys.readouterr().out == ""
    table.add(done("a", 1))
    table.cut_off()
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["ITEM", "a"]


def test_csv_says_why_an_item_did_not_end_well(capsys: pytest.CaptureFixture[str]) -> None:
    sink = CommaSeparated()
    sink.add(done("a", 1).model_copy(update={"error": "no failure"}))
    sink.add(failed("b", 2).model_copy(update={"error": "exited with code 3"}))
    assert [row["error"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))] == [
        "",
        "exited with code 3",
    ]


def test_csv_holds_every_field_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    sink = CommaSeparated()
    hostile = done('a,"b"\n=1+1', 1).model_copy(update={"reply": "one\ntwo\rthree"})
    sink.add(hostile)
    sink.add(ItemResult(item={"x": [1, "ß"]}, status="skipped"))
    sink.end(Tally(2).summary(1.0))
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows[0]["item"] == hostile.item
    assert rows[0]["reply"] == hostile.reply
    assert rows[0]["exitCode"] == "0"
    assert json.loads(rows[1]["item"]) == {"x": [1, "ß"]}
    assert (rows[1]["session"], rows[1]["exitCode"], rows[1]["attempts"]) == ("", "", "0")


def test_csv_without_results_is_its_titles(capsys: pytest.CaptureFixture[str]) -> None:
    CommaSeparated().end(Tally(0).summary(0.0))
    assert capsys.readouterr().out == "item,session,status,exitCode,reply,seconds,attempts,error\n"


def test_a_hundred_thousand_rows_cost_one_pass(capsys: pytest.CaptureFixture[str]) -> None:
    items = [f"directory/file-{number}.py" for number in range(100_000)]
    table = ResultTable()
    for number, item in enumerate(items):
        table.add(done(item, number))
    table.end(Tally(0).summary(0.0))
    assert capsys.readouterr().out.count("\n") == 100_001


def test_the_sums_say_only_what_occurred() -> None:
    tally = Tally(5)
    for result in (done("a", 1), failed("b", 2), ItemResult(item="c", status="skipped")):
        tally.count(result)
    assert tally.sentence() == "1 done, 1 failed, 1 not started"
    assert tally.trouble() == "1 failed, 1 not started"
    assert (tally.unfinished, tally.all_done) == (3, False)
    assert tally.summary(1.23456).model_dump() == {
        "done": 1,
        "failed": 1,
        "stopped": 0,
        "interrupted": 0,
        "skipped": 1,
        "seconds": 1.235,
    }
