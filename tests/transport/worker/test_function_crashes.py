"""Functions that crash, hang or lie: what it costs, and whom."""

import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from tests.transport.worker.functions_desk import FunctionsDesk
from tests.transport.worker.stage import wait_gone

OpenDesk = Callable[..., FunctionsDesk]

WILD = """
    import asyncio, ctypes, json, os, signal, socket, stat, subprocess, threading
    BOTH = threading.Barrier(2)
    def where(item): return os.getpid()
    def hang_up(item):
        for number in range(3, 4096):
            try:
                if stat.S_ISSOCK(os.fstat(number).st_mode): break
            except OSError: pass
        socket.socket(fileno=os.dup(number)).shutdown(socket.SHUT_RDWR)
        threading.Event().wait(20)
    def shut(item):
        for number in range(3, 4096):
            try:
                if stat.S_ISSOCK(os.fstat(number).st_mode): break
            except OSError: pass
        socket.socket(fileno=os.dup(number)).shutdown(socket.SHUT_WR)
        threading.Event().wait(20)
    def close_all(item):
        os.closerange(3, 4096)
        threading.Event().wait(0.001)
    def leave(item): os._exit(item)
    def kill(item):
        os.kill(os.getpid(), item)
        threading.Event().wait(20)
    def fault(item): ctypes.string_at(0)
    def both(item):
        print(os.getpid(), flush=True)
        BOTH.wait(20)
        if item: os._exit(9)
        threading.Event().wait(20)
    def hang(item):
        print(os.getpid(), flush=True)
        while True: threading.Event().wait(20)
    def read(item):
        print(os.getpid(), flush=True)
        return open(item).read()
    def watch(item, ctx):
        print("up", flush=True)
        while not ctx.cancelled: threading.Event().wait(0.001)
        return "partly"
    async def later(item):
        print("up", flush=True)
        try: await asyncio.Event().wait()
        finally: print("tidied", flush=True)
    def start(item):
        other = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        print(other.pid, flush=True)
        os._exit(0)
    def lie(item):
        for number in range(3, 4096):
            try:
                if stat.S_ISSOCK(os.fstat(number).st_mode): break
            except OSError: pass
        body = bytes.fromhex(item)
        socket.socket(fileno=os.dup(number)).sendall(body)
        threading.Event().wait(20)
"""


def framed(text: str) -> str:
    return (len(text).to_bytes(4, "big") + text.encode()).hex()


async def first_line(desk: FunctionsDesk, turn: str) -> str:
    return (await desk.stage.output_with(turn, "\n")).splitlines()[0]


@pytest.mark.parametrize(
    ("function", "item", "words"),
    [
        ("leave", 7, "exited with code 7"),
        ("leave", 0, "exited with code 0"),
        ("kill", 9, "ended by signal SIGKILL (9)"),
        ("kill", 11, "ended by signal SIGSEGV (11)"),
        ("fault", None, "ended by signal SIGSEGV (11)"),
    ],
)
async def test_a_crash_fails_its_turn_with_how_it_ended_and_the_next_gets_a_new_process(
    desk: FunctionsDesk, function: str, item: object, words: str
) -> None:
    desk.write(WILD)
    before = await desk.run("where")
    end = await desk.run(function, item)
    assert (end.outcome, end.stop_reason, end.exit_code) == ("failed", "died", None)
    assert end.error_text == f"its process {words} before the function returned"
    after = await desk.run("where")
    assert (after.outcome, after.reply == before.reply) == ("done", False)


async def test_a_crash_fails_the_turns_that_ran_beside_it_and_no_others(open_desk: OpenDesk) -> None:
    desk = open_desk(most=1)
    desk.write(WILD)
    (other := desk.folder / "other").mkdir()
    desk.write(WILD, folder=other)
    os.mkfifo(gate := desk.folder / "gate")
    elsewhere = desk.start("read", str(gate), cwd=str(other))
    await first_line(desk, elsewhere)
    for end in await desk.run_all("both", [False, True]):
        assert end.error_text == (
            "its process exited with code 9 before the function returned; 1 other call ran there too"
        )
    await asyncio.to_thread(gate.write_text, "went on")
    assert (await desk.stage.end_of(elsewhere)).reply == "went on"


async def test_what_a_crashed_process_has_started_goes_with_it(desk: FunctionsDesk) -> None:
    desk.write(WILD)
    turn = desk.start("start")
    assert (await desk.stage.end_of(turn)).stop_reason == "died"
    assert await asyncio.to_thread(wait_gone, int(desk.stage.output_of(turn)))


async def test_a_stop_tells_the_function_and_keeps_what_it_returns(desk: FunctionsDesk) -> None:
    desk.write(WILD)
    turn = desk.start("watch")
    await first_line(desk, turn)
    desk.stage.stop(turn)
    end = await desk.stage.end_of(turn)
    assert (end.outcome, end.reply) == ("stopped", "partly")


async def test_a_stop_cancels_a_coroutine_which_may_tidy_up(desk: FunctionsDesk) -> None:
    desk.write(WILD)
    turn = desk.start("later")
    await first_line(desk, turn)
    desk.stage.stop(turn)
    assert (await desk.stage.end_of(turn)).outcome == "stopped"
    assert desk.stage.output_of(turn) == "up\ntidied\n"


