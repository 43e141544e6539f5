"""A worker as a process of its own: serves one relay, outlives it, and finds the next one in its place."""

import asyncio
import logging
import os
import signal
from pathlib import Path
from secrets import token_hex
from typing import Final

from showcaller._version import VERSION
from showcaller.transport.links.conversation import News
from showcaller.transport.links.on_loop import OnLoop
from showcaller.transport.links.relay import RelayLink
from showcaller.transport.links.sockets import RelaySocket
from showcaller.transport.worker.catalogue import process_providers
from showcaller.transport.worker.guardian import Guarded, adopt_orphans
from showcaller.transport.worker.host import Host
from showcaller.transport.worker.journal import SpoolJournal
from showcaller.transport.worker.options import WorkerOptions
from showcaller.transport.worker.process_identity import identify
from showcaller.transport.worker.solitude import Solitude
from showcaller.transport.worker.spool import Spool
from showcaller.transport.worker.worker_folder import WorkerCard, WorkerFolder

log = logging.getLogger("showcaller.worker")

LAST_WORDS: Final = 5.0
"""Seconds that a worker that ends waits for its relay to take what it has said last."""
LOOK: Final = 0.05


class WorkerService:
    """Runs a host until a signal tells it to end, its guardian has died, or it was alone for too long."""

    def __init__(self, options: WorkerOptions, guarded: Guarded) -> None:
        """Must be made on the event loop. Raises OSError when its folder is not there or cannot be used."""
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        self._guarded = guarded
        self._folder = folder = WorkerFolder(Path(options.folder))
        self._spool = Spool(folder.spool)  # before it says who it is: whoever has begun has a spool
        folder.write(_card(options, guarded))
        self._loop.add_reader(guarded.pipe, self._unguarded)
        self._socket = RelaySocket(
            options.address,
            options.name,
            options.token,
            token_hex(8),
            self._loop.time,
            self._hear,
            beat=self._look_at_folder,
        )
        self._link = RelayLink(OnLoop(self._socket.end, self._loop))
        self._host = Host(
            self._link,
            process_providers(dict(os.environ)),
            grace=options.grace,
            journal=SpoolJournal(self._spool),
        )
        self._solitude = Solitude(self._loop, options.alone, self._ending.set)

    async def run(self) -> None:
        """Serve until the end, then interrupt what runs and leave its ends to the relay or in the spool."""
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._ending.set)
        await self._ending.wait()
        self._host.take_no_more()
        await self._host.drain()
        await self._last_words()
        await self._host.close()
        self._socket.close()

    def _unguarded(self) -> None:
        """Take nothing more: what would run now could outlive this process."""
        self._loop.remove_reader(self._guarded.pipe)
        log.error("The guardian (process %d) has died, so this worker ends", self._guarded.process.pid)
        adopt_orphans()
        self._ending.set()

    def _look_at_folder(self) -> None:
        if not self._folder.is_kept and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end_without_folder)

    def _end_without_folder(self) -> None:
        """End, for what runs here could be handed to no later relay."""
        if not self._ending.is_set():
            log.error("The folder %s was deleted, so this worker ends", self._folder.path)
            self._ending.set()

    def _hear(self, news: News) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._heard, news)

    def _heard(self, news: News) -> None:
        log.info("The relay is %s", news)
        if news == "changed":
            self._link.renew()
            self._host.meet_another_relay()
        elif news == "back":
            self._host.relay_is_back()
        elif news in {"away", "refused"}:
            self._host.relay_is_away()
        if news == "refused" and not self._spool.turns:
            self._ending.set()  # nobody waits for anything of this worker
        self._solitude.heard(news)

    async def _last_words(self) -> None:
        """Wait until the relay has acknowledged everything, or is not there to do so."""
        until = self._loop.time() + LAST_WORDS
        while self._socket.end.owes and not self._solitude.is_alone and self._loop.time() < until:
            waiting = asyncio.Event()
            self._loop.call_later(LOOK, waiting.set)
            await waiting.wait()


def _card(options: WorkerOptions, guarded: Guarded) -> WorkerCard:
    process, guardian = identify(os.getpid()), guarded.process
    return WorkerCard(
        version=VERSION,
        name=options.name,
        token=options.token,
        pid=process.pid,
        started=process.started,
        guardian=guardian.pid,
        guardian_started=guardian.started,
        marker=guarded.marker,
    )
