"""The writer process dies at every possible place, and nothing is lost or done twice."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue

import pytest

from showcaller.store.batch import Answer
from showcaller.store.errors import WriterGone
from showcaller.store.writer import RESTARTS, ProcessWriter
from tests.store.desk import PATIENCE, Desk, ending, message_of, session_of

ROOT = Path(__file__).parents[2]
START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from tests.store.dying import main; sys.exit(main())"
)
KILLED = f"ended with -{int(signal.SIGKILL)}"


def dying(path: Path, place: str, deaths: int = 1) -> list[str]:
    """Give the command for a writer process that dies at a place so many times."""
    notes = str(path.parent.parent / f"deaths-{place}")
    return [sys.executable, "-P", "-c", START, str(ROOT), notes, str(deaths), place]


def deaths(path: Path, place: str) -> int:
    """Count how often a writer process died there."""
    notes = path.parent.parent / f"deaths-{place}"
    return len(notes.read_text()) if notes.exists() else 0


def one_turn_and_a_conflict(desk: Desk, name: str) -> list[Answer]:
    """Have a batch run that writes to every table of a turn."""
    return desk.run(
        ("create_session", {"session": session_of(name), "message": message_of(name)}),
        ("hand_over", {"message": f"msg_{name}", "worker": "wrk_1", "at": 2_000}),
        ("end_turn", ending(name)),
        ("hand_over", {"message": f"msg_{name}", "worker": "wrk_1", "at": 2_000}),
    )


def assert_once(desk: Desk, name: str) -> None:
    """See that the turn of ``name`` is stored whole, and once."""
    assert desk.read("message", message=f"msg_{name}")["status"] == "done"
    assert [message["role"] for message in desk.read("read_messages", session=f"ses_{name}")["messages"]] == [
        "user",
        "agent",
    ]
    assert desk.rows("SELECT kind FROM event WHERE session = ? ORDER BY cursor", f"ses_{name}") == [
        ("turn_started",),
        ("turn_end",),
    ]


@pytest.mark.slow
def test_death_before_any_statement_loses_nothing_and_doubles_nothing(path: Path) -> None:
    """Takes seconds, because every statement of a batch gets a process that is killed before it."""
    desk = Desk(path, ProcessWriter(path, program=dying(path, "each", deaths=1_000)))
    batches = 0
    while deaths(path, "each") == batches:
        batches += 1
        answers = one_turn_and_a_conflict(desk, str(batches))
        assert [answer.error for answer in answers] == [None, None, None, "conflict"]
        assert_once(desk, str(batches))
    desk.close()
    assert batches > 25


@pytest.mark.parametrize("place", ["answer", "half"])
def test_answers_lost_after_the_commit_are_given_by_the_next_process(path: Path, place: str) -> None:
    desk = Desk(path, ProcessWriter(path, program=dying(path, place)))
    answers = one_turn_and_a_conflict(desk, "a")
    desk.close()
    assert deaths(path, place) == 1
    assert [answer.error for answer in answers] == [None, None, None, "conflict"]
    assert answers[0].value == {"position": 1}
    assert_once(desk, "a")


def test_what_was_committed_counts_even_when_no_process_lives_to_say_so(path: Path) -> None:
    desk = Desk(path, ProcessWriter(path, program=dying(path, "answer", deaths=100)))
    answers = one_turn_and_a_conflict(desk, "a")
    desk.close()
    assert deaths(path, "answer") == RESTARTS + 1
    assert [answer.error for answer in answers] == [None, None, None, "conflict"]
    assert_once(desk, "a")


def test_a_process_that_always_dies_is_given_up_with_the_reason_and_tried_again(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    enough = RESTARTS + 2
    desk = Desk(path, ProcessWriter(path, program=dying(path, "begin", deaths=enough)))
    refused = one_turn_and_a_conflict(desk, "a")
    assert {answer.error for answer in refused} == {"storage"}
    assert "died 4 times in a row" in (refused[0].detail or "")
    assert str(path) in (refused[0].detail or "")
    assert {answer.error for answer in one_turn_and_a_conflict(desk, "a")} == {"storage"}
    assert desk.read("counts")["sessions"] == 0
    assert [answer.error for answer in one_turn_and_a_conflict(desk, "a")] == [None, None, None, "conflict"]
    desk.close()
    assert deaths(path, "begin") == enough
    assert caplog.text.count(KILLED) == enough


def test_kills_at_any_moment_lose_no_batch_and_double_none(path: Path) -> None:
    desk = Desk(path, writer := ProcessWriter(path))
    answered: SimpleQueue[Sequence[Answer]] = SimpleQueue()
    for number in range(30):
        name = str(number)
        batch = desk.batch(
            ("create_session", {"session": session_of(name), "message": message_of(name)}),
            ("hand_over", {"message": f"msg_{name}", "worker": "wrk_1", "at": 2_000}),
            (
                "end_turn",
                ending(name, reply={"id": f"msg_{name}_r", "text": "x" * 50_000, "truncated": False}),
            ),
        )
        writer.submit(batch, answered.put)
        if number % 6 == 5:
            answered.get(timeout=PATIENCE)
            pid = writer.pid
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
    desk.close()
    rest = [answered.get(timeout=PATIENCE) for _ in range(25)]
    assert {answer.error for answers in rest for answer in answers} == {None}
    for number in range(30):
        assert_once(desk, str(number))


def test_a_process_that_died_while_idle_is_replaced(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk(path, writer := ProcessWriter(path))
    first = writer.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    desk.session("a", "m")
    assert writer.pid not in {None, first}
    desk.close()
    assert KILLED in caplog.text


def test_an_interrupt_meant_for_the_relay_does_not_end_the_writer(path: Path) -> None:
    desk = Desk(path, writer := ProcessWriter(path))
    pid = writer.pid
    assert pid is not None
    assert os.getsid(pid) == pid
    os.kill(pid, signal.SIGINT)
    desk.session("a", "m")
    assert writer.pid == pid
    desk.close()


WRITES_AND_IS_KILLED = """
import os, signal, sys, threading
from showcaller.store.batch import Batch, Command
from showcaller.store.writer import ProcessWriter
writer = ProcessWriter(sys.argv[1])
items = [str(number) for number in range(200_000)]
job = dict(group={"id": "grp_f", "name": None}, spec="{}", items=items, at=1)
writer.submit(Batch("a", 1, [Command(1, "start_fanout", job)]), print)
if sys.argv[2] == "busy":
    while not os.path.exists(sys.argv[1] + "-wal") or os.path.getsize(sys.argv[1] + "-wal") < 100_000:
        os.sched_yield()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("moment", ["busy", "at once"])
