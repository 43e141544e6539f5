"""One writer process and our end of its socket."""

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from weakref import WeakSet

from showcaller.store.batch import Answer
from showcaller.store.errors import WriterGone, rebuilt_error
from showcaller.store.frames import begin_frame, receive_frame, send_frame, unpack_answers, unpack_start

_LOG: Final = logging.getLogger(__name__)
_ENDING_SECONDS: Final = 10.0
_START: Final = (
    "import sys\n"
    "root = sys.argv.pop(1)\n"
    "root in sys.path or sys.path.insert(0, root)\n"
    "from showcaller.store.process import main\n"
    "sys.exit(main(sys.argv[1:]))\n"
)


def writer_program() -> list[str]:
    """Give the command that starts a writer process with this very package.

    The child looks for modules where this interpreter does by itself, never in the folder it happens to
    run in; the folder of our package is added when it is not among those, as in a checkout.
    """
    root = Path(__file__).absolute().parents[2]
    return [sys.executable, "-P", "-c", _START, str(root)]


_streams: "WeakSet[socket.socket]" = WeakSet()


def _close_streams() -> None:
    """Keep a forked child from holding its parent's writer processes, which end with their streams."""
    for stream in list(_streams):
        stream.close()


os.register_at_fork(after_in_child=_close_streams)


class WriterChild:
    """A running writer process that has opened the store. For one thread at a time."""

    def __init__(self, program: Sequence[str], path: Path, busy_seconds: float) -> None:
        """Start ``program`` (an argument list) and wait until it has opened the store.

        Raises the StoreError that the process met when it opened the file, or WriterGone when it could not
        be started or ended before it could say anything.
        """
        self._path = path
        try:
            self._stream, theirs = socket.socketpair()
        except OSError as error:
            raise WriterGone(path, f"its writer process cannot be connected: {error}") from error
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [*program, str(theirs.fileno()), str(path), str(busy_seconds)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            except OSError as error:
                self._stream.close()
                raise WriterGone(path, f"its writer process cannot be started: {error}") from error
        _streams.add(self._stream)
        self._await_start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def begin(self, frame: bytes) -> int:
        """Send what of a batch goes without a wait; gives how many bytes, for ``exchange``."""
        return begin_frame(self._stream, frame)

    def exchange(self, frame: bytes, begun: int = 0) -> list[Answer] | None:
        """Send a batch, or the rest of it, and wait for its answers; None from a process of no use any more.

        It died before it gave them, or what it gave cannot be understood.
        """
        try:
            send_frame(self._stream, frame, begun)
            answers = receive_frame(self._stream)
            return None if answers is None else unpack_answers(answers)
        except OSError:
            return None
        except (ValueError, TypeError):
            _LOG.exception("the writer process %d of %s gave no answers but nonsense", self.pid, self._path)
            return None

    def close(self) -> int:
        """Let the process end and wait for it; gives its exit code (negative: the signal that ended it)."""
        self._stream.close()
        try:
            return self._process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _await_start(self) -> None:
        first = receive_frame(self._stream)
        trouble = None if first is None else unpack_start(first)
        if first is not None and trouble is None:
            return
        code = self.close()
        if trouble is not None:
            raise rebuilt_error(*trouble)
        raise WriterGone(
            self._path,
            f"its writer process ended with {code} before it opened the store; try again, and if that ends "
            "alike see what it wrote to standard error, and whether memory or processes are short",
        )
