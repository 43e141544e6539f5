"""``showcaller fanout`` on real files, commands, functions and items."""

import csv
import io
import json
import re
import stat

import pytest

from tests.e2e.conftest import REPOSITORY
from tests.e2e.program import Showcaller, database, group_of

HOSTILE = [
    "two words",
    "it's",
    'say "hi"',
    "$(touch pwned)",
    "`touch pwned`",
    "$HOME",
    "a;touch pwned",
    "a\nb",
    "-n",
    "--",
    "*",
    "~",
    "#x",
    "\\",
    "naïve 漢字 👍",
    "tab\there",
    "\x1b[31m",
    "\u202eevil",
    " ",
    "",
    "!!",
    "{}",
]


def python_files() -> list[str]:
    files = sorted(
        path for room in ("actors", "store", "transport") for path in (REPOSITORY / room).rglob("*.py")
    )
    return [str(path.relative_to(REPOSITORY)) for path in files]


def test_every_python_file_of_this_repository_gets_exactly_one_result(showcaller: Showcaller) -> None:
    files = python_files()
    showcaller.folder = REPOSITORY
    ended = showcaller("fanout", "wc -l {}", *files, "--json", "--jobs", "8")
    assert ended.code == 0, ended.err
    assert sorted(ended.by_item) == files
    for name, result in ended.by_item.items():
        lines = (REPOSITORY / name).read_bytes().count(b"\n")
        assert result["reply"].split() == [str(lines), name]
        assert (result["status"], result["exitCode"], result["attempts"]) == ("done", 0, 1)
        assert result["session"].startswith("ses_")
    assert len({result["session"] for result in ended.results}) == len(files)
    assert ended.summary["done"] == len(files)