def test_the_process_ends_when_the_relay_is_killed(path: Path, moment: str) -> None:
    """The relay's error output, which the writer process shares, is at its end when both are gone."""
    killed = subprocess.run(
        [sys.executable, "-c", WRITES_AND_IS_KILLED, str(path), moment],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert killed.stderr == ""
    desk = Desk(path, ProcessWriter(path), incarnation="b")
    assert desk.rows("SELECT count(*) FROM fanout_item")[0][0] in {0, 200_000}
    desk.session("a", "m")
    desk.close()


STARTS_A_WRITER = """
import sys
from showcaller.store.writer import ProcessWriter
ProcessWriter(sys.argv[1]).close()
"""


def test_modules_in_the_users_folder_are_not_taken_for_ours(path: Path, tmp_path: Path) -> None:
    for name in ("peewee", "msgpack", "sqlite3", "showcaller", "store", "logging"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')")
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{STARTS_A_WRITER}"
    started = subprocess.run(
        [sys.executable, "-P", "-c", script, str(path)], cwd=tmp_path, capture_output=True, check=False
    )
    assert (started.returncode, started.stderr) == (0, b"")


def test_a_checkout_that_is_not_installed_finds_itself(path: Path, tmp_path: Path) -> None:
    """Without the folders of installed packages there is nothing but the path that this program adds."""
    script = f"import sys; sys.path[:0] = {[str(ROOT), *site_folders()]!r}\n{STARTS_A_WRITER}"
    started = subprocess.run(
        [sys.executable, "-P", "-c", script, str(path)], cwd=tmp_path, capture_output=True, check=False
    )
    assert (started.returncode, started.stderr) == (0, b"")


def site_folders() -> list[str]:
    """List where installed packages are."""
    return [folder for folder in sys.path if folder.endswith("-packages")]


def test_what_the_process_says_on_its_error_output_is_not_lost(path: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from showcaller.store.writer import ProcessWriter\n"
        "program = [sys.executable, '-c', 'raise SystemExit(\"no disk today\")']\n"
        "ProcessWriter(sys.argv[1], program=program)\n"
    )
    failed = subprocess.run(
        [sys.executable, "-c", script, str(path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "no disk today" in failed.stderr
    assert "WriterGone" in failed.stderr


def test_a_store_that_is_gone_with_its_process_is_refused_with_the_reason(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk(path, writer := ProcessWriter(path))
    pid = writer.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    shutil.rmtree(path.parent)
    path.parent.write_text("a file in place of the folder")
    answer = desk.one("take_back", message="msg_x")
    assert (answer.error, str(path) in (answer.detail or "")) == ("storage", True)
    desk.close()
    assert "cannot be seen" in caplog.text


def test_a_process_that_talks_nonsense_is_replaced_by_none_and_nothing_hangs(path: Path) -> None:
    script = (
        "import socket, sys; stream = socket.socket(fileno=int(sys.argv[1]))\n"
        "stream.sendall(bytes(7) + b'\\x01\\xc0'); stream.recv(9); stream.sendall(bytes(7) + b'\\x01\\x99')\n"
        "stream.recv(1 << 20)"
    )
    desk = Desk(path, ProcessWriter(path, program=[sys.executable, "-c", script]))
    assert desk.one("take_back", message="msg_x").error == "storage"
    desk.close()


def test_a_process_that_cannot_be_started_is_an_error(path: Path) -> None:
    with pytest.raises(WriterGone, match="cannot be started"):
        ProcessWriter(path, program=[str(path.parent / "nothing")])


def test_a_process_that_ends_before_it_opened_the_store_is_an_error(path: Path) -> None:
    with pytest.raises(WriterGone, match="ended with 7 before it opened"):
        ProcessWriter(path, program=[sys.executable, "-c", "raise SystemExit(7)"])


def test_who_fails_to_take_answers_stops_nothing(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk(path, ProcessWriter(path))

    def fail(answers: Sequence[Answer]) -> None:
        raise AssertionError(answers)

    desk.writer.submit(desk.batch(), fail)
    desk.session("a")
    desk.close()
    assert "failed to take its answers" in caplog.text
