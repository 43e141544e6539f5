"""Commands as turns, with real processes: how they end, what is kept, and that nothing stays behind."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.contract.worker import FixedCommand, TaskStarted, TurnEnded
from showcaller.transport.worker import process
from showcaller.transport.worker.command import CommandProvider
from tests.transport.worker.conftest import OpenStage
from tests.transport.worker.stage import Stage, processes_with, wait_gone

IGNORE_TERM = "trap '' TERM; "


async def test_the_exit_code_zero_is_done_with_the_whole_output(stage: Stage) -> None:
    end = await stage.run("printf 'one\\n'; printf 'two\\n' >&2")
    assert (end.outcome, end.stop_reason, end.exit_code, end.error_text) == ("done", "end", 0, None)
    assert end.reply == "one\ntwo\n"
    assert end.truncated is False
    assert end.seconds > 0


async def test_receipt_output_and_end_come_in_this_order(stage: Stage) -> None:
    turn = stage.start("echo hello")
    await stage.end_of(turn)
    assert stage.kinds(turn) == ["turn_taken", "turn_output", "turn_ended"]
    assert stage.output_of(turn) == "hello\n"


async def test_another_exit_code_is_failed_and_named(stage: Stage) -> None:
    end = await stage.run("echo partly; exit 3")
    assert (end.outcome, end.exit_code, end.error_text) == ("failed", 3, "exited with code 3")
    assert end.reply == "partly\n"


async def test_a_signal_is_failed_and_named_with_the_code_of_shells(stage: Stage) -> None:
    end = await stage.run("kill -9 $$")
    assert (end.outcome, end.stop_reason, end.exit_code) == ("failed", "died", 137)
    assert end.error_text == "ended by signal SIGKILL (9)"


async def test_a_command_runs_in_its_folder_without_input_in_a_session_of_its_own(
    stage: Stage, tmp_path: Path
) -> None:
    end = await stage.run("pwd; cat; ps -o sid= -p $$ | tr -d ' '; echo $$", cwd=str(tmp_path))
    folder, session, shell = end.reply.split()
    assert folder == str(tmp_path)
    assert session == shell != str(os.getsid(0))


async def test_a_fixed_command_gets_the_text_as_its_input_and_never_as_a_line(stage: Stage) -> None:
    text = "one\n$(echo two); exit 3\n" * 50_000
    fixed = FixedCommand(arguments=("wc", "-l"), environment={"LC_ALL": "C"})
    end = await stage.run(text, provider="lines", command=fixed)
    assert (end.outcome, end.reply.strip(), end.exit_code) == ("done", "100000", 0)


async def test_a_fixed_command_may_leave_its_input_unread(stage: Stage) -> None:
    fixed = FixedCommand(arguments=("sh", "-c", 'echo "$WHO"; exit 4'), environment={"WHO": "me"})
    end = await stage.run("x" * 10_000_000, provider="mine", command=fixed)
    assert (end.outcome, end.reply, end.exit_code) == ("failed", "me\n", 4)


async def test_a_fixed_command_that_is_not_there_says_so(stage: Stage) -> None:
    end = await stage.run("hello", provider="mine", command=FixedCommand(arguments=("no-such-program",)))
    assert end.outcome == "failed"
    assert end.error_text == "the command could not be started: No such file or directory"


async def test_what_a_fixed_command_leaves_running_is_described_by_its_arguments(stage: Stage) -> None:
    fixed = FixedCommand(arguments=("sh", "-c", "sleep 60 > /dev/null 2>&1 &"))
    turn = stage.start("hello", provider="mine", command=fixed, background=True)
    await stage.end_of(turn)
    (started,) = [told for told in stage.messages if isinstance(told, TaskStarted)]
    assert started.description == "sh -c 'sleep 60 > /dev/null 2>&1 &'"


async def test_the_turns_variables_join_the_whole_environment(stage: Stage, marker: str) -> None:
    end = await stage.run(
        'echo "$STAGE $SHOWCALLER_SESSION $SHOWCALLER_TURNS"; test -n "$PATH"',
        environment={"SHOWCALLER_SESSION": "ses_x"},
    )
    assert end.reply == f"{marker.partition('=')[2]} ses_x {end.turn}\n"
    assert end.exit_code == 0


async def test_a_command_sees_nothing_of_ours_that_is_for_somebody_else() -> None:
    """Of a relay that runs in another relay's turn, or as a service, what is said to that alone."""
    around = {
        "PATH": os.environ["PATH"],
        "KEPT": "1",
        "SHOWCALLER_HOME": "/home",
        "SHOWCALLER_DEBUG": "1",
        "SHOWCALLER_TURNS": "msg_outer secret",
        "SHOWCALLER_WORKERS": "secret wrk_outer.0f",
        "SHOWCALLER_VIA": '{"title": "outer"}',
        "SHOWCALLER_TOKEN": "secret",
        "NOTIFY_SOCKET": "/run/notify",
        "WATCHDOG_USEC": "1",
    }
    stage = Stage({"command": CommandProvider(around)})
    end = await stage.run("env -u PWD -u OLDPWD -u SHLVL -u _ | sort", environment={"SHOWCALLER_MODE": "ask"})
    await stage.host.close()
    assert [line.partition("=")[0] for line in end.reply.splitlines()] == [
        "KEPT",
        "PATH",
        "SHOWCALLER_DEBUG",
        "SHOWCALLER_HOME",
        "SHOWCALLER_MODE",
        "SHOWCALLER_TURNS",
        "SHOWCALLER_WORKERS",
    ]
    assert "secret" not in end.reply