async def test_a_function_that_never_returns_ends_with_its_process_after_the_grace(
    open_desk: OpenDesk,
) -> None:
    desk = open_desk(grace=0.05)
    desk.write(WILD)
    turn = desk.start("hang")
    pid = int(await first_line(desk, turn))
    desk.stage.stop(turn)
    end = await desk.stage.end_of(turn)
    assert (end.outcome, end.reply) == ("stopped", "")
    assert await asyncio.to_thread(wait_gone, pid)
    assert (await desk.run("where")).outcome == "done"


async def test_a_function_that_runs_out_of_time_ends_with_words_that_say_so(open_desk: OpenDesk) -> None:
    desk = open_desk(grace=0.05)
    desk.write(WILD)
    end = await desk.run("hang", timeout=0.05)
    assert (end.outcome, end.stop_reason) == ("failed", "timeout")
    assert end.error_text == "ran longer than its time limit of 0.05 s and was ended"
    assert (await desk.run("where")).outcome == "done"


async def test_who_shares_the_process_of_a_function_that_hangs_may_end_and_nobody_joins_them(
    open_desk: OpenDesk,
) -> None:
    desk = open_desk(grace=0.05, most=1)
    desk.write(WILD)
    os.mkfifo(gate := desk.folder / "gate")
    reading, hanging = desk.start("read", str(gate)), desk.start("hang")
    pid = await first_line(desk, reading)
    assert await first_line(desk, hanging) == pid
    desk.stage.stop(hanging)
    assert (await desk.stage.end_of(hanging)).outcome == "stopped"
    assert (await desk.run("where")).reply != pid
    await asyncio.to_thread(gate.write_text, "in peace")
    assert (await desk.stage.end_of(reading)).reply == "in peace"
    assert await asyncio.to_thread(wait_gone, int(pid))


async def test_a_call_that_is_stopped_while_it_waits_never_runs(open_desk: OpenDesk) -> None:
    desk = open_desk(most=2)
    desk.write(WILD + "\n    def touch(item): open(item, 'w').close()\n")
    os.mkfifo(gate := desk.folder / "gate")
    reading = desk.start("read", str(gate))
    waiting = desk.start("touch", "touched")
    desk.stage.stop(waiting)
    desk.start("where")  # which looks for a place for all that wait
    assert (await desk.stage.end_of(waiting)).outcome == "stopped"
    await first_line(desk, reading)
    await asyncio.to_thread(gate.write_text, "")
    await desk.stage.end_of(reading)
    assert not (desk.folder / "touched").exists()


@pytest.mark.parametrize("function", ["hang_up", "shut", "close_all"])
async def test_a_function_that_cuts_the_line_to_the_worker_ends_its_process(
    desk: FunctionsDesk, function: str
) -> None:
    desk.write(WILD)
    end = await desk.run(function)
    assert (end.outcome, end.stop_reason) == ("failed", "died")
    assert str(end.error_text).startswith("its process ")
    if function == "shut":
        assert end.error_text == "its process had hung up on its worker, and was ended"
    assert (await desk.run("where")).outcome == "done"


async def test_a_call_that_a_dying_process_has_not_begun_runs_in_the_next(open_desk: OpenDesk) -> None:
    desk = open_desk(grace=0.05, most=1)
    desk.write(WILD)
    os.mkfifo(gate := desk.folder / "gate")
    reading = desk.start("read", str(gate))
    pid = int(await first_line(desk, reading))
    os.kill(pid, signal.SIGSTOP)
    late = desk.start("where")
    await desk.stage.end_of(desk.start("fault", timeout=0.05))  # by now all of it is on the line
    os.kill(pid, signal.SIGKILL)
    assert (await desk.stage.end_of(reading)).stop_reason == "died"
    end = await desk.stage.end_of(late)
    assert (end.outcome, end.reply == str(pid)) == ("done", False)


@pytest.mark.parametrize(
    "lie",
    [
        "ffffffff",
        framed("no json"),
        framed("{}"),
        framed('[{"kind": "ended"}]'),
        framed('[{"kind": "begun", "call": 2}]'),
        framed('[{"kind": "ended", "call": 99, "reply": "", "truncated": false, "error": null}]'),
        framed('[{"kind": "output", "call": 1, "text": 5}]'),
        framed('[{"kind": "output", "call": 1, "text": "' + "x" * 20_000 + '"}]'),
        framed('[{"kind": "returned", "call": 1}]'),
        framed('[{"kind": "returned", "call": 5}, {"kind": "returned", "call": 1}]'),
        framed('[{"kind": "run_turn", "session": "ses_other"}]'),
        framed("[" * 100_000),
    ],
)
async def test_garbage_from_a_process_costs_the_turns_in_it_only(desk: FunctionsDesk, lie: str) -> None:
    desk.write(WILD)
    end = await desk.run("lie", lie)
    assert (end.outcome, end.stop_reason) == ("failed", "died")
    assert "its process said something that none says" in str(end.error_text)
    assert (await desk.run("where")).outcome == "done"
