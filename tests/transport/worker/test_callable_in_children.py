"""Functions in children of a worker: whose imports, whose output, and what becomes of their values."""

import asyncio
import errno
import json
import os
import site
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.transport.worker.functions_desk import FunctionsDesk
from tests.transport.worker.stage import wait_gone

OpenDesk = Callable[..., FunctionsDesk]

VALUES = """
    def give(item): return {"none": None, "text": "as it is\\n", "json": {"a": [1, None, "ü"]}, "set": {1},
        "surrogate": "a\\ud800", "nan": float("nan")}[item]
    def item(item): return item
    def long(item): return "a" + "x" * 3_000_000 + "b"
    class Bad:
        def __repr__(self): raise ValueError("no words for it")
    def bad(item): return Bad()
    def fail(item): raise KeyError("no such thing: " + item)
    def leave(item): raise SystemExit(3)
    def much(item): return len(bytearray(1 << 60))
    async def later(item, ctx):
        import asyncio
        await asyncio.sleep(0)
        return f"{item} {ctx.cancelled}"
    async def fail_later(item): fail(item)
"""


@pytest.mark.parametrize(
    ("value", "reply"),
    [
        ("none", ""),
        ("text", "as it is\n"),
        ("json", '{"a": [1, null, "ü"]}'),
        ("set", "{1}"),
        ("surrogate", "a\ufffd\ufffd\ufffd"),
        ("nan", "nan"),
    ],
)
async def test_a_value_becomes_the_reply_that_it_becomes_embedded(
    desk: FunctionsDesk, value: str, reply: str
) -> None:
    desk.write(VALUES)
    end = await desk.run("give", value)
    assert (end.outcome, end.reply, end.exit_code) == ("done", reply, None)


async def test_a_function_gets_the_item_and_without_one_the_text(desk: FunctionsDesk) -> None:
    desk.write(VALUES)
    items: list[object] = [None, 0, "", [], {"k": [1.5, None]}, "ü", 2**63 - 1]
    ends = await desk.run_all("item", items)
    assert [end.reply for end in ends] == [
        "" if each is None else each if isinstance(each, str) else json.dumps(each) for each in items
    ]
    assert (await desk.stage.run("the text", "callable:jobs:item", cwd=str(desk.folder))).reply == "the text"


async def test_what_a_function_raises_or_cannot_give_fails_its_turn_only(desk: FunctionsDesk) -> None:
    desk.write(VALUES + "\n    import os\n    def where(item): return os.getpid()\n")
    first = await desk.run("where")
    for function, words in {
        "fail": "KeyError: 'no such thing: x'",
        "fail_later": "KeyError: 'no such thing: x'",
        "leave": "SystemExit: 3",
        "bad": "ValueError: no words for it",
        "much": "MemoryError",
        "nothing": "the module jobs has no function nothing",
        "missing:f": "cannot import missing: ModuleNotFoundError",
        "unregistered:": "a function of a module is named callable:module:function",
    }.items():
        end = await desk.run(function, "x")
        assert (end.outcome, end.stop_reason) == ("failed", "end")
        assert words in str(end.error_text)
        assert "transport/worker" not in str(end.error_text)
    assert (await desk.run("later", "x")).reply == "x False"
    assert (await desk.run("where")).reply == first.reply, "it is the same process that still runs them"


async def test_a_long_reply_keeps_both_ends(desk: FunctionsDesk) -> None:
    desk.write(VALUES)
    end = await desk.run("long")
    assert end.truncated
    assert (end.reply[:2], end.reply[-2:]) == ("ax", "xb")
    assert "characters left out" in end.reply


async def test_nothing_of_ours_is_on_a_functions_import_path_and_its_folder_comes_first(
    desk: FunctionsDesk,
) -> None:
    desk.write("""
        import sys
        def path(item): return sys.path
        def modules(item): return [name for name in sys.modules if name.partition(".")[0] == "showcaller"]
    """)
    path = json.loads((await desk.run("path")).reply)
    assert path[0] == str(desk.folder)
    own = [entry for entry in path if entry not in site.getsitepackages()]
    assert not [entry for entry in own if (Path(entry) / "showcaller").exists()]
    assert str(Path(__file__).parents[3]) not in path
    assert (await desk.run("modules")).reply == "[]"


