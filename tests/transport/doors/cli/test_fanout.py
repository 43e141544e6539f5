"""``showcaller fanout`` against a fake relay."""

import io
import json
from pathlib import Path

import pytest

from showcaller.actors.contract.errors import Code, Refusal, ambiguous
from showcaller.actors.contract.fanout import FanoutSpec
from showcaller.actors.contract.fanout.template import render
from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import GROUP, RESUME, FakeRelay, FakeRun, done, failed


def test_every_item_has_a_row_and_its_one_line_reply_can_be_read(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    ended = showcaller("fanout", "wc -l {}", "a.py", "b.py", "--jobs", "3")
    assert ended.code == 0
    assert [line.split() for line in ended.out.splitlines()] == [
        ["ITEM", "STATUS", "EXIT", "SECONDS", "TRIES", "REPLY"],
        ["a.py", "done", "0", "0.25", "1", "1", "a.py"],
        ["b.py", "done", "0", "0.25", "1", "2", "b.py"],
    ]
    assert relay.run is not None
    assert (relay.run.items, relay.run.spec.jobs) == (["a.py", "b.py"], 3)


def test_the_groups_name_and_how_to_go_on_are_told_before_the_first_item(showcaller: ShowCaller) -> None:
    first = showcaller("fanout", "wc -l {}", "a.py").err.splitlines()[0]
    assert first.startswith(f"amber-otter ({GROUP}): 1 item, ")
    assert first.endswith(RESUME)


def test_a_named_data_folder_stands_in_the_line_that_goes_on(showcaller: ShowCaller, home: Path) -> None:
    err = showcaller("--home", str(home), "fanout", "wc -l {}", "a.py").err
    assert f"showcaller --home {home} fanout --resume {GROUP}" in err


def test_json_lines_end_with_the_summary_and_are_all_there_is(showcaller: ShowCaller) -> None:
    ended = showcaller("fanout", "wc -l {}", "a", "b\x1b", "--json")
    first, second, summary = (json.loads(line) for line in ended.out.splitlines())
    assert first == {
        "item": "a",
        "session": "ses_000000000001",
        "status": "done",
        "exitCode": 0,
        "reply": "1 a\n",
        "seconds": 0.25,
        "attempts": 1,
    }
    assert second["item"] == "b\x1b"
    assert "\x1b" not in ended.out
    assert list(summary["summary"]) == ["done", "failed", "stopped", "interrupted", "skipped", "seconds"]
    assert summary["summary"]["done"] == 2


def test_one_failure_makes_the_exit_code_1_and_is_told(showcaller: ShowCaller, relay: FakeRelay) -> None:
    relay.outcome = lambda item, number: (failed if item == "b" else done)(item, number)
    ended = showcaller("fanout", "wc -l {}", "a", "b", "c")
    assert ended.code == 1
    assert "failed: b: exit 3: no such file" in ended.err
    assert "2 done, 1 failed" in ended.err
    assert "To go on" not in ended.err


def test_the_reason_of_a_failure_is_told_and_stands_in_the_table_when_there_is_no_reply(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    why = {"reply": "", "exit_code": None, "error": "ValueError: bad \x1b\n  in work.py"}
    relay.outcome = lambda item, number: failed(item, number).model_copy(update=why)
    ended = showcaller("fanout", "wc -l {}", "a")
    assert "failed: a: ValueError: bad \\x1b\n" in ended.err
    assert ended.out.splitlines()[1].endswith("ValueError: bad \\x1b (+1 line)")
    first = showcaller("fanout", "wc -l {}", "a", "--json").out.splitlines()[0]
    assert json.loads(first)["error"] == why["error"]


def test_many_failures_do_not_flood_standard_error(showcaller: ShowCaller, relay: FakeRelay) -> None:
    relay.outcome = failed
    ended = showcaller("fanout", "wc -l {}", *map(str, range(100)))
    assert ended.err.count(": exit 3") == 20
    assert "More items failed" in ended.err
    assert ended.out.count("failed") == 100


def test_quiet_leaves_standard_error_empty(showcaller: ShowCaller, relay: FakeRelay) -> None:
    relay.outcome = failed
    assert showcaller("fanout", "wc -l {}", "-q", "--", "-a").err == ""


def test_an_item_that_begins_with_a_dash_gets_a_note(showcaller: ShowCaller) -> None:
    ended = showcaller("fanout", "wc -l {}", "--", *(f"-{number}" for number in range(9)))
    assert ended.code == 0
    assert ended.err.count("begins with a dash") == 3
    assert "6 more items begin with a dash" in ended.err


def test_a_command_line_among_the_items_of_a_function_gets_a_note(showcaller: ShowCaller) -> None:
    ended = showcaller("fanout", "--callable", "jobs:work", "wc {}", "a")
    assert ended.code == 0
    assert '"wc {}" looks like a command line, but is an item' in ended.err
    assert "looks like" not in showcaller("fanout", "--callable", "jobs:work", "a").err
    assert showcaller("fanout", "-q", "--callable", "jobs:work", "wc {}").err == ""


def test_an_item_that_looks_like_an_option_says_how_to_write_it(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    ended = showcaller("fanout", "wc -l {}", "a", "-x")
    assert ended.code == 2
    assert "write -- before the items" in ended.err
    assert relay.opened == []


@pytest.mark.parametrize("item", ["\udcff", "a\udc80b"])
def test_an_item_that_is_no_utf8_is_refused_before_anything_starts(
    showcaller: ShowCaller, relay: FakeRelay, item: str
) -> None:
    ended = showcaller("fanout", "wc -l {}", "good", item)
    assert (ended.code, ended.out) == (2, "")
    assert "Item 2" in ended.err
    assert "Nothing was started." in ended.err
    assert relay.opened == []


def test_items_are_read_from_json_lines(showcaller: ShowCaller, relay: FakeRelay, tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('"a b"\n\n{"x": 1}\n7\n')
    assert showcaller("fanout", "echo {}", "--input", str(tmp_path / "items.jsonl")).code == 0
    assert relay.run is not None
    assert relay.run.items == ["a b", {"x": 1}, 7]


@pytest.mark.parametrize("size", [10_000_000, 6 * 2**20 + 1])
def test_a_line_that_is_too_long_is_refused_by_number_without_a_wrong_size(
    showcaller: ShowCaller, relay: FakeRelay, tmp_path: Path, size: int
) -> None:
    (tmp_path / "items.jsonl").write_text(f'"a"\n"{"x" * size}"\n')
    ended = showcaller("fanout", "echo {}", "--input", str(tmp_path / "items.jsonl"))
    assert (ended.code, relay.run) == (2, None)
    assert "Line 2 has more than 6291458 bytes; an item has 1048576 at most." in ended.err


def test_a_line_without_an_end_is_refused(showcaller: ShowCaller) -> None:
    ended = showcaller("fanout", "echo {}", "--input", "/dev/zero")
    assert ended.code == 2
    assert "Line 1 has more than" in ended.err


def test_the_longest_line_is_read_whole(showcaller: ShowCaller, relay: FakeRelay, tmp_path: Path) -> None:
    longest = "\\u0061" * 2**20
    (tmp_path / "items.jsonl").write_bytes(f'"{longest}"\r\n"b"'.encode())
    assert showcaller("fanout", "--callable", "m:f", "--input", str(tmp_path / "items.jsonl")).code == 0
    assert relay.run is not None
    assert [len(item) for item in relay.run.items] == [2**20, 1]


def test_items_are_read_from_standard_input(
    showcaller: ShowCaller, relay: FakeRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'"a"\n"b"')))
    assert showcaller("fanout", "--callable", "m:f", "--input", "-").code == 0
    assert relay.run is not None
    assert (relay.run.items, relay.run.spec.kind, relay.run.spec.template) == (["a", "b"], "callable", "m:f")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'"a"\nplain text\n', "Line 2"),
        (b'"a\\u0000"\n', "NUL"),
        (b"\xff\xfe\n", "Line 1"),
        (b'"a', "Line 1"),
    ],
)
def test_a_line_that_is_no_item_is_named_and_nothing_starts(
    showcaller: ShowCaller, relay: FakeRelay, tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "items.jsonl").write_bytes(content)
    ended = showcaller("fanout", "echo {}", "--input", str(tmp_path / "items.jsonl"))
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert relay.opened == []