def test_hostile_items_run_as_themselves(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", "printf %s {}", "--json", "--", *HOSTILE)
    assert {item: result["reply"] for item, result in ended.by_item.items()} == {
        item: item for item in HOSTILE
    }
    assert ended.code == 0
    assert list(showcaller.folder.iterdir()) == []
    assert "\x1b" not in ended.out + ended.err
    assert "begins with a dash" in ended.err


def test_hostile_items_stay_harmless_in_the_table(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", "printf %s {}", "--", *HOSTILE)
    assert not set("\x1b\u202e") & set(ended.out + ended.err)
    assert len(ended.out.splitlines()) == 1 + len(HOSTILE)


def test_an_item_that_is_no_utf8_is_refused_and_nothing_is_stored(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", "wc -l {}", "good", "bad\udcff")
    assert (ended.code, ended.out) == (2, "")
    assert "Item 2" in ended.err
    assert not showcaller.home.exists()


def test_an_item_with_nul_is_refused_with_its_line(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", "wc -l {}", "--input", "-", stdin='"good"\n"bad\\u0000"\n')
    assert (ended.code, ended.out) == (2, "")
    assert "Line 2" in ended.err
    assert "NUL" in ended.err


def test_commands_run_in_the_folder_where_fanout_was_called(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", "pwd; : {}", "a", "--json")
    assert ended.results[0]["reply"] == f"{showcaller.folder}\n"


def test_a_command_gets_its_number_and_the_bare_item_where_it_asks(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", "echo {n} {raw}", "a b", "c", "--json", "--jobs", "1")
    assert [result["reply"] for result in ended.results] == ["1 a b\n", "2 c\n"]


def test_one_failure_makes_the_exit_code_1_and_leaves_the_others_alone(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", "exit {}", "0", "3", "0", "--json")
    assert ended.code == 1
    assert sorted((result["status"], result["exitCode"]) for result in ended.results) == [
        ("done", 0),
        ("done", 0),
        ("failed", 3),
    ]
    assert (ended.summary["done"], ended.summary["failed"]) == (2, 1)


def test_a_failed_item_is_tried_again_as_often_as_asked(showcaller: Showcaller) -> None:
    command = "echo x >> {}; [ $(wc -l < {}) -ge 3 ]"
    ended = showcaller("fanout", command, "enough", "--retries", "2", "--json")
    assert (ended.code, ended.results[0]["status"], ended.results[0]["attempts"]) == (0, "done", 3)
    ended = showcaller("fanout", command, "short", "--retries", "1", "--json")
    assert (ended.code, ended.results[0]["status"], ended.results[0]["attempts"]) == (1, "failed", 2)
    assert (showcaller.folder / "short").read_text() == "x\nx\n"


def test_an_attempt_ends_at_its_timeout(showcaller: Showcaller) -> None:
    ended = showcaller(
        "fanout", "[ {} = quick ] || sleep 100", "quick", "slow", "--timeout", "500ms", "--json"
    )
    assert ended.code == 1
    assert {item: result["status"] for item, result in ended.by_item.items()} == {
        "quick": "done",
        "slow": "failed",
    }
    assert 0.4 < ended.by_item["slow"]["seconds"] < 20
    assert "failed: slow: ran longer than its time limit" in ended.err


def test_items_of_json_lines_go_through_a_command_as_their_compact_text(showcaller: Showcaller) -> None:
    lines = '"a b"\n\n{"x": [1, "ß"]}\n7\n'
    ended = showcaller("fanout", "printf %s {}", "--input", "-", "--json", "--jobs", "1", stdin=lines)
    assert [result["item"] for result in ended.results] == ["a b", {"x": [1, "ß"]}, 7]
    assert [result["reply"] for result in ended.results] == ["a b", '{"x":[1,"ß"]}', "7"]


def test_a_python_function_gets_the_items_as_values(showcaller: Showcaller) -> None:
    (showcaller.folder / "work.py").write_text(
        "def double(item):\n"
        "    if item == 0:\n"
        "        raise ValueError('nothing to double')\n"
        "    return item * 2\n"
    )
    ended = showcaller(
        "fanout", "--callable", "work:double", "--input", "-", "--json", stdin='21\n"ab"\n0\n[1]\n'
    )
    assert ended.code == 1
    replies = {json.dumps(result["item"]): (result["status"], result["reply"]) for result in ended.results}
    assert replies["21"] == ("done", "42")
    assert replies['"ab"'] == ("done", "abab")
    assert json.loads(replies["[1]"][1]) == [1, 1]
    assert replies["0"][0] == "failed"
    assert all(result["exitCode"] is None for result in ended.results)
    assert "failed: 0: ValueError: nothing to double" in ended.err
    again = showcaller("fanout", "--resume", group_of(ended.err))
    assert "ValueError: nothing to double" in again.out


def test_a_function_that_cannot_be_loaded_says_why(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", "--callable", "no_such_module:work", "a", "--json")
    assert (ended.code, ended.results[0]["status"]) == (1, "failed")
    assert "No module named 'no_such_module'" in ended.err


def test_csv_holds_the_same_results(showcaller: Showcaller) -> None:
    ended = showcaller("fanout", "echo {}; echo more", 'a,"b"', "c", "--format", "csv", "--jobs", "1")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert [(row["item"], row["status"], row["exitCode"], row["reply"], row["attempts"]) for row in rows] == [
        ('a,"b"', "done", "0", 'a,"b"\nmore\n', "1"),
        ("c", "done", "0", "c\nmore\n", "1"),
    ]


def test_at_most_so_many_run_at_a_time(showcaller: Showcaller) -> None:
    command = "mkdir -p on; touch on/{}; ls on | wc -l; rm on/{}"
    ended = showcaller("fanout", command, *map(str, range(30)), "--jobs", "3", "--json")
    assert ended.code == 0
    assert {int(result["reply"]) for result in ended.results} <= {1, 2, 3}


def test_what_ran_can_be_listed_and_shown(showcaller: Showcaller) -> None:
    ran = showcaller("fanout", "echo hello {}", "world", "--name", "greetings", "--json")
    session = ran.results[0]["session"]
    listed = json.loads(showcaller("sessions", "--json").out)["sessions"]
    assert [(entry["id"], entry["group"]["name"]) for entry in listed] == [(session, "greetings")]
    assert session in showcaller("sessions").out
    shown = showcaller("show", session[4:12])
    assert shown.code == 0
    assert "hello world" in shown.out.splitlines()
    assert showcaller("show", "zzzzzzzz").code == 3


def test_a_failed_session_is_shown_with_its_reason(showcaller: Showcaller) -> None:
    session = showcaller("fanout", "exit {}", "3", "--json").results[0]["session"]
    shown = showcaller("show", session).out
    assert "state: idle · failed" in shown
    assert re.search(r"^→ failed(?: \(after [\d.]+ s\))?: exited with code 3\n\Z", shown, re.MULTILINE), shown


def test_every_attempt_is_shown_with_its_end(showcaller: Showcaller) -> None:
    ran = showcaller("fanout", "echo {}; exit 3", "a", "--retries", "1", "--json")
    assert ran.results[0]["error"] == "exited with code 3"
    session = ran.results[0]["session"]
    ends = re.findall(
        r"^→ failed \(after [\d.]+ s\): exited with code 3$", showcaller("show", session).out, re.MULTILINE
    )
    assert len(ends) == 2
    prompts = [
        message
        for message in json.loads(showcaller("show", session, "--json").out)["messages"]
        if message["role"] == "user"
    ]
    assert [prompt["errorText"] for prompt in prompts] == ["exited with code 3"] * 2


def test_rows_stand_in_the_order_of_the_items_also_in_a_resume(showcaller: Showcaller) -> None:
    words = ("fanout", "sleep 0.{}; echo {}", "4", "1", "2", "1", "--jobs", "4")
    ran = showcaller(*words)
    for ended in (ran, showcaller("fanout", "--resume", group_of(ran.err))):
        assert [line.split()[0] for line in ended.out.splitlines()] == ["ITEM", "4", "1", "2", "1"]


def test_what_a_function_prints_is_no_result(showcaller: Showcaller) -> None:
    (showcaller.folder / "jobs.py").write_text(
        "import os\n"
        "print('imported')\n"
        "def work(item):\n"
        "    print('printed', item)\n"
        "    os.system('echo by a process')\n"
        "    return item\n"
    )
    ended = showcaller("fanout", "--callable", "jobs:work", "a", "b", "--jobs", "1", "--json")
    assert sorted(result["reply"] for result in ended.results) == ["a", "b"]
    for words in ("imported", "printed a", "printed b", "by a process"):
        assert words in ended.err


def test_the_data_folder_is_for_its_owner_alone(showcaller: Showcaller) -> None:
    showcaller("fanout", "echo {}", "a")
    assert stat.S_IMODE(showcaller.home.stat().st_mode) == 0o700
    assert stat.S_IMODE(database(showcaller.home).stat().st_mode) == 0o600


def test_looking_at_nothing_makes_no_data_folder(showcaller: Showcaller) -> None:
    assert json.loads(showcaller("sessions", "--json").out) == {"sessions": []}
    assert showcaller("fanout", "--resume", "nothing").code == 3
    assert not showcaller.home.exists()


@pytest.mark.slow
def test_a_thousand_items_end_with_a_thousand_results(showcaller: Showcaller) -> None:
    items = "".join(f'"{number}"\n' for number in range(1_000))
    ended = showcaller("fanout", "echo {}", "--input", "-", "--json", "--jobs", "16", stdin=items)
    assert ended.code == 0, ended.err
    assert len(ended.by_item) == 1_000