async def test_what_the_relay_tells_of_a_turn_changes_nothing_of_its_command(stage: Stage) -> None:
    """Whatever a title holds: it is a variable's value and is never part of what the shell reads."""
    hostile = "$(echo no)'; echo no\n\"`echo no`"
    end = await stage.run('printf %s "$SHOWCALLER_VIA"', environment={"SHOWCALLER_VIA": hostile})
    assert end.reply == hostile


@pytest.mark.parametrize(
    ("text", "more", "reason"),
    [
        ("true", {"cwd": "/no/such/folder"}, "cannot run in the folder /no/such/folder: No such file"),
        ("true", {"cwd": "/etc/hostname"}, "cannot run in the folder /etc/hostname: Not a directory"),
        ("echo a\0b", {}, "could not be started: embedded null byte"),
        ("true", {"environment": {"A=B": "c"}}, "could not be started: illegal environment variable name"),
        ("echo a\0" + "b" * 200_000, {}, "could not be started: embedded null byte"),
    ],
)
async def test_what_cannot_be_started_is_failed_with_the_reason(
    stage: Stage, text: str, more: dict[str, Any], reason: str
) -> None:
    end = await stage.run(text, **more)
    assert (end.outcome, end.exit_code) == ("failed", None)
    assert reason in str(end.error_text)


@pytest.mark.parametrize("item", ["it's", '"q"', "$(echo no)", "a\nb", "-n", "`x`", "ü漢\u202e", "\\"])
async def test_text_reaches_the_command_as_it_was_sent(stage: Stage, item: str) -> None:
    end = await stage.run('printf %s "$ITEM"', environment={"ITEM": item})
    assert end.reply == item


async def test_output_that_is_no_utf_8_is_shown_with_replacement_characters(stage: Stage) -> None:
    end = await stage.run(r"printf 'a\377b\0c'")
    assert end.reply == "a\ufffdb\0c"


async def test_a_flood_keeps_both_ends_in_bounded_memory(stage: Stage) -> None:
    before = peak_memory()
    end = await stage.run("echo first; head -c 1000000000 /dev/zero | tr '\\0' x; echo; echo last")
    assert (end.outcome, end.truncated) == ("done", True)
    assert end.reply.startswith("first\nxxx")
    assert end.reply.endswith("xxx\nlast\n")
    left_out = 6 + 1_000_000_000 + 1 + 5 - 1024 * 1024
    assert f"\n[… {left_out:,} bytes left out …]\n" in end.reply
    assert len(end.reply) < 1024 * 1024 + 100
    assert peak_memory() - before < 40 * 1024 * 1024


