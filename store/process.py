"""The writer process: runs the batches it is sent, until the relay at the other end goes away."""

import signal
import socket
import sys
from typing import Final

from showcaller.store.database import OpenDatabase, open_for_writing
from showcaller.store.errors import StoreError
from showcaller.store.frames import pack_answers, pack_start, receive_frame, send_frame, unpack_batch
from showcaller.store.transaction import run_batch

GONE: Final = 3
"""Exit code when the relay went away before it got its answers."""


def main(arguments: list[str]) -> int:
    """Serve the relay at the other end of a socket; gives the exit code.

    ``arguments``: the number of the inherited socket, the store's file, and the seconds to wait for locks.
    """
    descriptor, path, busy_seconds = arguments
    # Ctrl-C in the terminal is for the relay, which lets this process finish its work first.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=int(descriptor)) as stream:
        try:
            database = _open(stream, path, float(busy_seconds))
            if database is None:
                return 1
            try:
                serve(stream, database)
            finally:
                database.close()
        except (BrokenPipeError, ConnectionResetError):
            return GONE
    return 0


def serve(stream: socket.socket, database: OpenDatabase) -> None:
    """Run each batch that comes and send its answers; ends when the other end closes.

    Raises BrokenPipeError or ConnectionResetError when it closed without waiting for the answers; what was
    committed stays, and the batch can be asked for again.
    """
    while (frame := receive_frame(stream)) is not None:
        send_frame(stream, pack_answers(run_batch(database, unpack_batch(frame))))


def _open(stream: socket.socket, path: str, busy_seconds: float) -> OpenDatabase | None:
    """Open the store and tell the relay how that went."""
    try:
        database = open_for_writing(path, busy_seconds=busy_seconds)
    except StoreError as error:
        send_frame(stream, pack_start((type(error).__name__, str(error.path), error.reason)))
        return None
    send_frame(stream, pack_start(None))
    return database


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
