"""A child process in a session of its own: waiting for its exit, signalling its tree, reaping it last."""

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Final

from showcaller.transport.worker.descendants import Family

LOOK: Final = 1.0
"""Seconds between two looks at descendants where the system cannot tell of their deaths."""


class Child:
    """A program with its arguments, leader of its own session and process group.

    It is not reaped before ``reap``: until then its process id, and so the id of its group, cannot go to
    a stranger, and signalling the group is safe. Belongs to the event loop that runs when it is made.

    The exit is awaited through a pidfd on the loop. asyncio's own subprocesses cost a thread per child in
    Python 3.11 and reap at once; 1,500 times ``true``, 64 at a time, went at 1,390/s with them, at 1,530/s
    with a thread of ours and at 1,940/s with a pidfd. Where there are no pidfds, it is that thread.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        cwd: str | None,
        environment: Mapping[str, str],
        turn: str,
        leaders: set[int],
        descriptors: Sequence[int] = (),
        *,
        given: int = subprocess.DEVNULL,
        errors: int = subprocess.STDOUT,
    ) -> None:
        """Start the program; raises OSError or ValueError when it cannot be started.

        ``turn`` is among the turns that its environment names, by which descendants that left the group are
        found; ``leaders`` are the process ids of the other children that run, to which this one is added;
        ``descriptors`` are open in it too, beside its output; ``given`` is its input, and ``errors``
        where its standard error goes, if not to its output.
        """
        self._loop = asyncio.get_running_loop()
        self._process = subprocess.Popen(
            arguments,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=errors,
            bufsize=0,
            cwd=cwd,
            env=environment,
            pass_fds=descriptors,
            start_new_session=True,
        )
        self.exited: asyncio.Future[None] = self._loop.create_future()
        self._family = Family(self._process.pid, turn, self._loop.time(), leaders)
        self._pidfd = _pidfd(self._process.pid)
        if self._pidfd is None:
            threading.Thread(target=self._wait, name="showcaller-child", daemon=True).start()
        else:
            self._loop.add_reader(self._pidfd, self._note_exit)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def output(self) -> int:
        """The descriptor that its output is read from."""
        stdout = self._process.stdout
        if stdout is None:
            raise RuntimeError("the child has no pipe, although it was started with one")
        return stdout.fileno()

    def signal_tree(self, number: int) -> None:
        """Send a signal to the group and to descendants that left it. Must not be called after ``reap``."""
        if self._is_unreaped():
            # Nobody may be left there, or only somebody else's program (sudo), which we may not signal.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
        self._family.signal_strays(number, self._loop.time())

    def halt_tree(self, grace: float) -> asyncio.TimerHandle:
        """Send SIGTERM to the tree; gives the timer that sends SIGKILL after ``grace`` seconds."""
        self.signal_tree(signal.SIGTERM)
        return self._loop.call_later(grace, self.signal_tree, signal.SIGKILL)

    def members(self) -> list[int] | None:
        """Give the ids of its descendants that run, oldest first; None where the system does not say."""
        return self._family.members(self._loop.time())

    def status(self) -> int | None:
        """Give the exit status as subprocess does, and leave the process unreaped.

        None while it runs, and when somebody else took its exit.
        """
        with contextlib.suppress(ChildProcessError):
            ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is not None:
                return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        return None

    async def death_of(self, pid: int, seconds: float | None) -> None:
        """Return when a descendant has died, after so many seconds, or at once when it is none any more."""
        descriptor = _pidfd(pid)
        if descriptor is None:
            if self._family.has_member(pid):  # it is there, and cannot be watched
                await pause(LOOK if seconds is None else min(LOOK, seconds))
            return
        died: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(descriptor, _settle, died)
        try:
            if self._family.has_member(pid):  # else its id may be a stranger's by now
                await asyncio.wait([died], timeout=seconds)
        finally:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)

    def reap(self) -> int | None:
        """Let go of process, pipe and watcher; gives the exit status as subprocess does.

        None if the process still runs, or if somebody else took its exit, of which ``Popen`` would say 0.
        """
        self._forget_pidfd()
        self._family.forget()
        if self._process.stdout is not None:
            self._process.stdout.close()
        unreaped = self._is_unreaped()
        status = self._process.poll()
        return status if unreaped else None

    def _is_unreaped(self) -> bool:
        """Say whether the process id is still our child's: somebody who waits for any child may reap it."""
        try:
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return False
        return True

    def _note_exit(self) -> None:
        self._forget_pidfd()
        _settle(self.exited)

    def _forget_pidfd(self) -> None:
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None

    def _wait(self) -> None:
        with contextlib.suppress(ChildProcessError):  # somebody else took the exit
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for this exit any more
            self._loop.call_soon_threadsafe(self._note_exit)


async def pause(seconds: float) -> None:
    """Let others run for so many seconds."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    timer = loop.call_later(seconds, _settle, over)
    try:
        await over
    finally:
        timer.cancel()


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # not Linux, or a kernel or sandbox without it
        return None


def exit_words(status: int) -> tuple[int, str | None, bool]:
    """Give a shell's exit code, the error text unless it is 0, and whether a signal ended it. Pure.

    A process ended by a signal has the code that shells give it, 128 and the signal's number: whether a
    shell stood between is an accident of its optimisation.
    """
    if status == 0:
        return 0, None, False
    if status > 0:
        return status, f"exited with code {status}", False
    try:
        name = f"{signal.Signals(-status).name} ({-status})"
    except ValueError:  # a real-time signal has no name
        name = str(-status)
    return 128 - status, f"ended by signal {name}", True