def peak_memory() -> int:
    """Give this process's peak of resident memory in bytes, and start a new peak from here."""
    status = Path("/proc/self/status").read_text()
    Path("/proc/self/clear_refs").write_text("5")
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


async def test_output_streams_while_the_command_runs(stage: Stage, tmp_path: Path) -> None:
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    turn = stage.start(f"echo ready; cat {fifo}")
    assert await stage.output_with(turn, "ready\n") == "ready\n"
    assert not any(isinstance(m, TurnEnded) for m in stage.messages)
    fifo.write_text("went\n")
    assert (await stage.end_of(turn)).reply == "ready\nwent\n"


async def test_a_command_that_closes_its_output_early_still_ends_with_its_code(
    stage: Stage, tmp_path: Path
) -> None:
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    turn = stage.start(f"echo only; exec >&- 2>&-; read line < {fifo}; exit 7")
    await stage.output_with(turn, "only\n")
    fifo.write_text("x\n")
    end = await stage.end_of(turn)
    assert (end.reply, end.exit_code) == ("only\n", 7)


async def test_a_background_child_that_holds_the_output_does_not_hold_the_turn(stage: Stage) -> None:
    end = await stage.run("sleep 1000 & echo $!")
    assert (end.outcome, end.exit_code) == ("done", 0)
    assert wait_gone(int(end.reply))


async def test_a_background_child_gets_sigterm_before_it_is_killed(stage: Stage, tmp_path: Path) -> None:
    fifo = tmp_path / "ready"
    os.mkfifo(fifo)
    child = f"(trap 'echo cleaned; exit' TERM; echo > {fifo}; while :; do sleep 0.05; done) &"
    end = await stage.run(f"{child} read line < {fifo}; echo up")
    assert end.reply.startswith("up\n")
    assert end.reply.endswith("cleaned\n")
    assert end.outcome == "done"


NEW_GROUP = (
    f"{sys.executable} -S -c 'import os, sys; os.setpgid(0, 0); os.execve(sys.argv[1], sys.argv[1:], {{}})'"
)


@pytest.mark.parametrize(
    "escape",
    [
        "setsid sh -c 'echo $$ > FIFO; exec sleep 1000' >/dev/null 2>&1 &",
        "setsid sh -c 'trap \"\" TERM HUP; sleep 1000 & echo $! > FIFO; wait' &",
        "setsid sh -c 'setsid sleep 1000 & echo $! > FIFO; exec sleep 1000' >/dev/null 2>&1 &",
        "SHOWCALLER_TURNS=\"$SHOWCALLER_TURNS msg_inner\" setsid sh -c 'echo $$ > FIFO; exec sleep 1000' &",
        NEW_GROUP + " /bin/sh -c 'echo $$ > FIFO; exec sleep 1000' >/dev/null 2>&1 &",
    ],
    ids=[
        "own session",
        "ignores signals",
        "session within session",
        "a turn within",
        "own group, no environment",
    ],
)
async def test_no_descendant_survives_its_turn(
    stage: Stage, marker: str, tmp_path: Path, escape: str
) -> None:
    fifo = tmp_path / "ready"
    os.mkfifo(fifo)
    end = await stage.run(f"{escape} read pid < {fifo}; echo $pid".replace("FIFO", str(fifo)))
    assert end.outcome == "done"
    assert wait_gone(int(end.reply))
    assert all(wait_gone(pid) for pid in processes_with(marker))


async def test_a_time_limit_ends_the_command_and_says_so(stage: Stage) -> None:
    end = await stage.run("echo begun; sleep 1000", timeout=0.2)
    assert (end.outcome, end.stop_reason) == ("failed", "timeout")
    assert end.error_text == "ran longer than its time limit of 0.2 s and was ended"
    assert end.reply == "begun\n"


