"""The program of a process in which the functions of one folder run; a worker starts it by this file's path.

It imports the standard library, and of ours only the modules beside it that do the same, by their paths: so
nothing of ours has to be on the import path, on which the user's folder comes first. Its arguments are the
descriptor of the socket to the worker and the folder, which may be empty. See ``function_child_messages.py``
for what is said there.
"""

import contextlib
import contextvars
import faulthandler
import inspect
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Awaitable
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import asyncio

    from showcaller.transport.worker import function_child_output as out
    from showcaller.transport.worker import function_sources as sources
    from showcaller.transport.worker import functions, text, threads
else:

    def _beside(name: str) -> object:
        """Load a module of this folder under a name that no module of the user's can have by accident."""
        spec = spec_from_file_location(f"_showcaller_child_{name}", Path(__file__).with_name(f"{name}.py"))
        module = module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

    functions, text, threads = _beside("functions"), _beside("text"), _beside("threads")
    out, sources = _beside("function_child_output"), _beside("function_sources")

FLUSHES: Final = 20
"""Times that one call's output is sent at once when it asks for that, before it has to wait its turn."""
PIECE_LIMIT: Final = 16 * 1024
ERROR_LIMIT: Final = 8_000
LAST_WORDS: Final = 2.0
"""Seconds that what the user's modules have registered for the end of the process may take."""
MISTAKE: Final = 70
REST: Final = 1.0
"""Seconds without a call after which the user may have changed a module."""


class Output:
    """What one call has printed and not been sent yet; of too much, both ends. Thread-safe."""

    def __init__(self, number: int, mouth: "out.Mouth", flusher: "out.Flusher") -> None:
        self._number = number
        self._mouth = mouth
        self._flusher = flusher
        self._gate = threading.RLock()  # a finalizer may print while its thread does
        self._waiting = text.BothEnds("".join, PIECE_LIMIT // 4, PIECE_LIMIT * 3 // 4)
        self._flushes = FLUSHES
        self._ended = False

    def write(self, piece: str) -> None:
        """Add to what is sent soon; ignored after the call's end."""
        with self._gate:
            if self._ended or not piece:
                return
            first = not self._waiting
            self._waiting.add(piece)
        if first:
            self._flusher.note(self)

    def flush(self) -> None:
        """Send what waits, if that was not asked for too often of late."""
        if self._flushes > 0:
            self._flushes -= 1
            self._send()

    def flush_in_turn(self) -> None:
        """Send what waits."""
        self._flushes = FLUSHES
        self._send()

    def _send(self) -> None:
        with self._gate:
            piece, _ = text.joined(self._waiting)
            self._waiting.clear()
            if piece and not self._ended:
                self._mouth.say({"kind": "output", "call": self._number, "text": text.valid(piece)})

    def end(self, message: dict[str, Any]) -> None:
        """Send what waits and then the call's end."""
        with self._gate:
            self._send()
            self._ended = True
            self._mouth.say(message)


class Context:
    """How a function in a turn says what it is doing and learns that it should end. Thread-safe.

    ``environment`` holds what a command would find in its environment: whom the prompt is from, and so on.
    """

    def __init__(self, output: Output, environment: dict[str, str]) -> None:
        self.environment = MappingProxyType(environment)
        self._output = output
        self._cancelled = False

    def cancel(self) -> None:
        """Ask the function to end."""
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        """Whether the turn was asked to end; a function that runs for long should look now and then."""
        return self._cancelled

    def progress(self, line: str) -> None:
        """Show a line to whoever watches the session; it is no part of the reply. Ignored after the end."""
        self._output.write(line if line.endswith("\n") else line + "\n")


class Loop:
    """An asyncio loop in a thread of its own, started when the first function needs one. Thread-safe."""

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def get(self) -> "asyncio.AbstractEventLoop":
        """Give the running loop."""
        import asyncio

        with self._gate:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=self._run, args=(self._loop,), name="showcaller-loop", daemon=True
                ).start()
            return self._loop

    def _run(self, loop: "asyncio.AbstractEventLoop") -> None:
        while True:
            try:
                loop.run_forever()
            except BaseException as error:  # noqa: BLE001 - from a task that a function left; the others go on
                _log(f"something that a function left on the loop ended it; it goes on: {error!r}")


