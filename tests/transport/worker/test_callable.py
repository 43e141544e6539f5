"""Python functions as turns: what they get, what becomes of their value, and how they end."""

import asyncio
import functools
import json
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from showcaller.transport.worker.callable import CallableProvider
from showcaller.transport.worker.context import Context
from showcaller.transport.worker.functions import takes_context
from tests.transport.worker.conftest import OpenStage
from tests.transport.worker.stage import Stage


@pytest.fixture
def imports() -> Iterator[None]:
    """Put back what a test's imports change in this process."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("value", "reply"),
    [
        (None, ""),
        ("as it is\n", "as it is\n"),
        (5, "5"),
        (True, "true"),
        ({"a": [1, None, "ü"]}, '{"a": [1, null, "ü"]}'),
        ((1, 2), "[1, 2]"),
        (float("nan"), "nan"),
        (b"raw", "b'raw'"),
        ({1}, "{1}"),
        ("a\ud800", "a\ufffd\ufffd\ufffd"),
    ],
)
async def test_a_value_becomes_a_reply(
    stage: Stage, functions: CallableProvider, value: object, reply: str
) -> None:
    provider = functions.register("give", lambda item: value)
    end = await stage.run(provider=provider)
    assert (end.outcome, end.reply, end.exit_code) == ("done", reply, None)


async def test_a_long_reply_keeps_both_ends(stage: Stage, functions: CallableProvider) -> None:
    provider = functions.register("long", lambda item: "a" + "x" * 3_000_000 + "b")
    end = await stage.run(provider=provider)
    assert end.truncated
    assert end.reply.startswith("ax")
    assert end.reply.endswith("xb")
    assert "characters left out" in end.reply
    assert len(end.reply) < 1_100_000


@pytest.mark.parametrize("item", [None, 0, False, "", [], {"k": [1.5, None]}, "text"])
async def test_a_function_gets_the_item(stage: Stage, functions: CallableProvider, item: object) -> None:
    provider = functions.register("show", json.dumps)
    assert (await stage.run("the text", provider, item=item, has_item=True)).reply == json.dumps(item)


async def test_the_context_tells_what_a_command_finds_in_its_environment(
    stage: Stage, functions: CallableProvider
) -> None:
    provider = functions.register("mode", lambda item, ctx: ctx.environment["SHOWCALLER_MODE"])
    assert (await stage.run(provider=provider, environment={"SHOWCALLER_MODE": "plan"})).reply == "plan"


async def test_without_an_item_a_function_gets_the_text(stage: Stage, functions: CallableProvider) -> None:
    provider = functions.register("show", lambda item: item)
    assert (await stage.run("the text", provider)).reply == "the text"


async def test_an_async_function_runs_on_the_loop(stage: Stage, functions: CallableProvider) -> None:
    async def show(item: str, ctx: Context) -> str:
        await asyncio.sleep(0)
        return f"{item} {threading.current_thread() is threading.main_thread()} {ctx.cancelled}"

    assert (await stage.run("x", functions.register("show", show))).reply == "x True False"


async def test_a_function_runs_off_the_loop(stage: Stage, functions: CallableProvider) -> None:
    provider = functions.register("where", lambda item: threading.current_thread().name)
    assert (await stage.run(provider=provider)).reply == "showcaller-callable"


async def test_progress_streams_as_lines_and_is_no_part_of_the_reply(
    stage: Stage, functions: CallableProvider
) -> None:
    go = threading.Event()

    def work(item: str, ctx: Context) -> str:
        ctx.progress("half")
        assert go.wait(10)
        ctx.progress("whole\n")
        return "reply"

    turn = stage.start(provider=functions.register("work", work))
    assert await stage.output_with(turn, "half") == "half\n"
    go.set()
    assert (await stage.end_of(turn)).reply == "reply"
    assert stage.output_of(turn) == "half\nwhole\n"


def fail(item: str) -> None:
    raise ValueError("no such item: " + item)


def leave(item: str) -> None:
    sys.exit(3)


async def fail_later(item: str) -> None:
    await asyncio.sleep(0)
    fail(item)


async def leave_later(item: str) -> None:
    await asyncio.sleep(0)
    sys.exit(3)


async def cancel_itself(item: str) -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("function", "head", "frame"),
    [
        (fail, "ValueError: no such item: x\n", 'raise ValueError("no such item: " + item)'),
        (fail_later, "ValueError: no such item: x\n", "in fail_later"),
        (leave, "SystemExit: 3\n", "sys.exit(3)"),
        (leave_later, "SystemExit: 3\n", "sys.exit(3)"),
        (cancel_itself, "asyncio.exceptions.CancelledError", "in cancel_itself"),
        (lambda: None, "TypeError: ", "takes 0 positional arguments but 1 was given"),
    ],
)
async def test_an_exception_is_failed_with_its_text_and_the_last_frames(
    stage: Stage, functions: CallableProvider, function: Callable[..., Any], head: str, frame: str
) -> None:
    end = await stage.run("x", functions.register("f", function))
    assert (end.outcome, end.stop_reason) == ("failed", "end")
    assert end.error_text is not None
    assert end.error_text.startswith(head)
    assert frame in end.error_text
    assert "transport/worker/callable.py" not in end.error_text
    assert (await stage.run("x", functions.register("next", lambda item: item))).reply == "x"


async def test_stop_tells_the_function_and_keeps_what_it_returns(
    stage: Stage, functions: CallableProvider
) -> None:
    up = threading.Event()

    def work(item: str, ctx: Context) -> str:
        ctx.progress("up")
        up.set()
        while not ctx.cancelled:
            up.wait(0.001)
        return "partly"

    turn = stage.start(provider=functions.register("work", work))
    await stage.output_with(turn, "up")
    stage.stop(turn)
    end = await stage.end_of(turn)
    assert (end.outcome, end.reply) == ("stopped", "partly")


async def test_stop_cancels_a_coroutine(stage: Stage, functions: CallableProvider) -> None:
    tidied: list[str] = []

    async def work(item: str, ctx: Context) -> None:
        ctx.progress("up")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            tidied.append(item)

    turn = stage.start("x", functions.register("work", work))
    await stage.output_with(turn, "up")
    stage.stop(turn)
    assert (await stage.end_of(turn)).outcome == "stopped"
    assert tidied == ["x"]


async def test_a_function_that_never_returns_is_left_behind_after_the_grace(
    open_stage: OpenStage, functions: CallableProvider
) -> None:
    stage = open_stage(grace=0.05)
    release = threading.Event()

    def work(item: str, ctx: Context) -> str:
        ctx.progress("up")
        release.wait(20)
        ctx.progress("too late")
        return "too late"

    turn = stage.start(provider=functions.register("work", work), timeout=1.0)
    await stage.output_with(turn, "up")
    end = await stage.end_of(turn)
    assert (end.outcome, end.stop_reason, end.reply) == ("failed", "timeout", "")
    [left] = [t for t in threading.enumerate() if t.name == "showcaller-callable"]
    await stage.host.close()
    assert left.is_alive()
    release.set()
    await asyncio.to_thread(left.join, 5)
    assert not left.is_alive()
    assert stage.output_of(turn) == "up\n"


async def test_close_interrupts_functions_and_coroutines(
    open_stage: OpenStage, functions: CallableProvider
) -> None:
    stage = open_stage()

    async def wait(item: str) -> None:
        await asyncio.get_running_loop().create_future()

    def watch(item: str, ctx: Context) -> None:
        never = threading.Event()
        while not ctx.cancelled:
            never.wait(0.001)

    turns = [stage.start(provider=functions.register(f.__name__, f)) for f in (wait, watch)]
    await stage.host.close()
    for turn in turns:
        assert (await stage.end_of(turn)).stop_reason == "interrupted"
    assert [t for t in threading.enumerate() if t.name == "showcaller-callable"] == []


@pytest.mark.usefixtures("imports")
async def test_a_function_of_a_module_is_imported_from_the_users_folder_first(
    stage: Stage, tmp_path: Path
) -> None:
    (tmp_path / "wave.py").write_text(
        "import side\n"
        "def up(item): return side.NAME + item\n"
        "class C:\n    twice = staticmethod(lambda item: item * 2)\n"
    )
    (tmp_path / "side.py").write_text("NAME = 'mine '\n")
    assert (await stage.run("x", "callable:wave:up", cwd=str(tmp_path))).reply == "mine x"
    assert (await stage.run("x", "callable:wave:C.twice", cwd=str(tmp_path))).reply == "xx"


@pytest.mark.usefixtures("imports")
@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("missing_module_xyz:f", "cannot import missing_module_xyz: ModuleNotFoundError: No module named"),
        ("broken:f", "cannot import broken: ZeroDivisionError: division by zero"),
        ("leaves:f", "cannot import leaves: SystemExit: 4"),
        ("odd:f", "cannot import odd: "),
        ("good:nothing", "the module good has no function nothing"),
        ("good:NUMBER", "good:NUMBER is not callable: it is int"),
        ("unregistered", "no function is registered as 'unregistered' (registered: known)"),
        ("", "no function is registered as ''"),
        (":f", "a function of a module is named callable:module:function"),
    ],
)
async def test_a_function_that_cannot_be_had_is_failed_with_the_reason(
    stage: Stage, functions: CallableProvider, tmp_path: Path, target: str, reason: str
) -> None:
    functions.register("known", str)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "leaves.py").write_text("raise SystemExit(4)\n")
    (tmp_path / "odd.py").write_text("def f(:\n")
    (tmp_path / "good.py").write_text("NUMBER = 5\n")
    end = await stage.run("x", f"callable:{target}", cwd=str(tmp_path))
    assert end.outcome == "failed"
    assert reason in str(end.error_text)


async def test_a_missing_folder_is_named(stage: Stage) -> None:
    end = await stage.run("x", "callable:json:dumps", cwd="/no/such/folder")
    assert end.error_text == "cannot import from the folder /no/such/folder: there is no such folder"


@pytest.mark.parametrize("name", ["", "a:b"])
def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a function"):
        CallableProvider().register(name, str)


class Method:
    def one(self, item: object) -> None: ...
    def two(self, item: object, ctx: object) -> None: ...
    def __call__(self, item: object, context: object = None) -> None: ...


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda item: None, False),
        (lambda item, anything: None, True),
        (lambda item, ctx=None: None, True),
        (lambda item, retries=3: None, False),
        (lambda item, *rest: None, False),
        (lambda item, *, ctx=None: None, False),
        (Method().one, False),
        (Method().two, True),
        (Method(), True),
        (functools.partial(lambda a, item, ctx: None, 1), True),
        (int, False),
        (len, False),
    ],
)
def test_who_takes_the_context(function: Callable[..., Any], expected: bool) -> None:
    assert takes_context(function) is expected


class _NoException(BaseException):
    """What no handler of exceptions catches."""


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, _NoException])
async def test_whatever_an_async_function_raises_fails_its_turn_only(
    stage: Stage, functions: CallableProvider, error: type[BaseException]
) -> None:
    async def wild(item: object) -> None:
        await asyncio.sleep(0)
        raise error

    end = await stage.run("x", functions.register("wild", wild))
    assert (end.outcome, error.__name__ in (end.error_text or "")) == ("failed", True)
    assert (await stage.run("x", functions.register("tame", lambda item: item))).reply == "x"