async def test_stop_ends_a_command_and_keeps_what_it_wrote(stage: Stage) -> None:
    turn = stage.start("trap 'echo tidied; exit 0' TERM; echo up; while :; do sleep 0.05; done")
    await stage.output_with(turn, "up")
    stage.stop(turn)
    end = await stage.end_of(turn)
    assert (end.outcome, end.stop_reason, end.error_text) == ("stopped", "end", None)
    assert end.reply.startswith("up\n")
    assert end.reply.endswith("tidied\n")


async def test_a_command_that_ignores_sigterm_is_killed_after_the_grace(open_stage: OpenStage) -> None:
    stage = open_stage(grace=0.2)
    turn = stage.start(IGNORE_TERM + "echo up; while :; do sleep 1000; done")
    await stage.output_with(turn, "up")
    stage.stop(turn)
    end = await stage.end_of(turn)
    assert (end.outcome, end.exit_code) == ("stopped", 137)


async def test_a_child_that_tidies_up_has_the_grace_although_its_shell_is_gone(stage: Stage) -> None:
    tidy = "trap 'sleep 0.5; echo tidied; exit' TERM; echo up; while :; do sleep 0.05; done"
    turn = stage.start(f'sh -c "{tidy}"; echo unreached')
    await stage.output_with(turn, "up")
    stage.stop(turn)
    assert (await stage.end_of(turn)).reply.endswith("tidied\n")


async def test_close_interrupts_what_runs_and_delivers_its_end(open_stage: OpenStage, marker: str) -> None:
    stage = open_stage(grace=0.2)
    polite = stage.start("echo up; sleep 1000")
    stubborn = stage.start(IGNORE_TERM + "echo up; setsid sleep 1000 & while :; do sleep 1000; done")
    for turn in (polite, stubborn):
        await stage.output_with(turn, "up")
    await stage.host.close()
    for turn in (polite, stubborn):
        end = await stage.end_of(turn)
        assert (end.outcome, end.stop_reason, end.reply) == ("failed", "interrupted", "up\n")
    assert all(wait_gone(pid) for pid in processes_with(marker))


async def test_sixty_four_commands_at_a_time_each_get_their_own_end(stage: Stage) -> None:
    turns = [stage.start(f"echo {n}; exit {n % 3}") for n in range(64)]
    for n, turn in enumerate(turns):
        end = await stage.end_of(turn)
        assert (end.reply, end.exit_code) == (f"{n}\n", n % 3)


async def test_a_turns_end_leaves_other_turns_and_strangers_alone(stage: Stage, tmp_path: Path) -> None:
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    long = stage.start(f"echo up; setsid cat {fifo} & wait")
    await stage.output_with(long, "up")
    assert (await stage.run("echo short")).outcome == "done"
    fifo.write_text("lived on\n")
    assert (await stage.end_of(long)).reply == "up\nlived on\n"


async def test_without_pidfds_a_thread_waits_for_the_exit(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_pidfd", lambda pid: None)
    end = await stage.run("echo thread; exit 4")
    assert (end.reply, end.exit_code) == ("thread\n", 4)
    for thread in threading.enumerate():
        if thread.name == "showcaller-child":
            thread.join(5)


@pytest.mark.parametrize("pidfd", [True, False])
def test_an_exit_that_the_program_ignores_is_not_taken_for_success(pidfd: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IGNORES_CHILDREN, str(pidfd)],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.stdout == "failed None\n", done.stderr
    assert done.stderr == ""


IGNORES_CHILDREN = """
import asyncio, signal, sys
from showcaller.transport.worker import process
from showcaller.transport.worker.command import CommandProvider
from tests.transport.worker.stage import Stage

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if sys.argv[1] == "False":
    process._pidfd = lambda pid: None

async def main():
    stage = Stage({"command": CommandProvider()})
    end = await stage.run("exit 5")
    print(end.outcome, end.exit_code)
    assert "exit code is unknown" in end.error_text

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, (0, None, False)),
        (1, (1, "exited with code 1", False)),
        (-signal.SIGSEGV, (139, "ended by signal SIGSEGV (11)", True)),
        (-40, (168, "ended by signal 40", True)),
    ],
)
def test_exit_words(status: int, words: tuple[int, str | None, bool]) -> None:
    assert process.exit_words(status) == words
