"""The daemon: a relay in a process of its own, behind the HTTP door, until it is told to stop."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, TextIO

import structlog

from showcaller import logs
from showcaller._version import VERSION
from showcaller.actors.contract.agent_messages import McpServer
from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.settings import DEFAULTS, UNSAFE, Settings
from showcaller.actors.relay.messages import AwaitReady
from showcaller.actors.relay.ports import WriterPort
from showcaller.actors.runtime import SYSTEM_CLOCK
from showcaller.assembly import RelayParts, copy_store, open_parts
from showcaller.data_folder import DataFolder, HeldLock
from showcaller.queued_log import standard_error
from showcaller.store.batch import Answer, Batch, BatchDone
from showcaller.store.errors import StoreError
from showcaller.transport.doors.agent_tokens import AgentTokens, agent_door
from showcaller.transport.doors.cli.relay import ServeOptions
from showcaller.transport.doors.holder import phase_text
from showcaller.transport.doors.http.access import Access
from showcaller.transport.doors.http.app import HttpDoor, http_app
from showcaller.transport.doors.http.callers import Callers
from showcaller.transport.doors.http.last_port import last_port, remember_port
from showcaller.transport.doors.http.metrics import Metrics
from showcaller.transport.doors.http.peers import Peers
from showcaller.transport.doors.http.returning import announce
from showcaller.transport.doors.http.served import Served
from showcaller.transport.doors.http.server import HttpServer, bind
from showcaller.transport.doors.http.sign_in import SignIns
from showcaller.transport.doors.http.sign_in_routes import SignInRoutes
from showcaller.transport.doors.http.token import TokenCheck, own_token
from showcaller.transport.doors.http.whereabouts import Whereabouts, forget, running_relay
from showcaller.transport.doors.mcp.routes import McpRoutes
from showcaller.transport.doors.mcp.server import ToolServer
from showcaller.transport.doors.start_error import FolderInUse, RelayStartError
from showcaller.transport.process_tuning import tune
from showcaller.transport.worker.bounded_log import BoundedLog, log_stream
from showcaller.workers import DEFAULT_COUNT, running_workers, worker_trees

NO_CARDS: Final = "SHOWCALLER_UNSAFE_NO_CARDS"
"""Set to 1, what needs consent goes through without."""
LAST_ANSWERS: Final = 5.0
"""Seconds for answers under way once the relay has ended."""

log = structlog.stdlib.get_logger("showcaller.daemon")


def serve(home: Path, options: ServeOptions) -> None:
    """Run a relay on a data folder until ``options.stop_with``'s signal, or ``showcaller stop``, ends it.

    The folder is locked before anything is bound or opened, and let go when all else is closed.
    Raises ``RelayStartError``.
    """
    folder = DataFolder(home)
    folder.make()
    with ExitStack() as opened:
        lock = _lock(folder, opened)
        lock.tell(phase_text("starting"))
        _forget_earlier(folder.path)
        token = own_token(folder.path)
        logs.configure(options.log, token, _log_stream(folder.path, options.log_file))
        bound = _bind(options.port, folder.path)
        opened.callback(bound.close)
        metrics = Metrics()
        watch = FolderWatch(folder.path, lock)
        agents = AgentTokens(folder.path, token)
        parts = _open(folder, opened, options, metrics, watch, agents, agent_door(bound.getsockname()[1]))
        tune()
        callers = Callers(TokenCheck(token), parts.door.tokens, agents, SYSTEM_CLOCK)
        asyncio.run(_serve(folder, watch, parts, bound, callers, options, metrics))
    log.info("stopped", folder=str(folder.path))


def _lock(folder: DataFolder, opened: ExitStack) -> HeldLock:
    try:
        return opened.enter_context(folder.lock())
    except FolderInUse as error:
        running = running_relay(folder.path)
        if running is None:
            raise
        raise FolderInUse(
            f"A relay is running already on {folder.path}: process {running.pid}, {running.address}.",
            "Use it, stop it with: showcaller stop, or name another folder.",
        ) from error


def _log_stream(home: Path, path: Path | None) -> TextIO:
    if path is None:
        return standard_error()
    if home.resolve() in path.resolve().parents:
        raise RelayStartError(
            f"The log file {path} is in the data folder, where the relay keeps files of its own.",
            "Name one in another folder.",
        )
    try:
        return log_stream(BoundedLog(path))
    except OSError as error:
        raise RelayStartError(
            f"The log file {path} cannot be written: {error.strerror}.",
            "Name another one, or leave it out for standard error.",
        ) from error


def _bind(port: int, home: Path) -> socket.socket:
    """Take a port; for 0 the one of the relay before, if nobody else has it by now, else a free one."""
    earlier = 0 if port else last_port(home)
    if earlier:
        with contextlib.suppress(OSError):
            return bind(earlier)
    try:
        return bind(port)
    except OSError as error:
        raise RelayStartError(
            f"The port {port} cannot be taken: {error.strerror}.",
            "Name another one, or 0 for one that is free.",
        ) from error


def _open(
    folder: DataFolder,
    opened: ExitStack,
    options: ServeOptions,
    metrics: Metrics,
    watch: "FolderWatch",
    agents: AgentTokens,
    door: McpServer,
) -> RelayParts:
    count = DEFAULT_COUNT if options.workers is None else options.workers
    try:
        return open_parts(
            folder,
            opened,
            worker_count=count,
            settings=settings_told(os.environ),
            watched=lambda writer: WatchedWriter(writer, metrics, watch),
            agent_variables=agents.variables,
            agent_door=door,
        )
    except StoreError as error:
        raise RelayStartError(f"The relay's database cannot be used: {error}", "") from error
    except Refusal as refusal:
        raise RelayStartError(refusal.error, "") from refusal


class FolderWatch:
    """Whether the data folder is there, looked at before each batch; what is lost is told once."""

    def __init__(self, home: Path, lock: HeldLock) -> None:
        self.lock = lock
        self._home = home
        self._end: Callable[[], None] | None = None
        self._lost = False

    def on_loss(self, end: Callable[[], None]) -> None:
        """Say what ends the relay, from any thread."""
        self._end = end
        if self._lost:
            end()

    def is_lost(self) -> bool:
        """Tell whether the folder is there no more, or not ours; the relay is told to end when it is not."""
        if not self._lost and not self.lock.is_of(self._home):
            self._lost = True
            log.error(
                "the data folder, or its lock, was deleted or moved away, so nothing can be stored: it ends",
                folder=str(self._home),
            )
            if self._end is not None:
                self._end()
        return self._lost


class WatchedWriter:
    """A writer whose batches are counted, and refused when the folder is lost: SQLite would not notice."""

    def __init__(self, writer: WriterPort, metrics: Metrics, watch: FolderWatch) -> None:
        self._writer = writer
        self._metrics = metrics
        self._watch = watch

    def submit(self, batch: Batch, done: BatchDone) -> None:
        """Count the batch and pass it on."""
        if self._watch.is_lost():
            why = "the data folder was deleted or moved away"
            done([Answer(command.number, None, "storage", why) for command in batch.commands])
            return
        self._metrics.batch(len(batch.commands))
        self._writer.submit(batch, done)

    def close(self) -> None:
        """Close the writer."""
        self._writer.close()


class Ending:
    """The wish that the relay ends, from any thread; the first one counts."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._wish: asyncio.Future[bool] = loop.create_future()

    def ask(self, *, workers: bool) -> None:
        """End the relay, and with ``workers`` these too."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: it has ended
            self._loop.call_soon_threadsafe(self._take, workers)

    def _take(self, workers: bool) -> None:
        if not self._wish.done():
            self._wish.set_result(workers)

    async def asked(self) -> bool:
        """Wait for the wish, and give whether the workers shall end too."""
        return await self._wish


async def _serve(
    folder: DataFolder,
    watch: FolderWatch,
    parts: RelayParts,
    bound: socket.socket,
    callers: Callers,
    options: ServeOptions,
    metrics: Metrics,
) -> None:
    ending = Ending(asyncio.get_running_loop())
    port: int = bound.getsockname()[1]
    whereabouts = Whereabouts.of_this_process(port, VERSION)
    sign_ins = SignIns(SYSTEM_CLOCK.monotonic, port)
    sign_in = SignInRoutes(sign_ins, whereabouts.address, SYSTEM_CLOCK)
    served = await _served(folder, parts, whereabouts, ending, metrics, callers, sign_in)
    tools = McpRoutes(ToolServer(served.door, metrics, VERSION, SYSTEM_CLOCK.monotonic))
    app = http_app(
        HttpDoor(served, SYSTEM_CLOCK.monotonic),
        Access(port, callers, sign_ins, Peers(port, lambda: worker_trees(folder.path))),
        [*tools.routes(), *sign_in.pages()],
    )
    server = HttpServer(app, bound)
    async with tools.running():
        await server.start()
        _tell_where(folder.path, watch.lock, whereabouts)
        _warn_of_no_cards(parts, options)
        log.info(
            "ready",
            **whereabouts.model_dump(),
            folder=str(folder.path),
            default_folder=parts.door.default_folder,
        )
        notify_service_manager(os.environ.pop("NOTIFY_SOCKET", ""))
        options.ready(f"Showcaller {VERSION} listens on {whereabouts.address} (process {whereabouts.pid}).")
        options.stop_with(lambda: ending.ask(workers=False))
        watch.on_loss(lambda: ending.ask(workers=True))
        workers_too = await ending.asked()
        log.info("stopping", workers=workers_too)
        parts.workers.start_no_more()
        await asyncio.to_thread(_end, parts, workers_too=workers_too)
        _forget(folder.path, watch.lock)  # before we listen no more: who finds us may rely on it
        await server.close(LAST_ANSWERS)


def settings_told(environment: Mapping[str, str]) -> Settings:
    """Give the settings that the environment of the daemon names; they go before those that are kept."""
    return Settings(unsafe_no_cards=True) if environment.get(NO_CARDS) == "1" else DEFAULTS


def _warn_of_no_cards(parts: RelayParts, options: ServeOptions) -> None:
    if parts.ports.settings.unsafe_no_cards:
        way_out = f"start it without {NO_CARDS}, or: showcaller settings set unsafe_no_cards off"
        log.warning(UNSAFE, way_out=way_out)
        if options.log_file is not None:  # else the log is what its owner sees
            options.warn(f"{UNSAFE}. To ask again: {way_out}.")


def _end(parts: RelayParts, *, workers_too: bool) -> None:
    """End the relay, and leave what runs to workers that outlive it unless they end too."""
    if workers_too:
        parts.door.close()  # first, or what waits would go to workers that end
        parts.workers.end()
    else:
        parts.door.leave()


def _forget_earlier(home: Path) -> None:
    try:
        forget(home)
    except OSError as error:
        raise RelayStartError(
            f"{error.filename}, in which relays say where they listen, cannot be removed: {error.strerror}.",
            "Move it away.",
        ) from error


def _forget(home: Path, lock: HeldLock) -> None:
    """Tell no more where this relay listens, as far as the folder still takes anything."""
    try:
        lock.tell(phase_text("ending"))
        forget(home)
    except OSError as error:
        log.warning("what said where this relay listens stays", error=str(error))


def _tell_where(home: Path, lock: HeldLock, whereabouts: Whereabouts) -> None:
    try:
        lock.tell(whereabouts.model_dump_json())
        whereabouts.write(home)
        if last_port(home) != whereabouts.port:
            remember_port(home, whereabouts.port)
        announce(home)
    except OSError as error:
        raise RelayStartError(
            f"Where the relay listens cannot be written into {home}: {error.strerror}.",
            "Check whether its disk has free space.",
        ) from error


def notify_service_manager(address: str) -> None:
    """Tell systemd, if that has started us and named a socket, that the relay is ready."""
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            channel.sendto(b"READY=1", address.replace("@", "\0", 1) if address[0] == "@" else address)


async def _served(
    folder: DataFolder,
    parts: RelayParts,
    whereabouts: Whereabouts,
    ending: Ending,
    metrics: Metrics,
    callers: Callers,
    sign_in: SignInRoutes,
) -> Served:
    identity: Any = await parts.supervisor.request(AwaitReady())
    return Served(
        door=parts.door,
        dispatcher=parts.dispatcher,
        directory=await parts.supervisor.proxy().directory,
        identity=identity,
        whereabouts=whereabouts,
        started_at=SYSTEM_CLOCK.wall(),
        stop=lambda workers: ending.ask(workers=workers),
        workers=lambda: running_workers(folder.path),
        back_up=lambda file, replace: copy_store(folder.database, file, replace=replace),
        callers=callers,
        sign_in=sign_in,
        metrics=metrics,
    )