class Call:
    """One call: in a thread first, then, if that gave an awaitable, on the loop."""

    def __init__(self, message: dict[str, Any], child: "FunctionChild") -> None:
        self.number: int = message["call"]
        self._target: str = message["target"]
        self._text: str = message["text"]
        self._item: str | None = message["item"]
        self._child = child
        self._output = Output(self.number, child.mouth, child.flusher)
        self._context = Context(self._output, message["environment"])
        self._variables = contextvars.Context()
        self._variables.run(out.CURRENT.set, self._output)
        self._task: asyncio.Task[None] | None = None
        self._cancelling = False

    def work(self) -> None:
        """Run in a thread of the pool, and raise nothing."""
        self._variables.run(self._run)

    def cancel(self) -> None:
        """Tell the function that it should end."""
        self._context.cancel()
        if self._task is not None:
            self._child.loop.get().call_soon_threadsafe(self._cancel_task)

    def fail(self, error: BaseException) -> None:
        """End it with what went wrong."""
        try:
            missing = isinstance(error, functions.FunctionNotFoundError)
            error_text = str(error) if missing else functions.failure_text(error)
            self._end(error=text.bounded(error_text, ERROR_LIMIT // 4, ERROR_LIMIT * 3 // 4)[0])
        except BaseException:  # noqa: BLE001 - who waits for this end must not do so for ever
            os._exit(MISTAKE)

    def _run(self) -> None:
        try:
            value = self._call()
            if inspect.isawaitable(value):
                loop = self._child.loop.get()
                loop.call_soon_threadsafe(self._await, loop, value, context=self._variables.copy())
                return
            self._reply(value)
        except BaseException as error:  # noqa: BLE001 - sys.exit() in a function costs its own turn only
            self.fail(error)

    def _call(self) -> Any:
        if self._context.cancelled:
            return None
        self._child.mouth.say({"kind": "begun", "call": self.number})
        item = self._text if self._item is None else json.loads(self._item)
        function = self._child.find(self._target)
        return function.call(item, self._context) if function.takes_context else function.call(item)

    def _await(self, loop: "asyncio.AbstractEventLoop", value: Awaitable[Any]) -> None:
        self._task = loop.create_task(self._finish(value))
        if self._context.cancelled:
            self._cancel_task()

    def _cancel_task(self) -> None:
        """Cancel it once, and not before its first step, or the function's coroutine never starts."""
        if self._task is not None and not self._cancelling:
            self._cancelling = True
            self._child.loop.get().call_soon(self._task.cancel)

    async def _finish(self, value: Awaitable[Any]) -> None:
        try:
            self._reply(await value)
        except BaseException as error:  # noqa: BLE001 - as above; it would end the loop of all calls
            self.fail(error)

    def _reply(self, value: Any) -> None:
        reply, truncated = text.bounded(functions.value_text(value))
        self._end(reply=text.valid(reply), truncated=truncated)

    def _end(self, *, reply: str = "", truncated: bool = False, error: str | None = None) -> None:
        self._child.forget(self.number)
        error = None if error is None else text.valid(error)
        self._output.end(
            {"kind": "ended", "call": self.number, "reply": reply, "truncated": truncated, "error": error}
        )


class FunctionChild:
    """Reads what the worker says, on the main thread, and ends when it hangs up."""

    def __init__(self, link: socket.socket, folder: str | None) -> None:
        self.mouth = out.Mouth(link)
        self.flusher = out.Flusher()
        self.loop = Loop()
        self._frames = link.makefile("rb")
        self._folder = folder
        self._functions = functions.Functions()
        self._threads = threads.Threads()
        self._calls: dict[int, Call] = {}
        self._sources = sources.Sources(folder)
        self._found: set[str] = set()
        self._is_outdated = False
        self._rests_since = _now()

    def find(self, target: str) -> "functions.Function":
        """Give the function that a call names."""
        function = self._functions.find(target, self._folder)
        if target not in self._found:
            self._sources.note()
            self._found.add(target)
        return function

    def forget(self, number: int) -> None:
        """A call ends."""
        self._calls.pop(number, None)
        self._rests_since = _now()

    def run(self) -> None:
        """Take calls until the worker hangs up; does not return while calls run then."""
        self.mouth.say({"kind": "ready"})
        while (messages := self._read()) is not None:
            for message in messages:
                self._hear(message)
        if self._calls:
            os._exit(0)  # nobody waits for them any more

    def _read(self) -> list[dict[str, Any]] | None:
        head = self._frames.read(out.LENGTH_BYTES)
        size = int.from_bytes(head, "big")
        body = self._frames.read(size)
        return json.loads(body) if len(head) == out.LENGTH_BYTES and len(body) == size else None

    def _hear(self, message: dict[str, Any]) -> None:
        if message["kind"] == "cancel":
            call = self._calls.get(message["call"])
            if call is not None:
                call.cancel()
            return
        if not self._calls and _now() - self._rests_since >= REST:
            self._is_outdated = self._is_outdated or self._sources.have_changed()
        if self._is_outdated:
            self.mouth.say({"kind": "returned", "call": message["call"]})
            return
        call = self._calls[message["call"]] = Call(message, self)
        try:
            self._threads.submit(call.work)
        except RuntimeError as error:  # the system has no more threads
            call.fail(error)


def _now() -> float:
    return time.monotonic()  # noqa: TID251 - nothing of ours that has a clock is in this process


def _log(line: str) -> None:
    if sys.__stderr__ is not None:
        with contextlib.suppress(OSError):
            sys.__stderr__.write(line + "\n")
            sys.__stderr__.flush()


def _let_go(descriptor: int) -> None:
    """Take from a process that a function has forked what would speak for it here."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, descriptor, inheritable=False)
    os.close(nothing)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__


def main() -> None:
    """Be the process; see the module."""
    descriptor, folder = int(sys.argv[1]), sys.argv[2] or None
    del sys.argv[1:]
    os.set_inheritable(descriptor, False)
    os.register_at_fork(after_in_child=partial(_let_go, descriptor))
    if sys.__stderr__ is not None:
        faulthandler.enable(sys.__stderr__)
        sys.stdout = sys.stderr = out.Printed(sys.__stderr__)
    FunctionChild(socket.socket(fileno=descriptor), folder).run()
    watchdog = threading.Timer(LAST_WORDS, os._exit, [0])
    watchdog.daemon = True
    watchdog.start()


if __name__ == "__main__":
    main()
