"""A worker inside the relay's process: a host on an event loop in a thread of its own."""

import asyncio
import contextlib
import logging
import threading
from concurrent.futures import Future
from typing import Final

from showcaller.transport.links.memory import FrameBatch, MemoryLink, Receive
from showcaller.transport.links.relay import RelayLink
from showcaller.transport.links.workers import WorkerLink
from showcaller.transport.worker.host import GRACE, Host
from showcaller.transport.worker.providers import Providers

LAST_WORDS: Final = 1.0

_LOG: Final = logging.getLogger("showcaller.worker")


class WorkerThread:
    """Runs a host in a thread until its ``port`` is closed; what the relay needs of it is ``port``.

    Messages for the relay are delivered on the worker's thread. The thread is a daemon, so that a relay
    that fails without closing its port can still end; commands that run then are left behind.
    """

    def __init__(self, providers: Providers, *, grace: float = GRACE) -> None:
        """Start the thread; returns when the host is ready, raises what kept it from starting."""
        self._providers = providers
        self._grace = grace
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._ready: Future[None] = Future()
        self._link = MemoryLink(to_worker=self._carry)
        self.port = WorkerLink(self._link.relay_end, self._end)
        self._thread = threading.Thread(target=self._run, name="showcaller-worker", daemon=True)
        self._thread.start()
        self._ready.result()

    def _carry(self, receive: Receive, batch: FrameBatch) -> None:
        self._loop.call_soon_threadsafe(receive, batch)

    def _run(self) -> None:
        host = self._loop.create_task(self._host())
        host.add_done_callback(lambda _: self._loop.stop())
        try:
            while not host.done():
                self._run_loop()
        finally:
            self._loop.close()

    def _run_loop(self) -> None:
        """Run the loop until somebody stops it: we, or a function that should not have."""
        try:
            self._loop.run_forever()
        except BaseException:  # noqa: BLE001 - from a task of a function; the other turns go on
            _LOG.exception("Something that a function left on the worker's loop ended it; it goes on")

    async def _host(self) -> None:
        try:
            host = Host(RelayLink(self._link.worker_end), self._providers, grace=self._grace)
        except BaseException as error:  # noqa: BLE001 - the caller of __init__ raises it
            self._ready.set_exception(error)
            return
        self._ready.set_result(None)
        await self._closing.wait()
        await host.drain()
        self.port.stop_sending()
        await asyncio.sleep(0)  # noqa: TID251 - one step of the loop, for what was sent just before
        await host.close()
        await _cancel_what_is_left()

    def _end(self) -> None:
        """End the host and wait for its thread; called by the port's ``close``, by anyone but this thread."""
        if self._thread.is_alive():
            with contextlib.suppress(RuntimeError):  # another caller was first, and the loop is closed
                self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()


async def _cancel_what_is_left() -> None:
    """Cancel coroutines that were given up; one that ignores even this is left where it is."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=LAST_WORDS)