async def test_modules_of_the_user_may_be_called_as_ours_are(desk: FunctionsDesk) -> None:
    desk.write("import text\ndef show(item): return text.NAME + item\n", "functions")
    desk.write("NAME = 'mine '\n", "text")
    desk.write("raise ImportError('not asked for')\n", "threads")
    assert (await desk.run("functions:show", "x")).reply == "mine x"


async def test_two_folders_with_modules_of_one_name_each_have_their_own(open_desk: OpenDesk) -> None:
    desk = open_desk()
    for name in ("a", "b"):
        (desk.folder / name).mkdir()
        desk.write(f"import os\ndef where(item): return '{name} ' + os.getcwd()\n", folder=desk.folder / name)
    ends = [await desk.run("where", cwd=str(desk.folder / name)) for name in ("a", "b", "a")]
    assert [end.reply for end in ends] == [f"{name} {desk.folder / name}" for name in ("a", "b", "a")]


async def test_the_import_path_of_the_environment_holds_in_every_folder(
    open_desk: OpenDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "library.py").write_text("NAME = 'from the library'\n")
    monkeypatch.chdir(tmp_path)
    desk = open_desk(environment={"PYTHONPATH": f"lib{os.pathsep}"})
    desk.write("import library\ndef name(item): return library.NAME\n")
    assert (await desk.run("name")).reply == "from the library"


async def test_a_missing_folder_is_named(desk: FunctionsDesk) -> None:
    end = await desk.run("f", cwd="/no/such/folder")
    assert end.error_text == "cannot import from the folder /no/such/folder: there is no such folder"


async def test_the_context_tells_what_a_command_finds_in_its_environment(desk: FunctionsDesk) -> None:
    desk.write("""
        import os
        def mode(item, ctx): return f"{ctx.environment['SHOWCALLER_MODE']} {'SHOWCALLER_MODE' in os.environ}"
    """)
    assert (await desk.run("mode", environment={"SHOWCALLER_MODE": "plan"})).reply == "plan False"


async def test_a_function_that_tells_its_token_tells_nobody(
    desk: FunctionsDesk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "showcaller.worker")
    secret = "sct_ses_000000000000.msg_000000000000." + "s" * 43
    desk.write("""
        import os, sys
        def told(ctx): return ctx.environment["SHOWCALLER_TOKEN"]
        def give(item, ctx): return {"token": told(ctx)}
        def fail(item, ctx): raise ValueError("not with " + told(ctx))
        def say(item, ctx):
            print("it is", told(ctx), flush=True)
            sys.stdout.write("sct_ses" + "\\n")
            for letter in told(ctx):
                sys.stdout.write(letter)
                sys.stdout.flush()
            ctx.progress("and " + told(ctx))
            os.write(1, f"past the turn: {told(ctx)}".encode())
            sys.stdout.write("sct_")
    """)
    turns = {
        name: desk.start(name, environment={"SHOWCALLER_TOKEN": secret}) for name in ("give", "fail", "say")
    }
    ends = {name: await desk.stage.end_of(turn) for name, turn in turns.items()}
    assert ends["give"].reply == '{"token": "[a token of the relay]"}'
    assert "not with [a token of the relay]" in str(ends["fail"].error_text)
    hidden = "[a token of the relay]"
    assert desk.stage.output_of(turns["say"]) == f"it is {hidden}\nsct_ses\n{hidden}and {hidden}\nsct_"
    await desk.close()
    assert f"past the turn: {hidden}" in caplog.text
    assert secret not in caplog.text