def test_an_item_file_that_is_not_there_is_named(showcaller: ShowCaller) -> None:
    ended = showcaller("fanout", "echo {}", "--input", "/no/such/file")
    assert ended.code == 2
    assert "'/no/such/file': No such file or directory" in ended.err


def test_an_empty_item_file_is_a_good_end_of_nothing(
    showcaller: ShowCaller, relay: FakeRelay, tmp_path: Path
) -> None:
    (tmp_path / "items.jsonl").touch()
    ended = showcaller("fanout", "echo {}", "--json", "--input", str(tmp_path / "items.jsonl"))
    assert ended.code == 0
    assert json.loads(ended.out)["summary"]["done"] == 0
    assert relay.opened == []


def test_json_and_another_format_contradict_each_other(showcaller: ShowCaller) -> None:
    assert showcaller("fanout", "echo {}", "a", "--json", "--format", "csv").code == 2


def test_an_agent_is_prompted_for_each_item_which_is_not_quoted(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    specs: list[FanoutSpec] = []
    relay.prepare = lambda run: specs.append(run.spec)
    ended = showcaller("fanout", "--prompt", "Mend {}", "--provider", "claude", "a b")
    assert ended.code == 0, ended.err
    (spec,) = specs
    assert (spec.kind, spec.provider, spec.template) == ("prompt", "claude", "Mend {}")
    assert render(spec.parsed(), "a b", 1) == "Mend a b"


def test_what_the_relay_refuses_is_told_and_ends_with_1(showcaller: ShowCaller, relay: FakeRelay) -> None:
    def refuse(run: FakeRun) -> None:
        raise Refusal(Code.STORAGE, "The disk is full.")

    relay.prepare = refuse
    ended = showcaller("fanout", "echo {}", "a")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "Error: The disk is full.\nNothing was started.\n"
    assert relay.closed == 1


@pytest.mark.parametrize("form", ["table", "csv", "jsonl"])
def test_a_storage_that_fails_in_the_middle_keeps_the_results_and_says_how_to_go_on(
    showcaller: ShowCaller, relay: FakeRelay, form: str
) -> None:
    def fail(number: int) -> None:
        if number == 2:
            raise Refusal(Code.STORAGE, "The disk is full.")

    relay.prepare = lambda run: setattr(run, "before", fail)
    ended = showcaller("fanout", "echo {}", "a", "b", "--format", form)
    assert ended.code == 1
    assert ended.out.count("1 a") == 1
    *_, last = lines = ended.out.splitlines()
    assert len(lines) == {"table": 2, "csv": 3, "jsonl": 2}[form]
    if form == "jsonl":
        failure = {
            "code": "REMOTE_RELAY_STORAGE",
            "error": "The disk is full.",
            "wayOut": f"To go on: {RESUME}",
        }
        assert json.loads(last) == {"ok": False, **failure}
    assert f"Error: The disk is full.\nTo go on: {RESUME}\n" in ended.err


def test_resume_goes_on_and_prints_every_item(showcaller: ShowCaller, relay: FakeRelay) -> None:
    showcaller("fanout", "echo {}", "a", "b")
    assert relay.run is not None
    relay.known = (relay.run.spec, relay.run.items)
    ended = showcaller("fanout", "--resume", "amber-otter", "--no-rerun", "--jobs", "2", "--json")
    assert ended.code == 0
    assert relay.resumed == {"group": "amber-otter", "rerun": False, "jobs": 2}
    assert [json.loads(line).get("item") for line in ended.out.splitlines()] == ["a", "b", None]


def test_resume_of_an_unknown_group_ends_with_3(showcaller: ShowCaller) -> None:
    ended = showcaller("fanout", "--resume", "nothing")
    assert (ended.code, ended.out) == (3, "")
    assert "'nothing'" in ended.err


def test_a_name_of_several_fan_outs_lists_them_with_time_and_size(
    showcaller: ShowCaller, relay: FakeRelay
) -> None:
    groups = [{"id": f"grp_{letter * 12}", "name": "counts"} for letter in "abc"]
    relay.resume_error = ambiguous(Code.UNKNOWN_GROUP, "'counts' can mean several.", groups=groups)
    relay.fanouts = [
        {"group": "grp_x", "name": "x", "createdAt": "2026-11-29T17:00:00.000Z", "items": 1, "ended": 1},
        *(
            {**group, "group": group["id"], "createdAt": "soon", "items": 1_200, "ended": 7}
            for group in groups[:2]
        ),
    ]
    ended = showcaller("fanout", "--resume", "counts")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines()[1:] == [
        "  grp_aaaaaaaaaaaa  counts  soon  7 of 1,200 items ended",
        "  grp_bbbbbbbbbbbb  counts  soon  7 of 1,200 items ended",
        "  grp_cccccccccccc  counts",
        "Nothing was started.",
    ]


def test_resume_without_a_data_folder_ends_with_3(
    showcaller: ShowCaller, relay: FakeRelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOWCALLER_HOME", str(tmp_path / "none"))
    assert showcaller("fanout", "--resume", "nothing").code == 3
    assert relay.opened == []