async def test_no_descriptor_left_for_a_process_fails_its_turn_in_words(
    desk: FunctionsDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    desk.write("def f(item): return item")
    with monkeypatch.context() as few:
        few.setattr("socket.socketpair", refuse)
        end = await desk.run("f", "x")
    assert end.error_text == "no process could be started for the function: Too many open files"
    assert (await desk.run("f", "x")).reply == "x"


async def test_a_process_that_cannot_be_started_fails_its_turn(
    desk: FunctionsDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/no/python")
    end = await desk.run("f")
    assert end.error_text == "no process could be started for the function: No such file or directory"


async def test_what_calls_print_beside_each_other_goes_to_their_own_turns(
    open_desk: OpenDesk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "showcaller.worker")
    desk = open_desk(most=1)
    desk.write("""
        import asyncio, os, sys, threading
        BOTH = threading.Barrier(2)
        def say(item, ctx):
            BOTH.wait(20)
            print("out", item)
            BOTH.wait(20)
            sys.stderr.write(f"err {item}\\n")
            sys.stdout.buffer.write(b"bytes\\n")
            ctx.progress("progress " + item)
            os.system("echo by a process")
            return os.getpid()
        async def later(item):
            print("before")
            await asyncio.sleep(0)
            print("after", item)
    """)
    turns = [desk.start("say", name) for name in ("a", "b")]
    ends = [await desk.stage.end_of(turn) for turn in turns]
    assert ends[0].reply == ends[1].reply
    for turn, name in zip(turns, ("a", "b"), strict=True):
        assert desk.stage.output_of(turn) == f"out {name}\nerr {name}\nbytes\nprogress {name}\n"
    later = desk.start("later", "c")
    assert (await desk.stage.end_of(later)).reply == ""
    assert desk.stage.output_of(later) == "before\nafter c\n"
    await desk.close()
    assert "by a process" in caplog.text


async def test_what_is_printed_shows_while_the_function_runs_and_a_flood_keeps_both_ends(
    desk: FunctionsDesk,
) -> None:
    desk.write("""
        def flood(item):
            print("begun", flush=True)
            open(item).read()
            for number in range(100_000):
                print(number)
    """)
    os.mkfifo(gate := desk.folder / "gate")
    turn = desk.start("flood", str(gate))
    assert await desk.stage.output_with(turn, "begun") == "begun\n"
    await asyncio.to_thread(gate.write_text, "")
    assert (await desk.stage.end_of(turn)).outcome == "done"
    output = desk.stage.output_of(turn)
    assert output.endswith("\n99999\n")
    assert "characters left out" in output


async def test_calls_that_wait_get_processes_of_their_own_up_to_the_bound(open_desk: OpenDesk) -> None:
    desk = open_desk(most=2)
    desk.write("""
        import os, threading
        ALL = threading.Barrier(3)
        def meet(item):
            if item == "write":
                with open("gate", "w") as gate: gate.write(str(os.getpid()))
            else:
                return f"{os.getpid()} {open('gate').read()}"
        def together(item):
            ALL.wait(20)
    """)
    os.mkfifo(desk.folder / "gate")
    ends = await desk.run_all("meet", ["read", "write"])
    assert len(set(ends[0].reply.split())) == 2
    assert {end.outcome for end in await desk.run_all("together", list(range(6)))} == {"done"}
    assert len(desk.provider.processes) == 2


async def test_a_process_ends_when_it_was_idle_and_runs_what_is_registered_for_its_end(
    open_desk: OpenDesk,
) -> None:
    desk = open_desk(idle=0.05)
    desk.write("""
        import atexit, os, pathlib
        atexit.register(pathlib.Path("tidied").touch)
        def where(item): return os.getpid()
    """)
    pid = int((await desk.run("where")).reply)
    assert await asyncio.to_thread(wait_gone, pid)
    assert (desk.folder / "tidied").exists()
    assert int((await desk.run("where")).reply) != pid


async def test_a_function_that_has_changed_on_disk_runs_as_it_is_now(open_desk: OpenDesk) -> None:
    desk = open_desk(most=1)
    desk.write("""
        import __main__, itertools, os, threading, side
        ALL = threading.Barrier(3)
        __main__._now = lambda: 0.0
        def rested(item):
            ALL.wait(20)
            __main__._now = itertools.count(0, 10).__next__
        def name(item): return f"{side.NAME} {os.getpid()}"
    """)
    desk.write("NAME = 'old'\n", "side")
    old = (await desk.run("name")).reply.split()[1]
    desk.write("NAME = 'newer'\n", "side")
    assert (await desk.run("name")).reply == f"old {old}", "a burst of calls looks at no files"
    assert {end.outcome for end in await desk.run_all("rested", [1, 2, 3])} == {"done"}
    ends = await desk.run_all("name", [1, 2, 3])
    new = {end.reply for end in ends}
    assert len(new) == 1
    name, pid = new.pop().split()
    assert (name, pid == old) == ("newer", False)
    assert await asyncio.to_thread(wait_gone, int(old))


async def test_a_process_that_a_function_forks_does_not_speak_for_it(desk: FunctionsDesk) -> None:
    desk.write("""
        import os, warnings
        warnings.simplefilter("ignore")
        def fork(item):
            if (pid := os.fork()) == 0:
                print("from the fork")
                return "fork"
            return f"{os.waitpid(pid, 0)[0] == pid}"
    """)
    turn = desk.start("fork")
    assert (await desk.stage.end_of(turn)).reply == "True"
    assert desk.stage.output_of(turn) == ""
