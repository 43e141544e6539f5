"""Joining a relay: the domain with its store, its workers and the one door that all others lead to."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from showcaller._version import VERSION
from showcaller.actors.contract.agent_messages import McpServer
from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.contract.ids import new_id
from showcaller.actors.contract.settings import DEFAULTS, Settings
from showcaller.actors.relay.messages import AwaitReady
from showcaller.actors.relay.ports import AgentVariables, Ports, WriterPort, no_variables
from showcaller.actors.relay.settings_in_force import SettingsInForce
from showcaller.actors.relay.supervisor import Supervisor
from showcaller.actors.runtime import SYSTEM_CLOCK, ActorRef, Dispatcher
from showcaller.clones import Clones
from showcaller.data_folder import DataFolder, relay_name
from showcaller.store.backup import back_up
from showcaller.store.errors import StoreError, StoreExists, StoreUnavailable
from showcaller.store.readers import ReaderThreads
from showcaller.store.writer import InlineWriter, ProcessWriter
from showcaller.transport.doors.local import LocalDoor
from showcaller.transport.doors.providers_at_home import catalogue_at, handshakes_at
from showcaller.transport.links.absent import NoWorkers
from showcaller.workers import Workers, open_workers, workers_are_there

RESTING: Final = 500
"""Sessions that stay awake with nothing to do; each takes a few kilobytes."""


class RelayParts(NamedTuple):
    """The parts of a relay that takes calls."""

    ports: Ports
    dispatcher: Dispatcher
    supervisor: ActorRef[Any]
    door: LocalDoor
    workers: Workers


def same(writer: WriterPort) -> WriterPort:
    """Give the writer as it is."""
    return writer


def open_parts(  # noqa: PLR0913 - each is something that its two callers have differently
    folder: DataFolder,
    opened: ExitStack,
    *,
    read_only: bool = False,
    own_process: bool = True,
    settings: Settings = DEFAULTS,
    worker_count: int | None = None,
    watched: Callable[[WriterPort], WriterPort] = same,
    agent_variables: AgentVariables = no_variables,
    agent_door: McpServer | None = None,
    takes_up: bool = True,
) -> RelayParts:
    """Open a relay's parts on a folder that the caller has locked, unless the relay only reads.

    ``opened`` closes them the other way round; ``watched`` may put something in front of the writer.
    With a ``worker_count`` there are so many worker processes, which outlive the relay; else its one worker
    is a thread of this process. ``agent_variables``, ``agent_door`` and ``takes_up`` are as in ``Ports``.
    Raises ``StoreError``, ``Refusal`` and ``RelayStartError``.
    """
    ports, workers, dispatcher = _open_ports(
        folder, opened, worker_count, read_only=read_only, own_process=own_process
    )
    writer = None if ports.writer is None else watched(ports.writer)
    ports = replace(
        ports,
        writer=writer,
        in_force=SettingsInForce(settings),
        agent_variables=agent_variables,
        agent_door=agent_door,
        takes_up=takes_up,
    )
    with dispatcher:
        supervisor = Supervisor.start(ports, new_id("rly_"))
    door = LocalDoor(supervisor, ports, dispatcher)
    opened.callback(door.close)
    supervisor.ask(AwaitReady())
    return RelayParts(ports, dispatcher, supervisor, door, workers)


def copy_store(database: Path, target: Path | str, *, replace: bool) -> Path:
    """Copy a store into one file, as it is at one moment; gives the file's absolute path.

    Raises ``Refusal``: the file is there already, or cannot be written; it says what to do.
    """
    try:
        _check_beside(database, Path(target))
        return back_up(database, target, replace=replace)
    except (StoreExists, StoreUnavailable, ValueError, RuntimeError) as error:
        raise invalid(f"Nothing was copied: {error}") from error
    except StoreError as error:
        raise Refusal(Code.STORAGE, f"Nothing was copied: {error}") from error


def _check_beside(database: Path, target: Path) -> None:
    """Refuse a place in the data folder that the relay may need later; copies may lie beside the store.

    Raises ``Refusal``, and what a name that is none raises.
    """
    folder, parent = database.parent.resolve(), target.absolute().parent.resolve()
    if folder not in (parent, *parent.parents) or (parent == folder and target.suffix == ".db"):
        return
    raise invalid(
        f"Nothing was copied: {target} is in the data folder, where the relay keeps files of its own; name a "
        "file elsewhere."
    )


def _open_ports(
    folder: DataFolder, opened: ExitStack, worker_count: int | None, *, read_only: bool, own_process: bool
) -> tuple[Ports, Workers, Dispatcher]:
    """Open everything from outside, in the order in which it must be closed the other way round."""
    writer: WriterPort | None = None
    if not read_only:
        writer = ProcessWriter(folder.database) if own_process else InlineWriter(folder.database)
        opened.callback(writer.close)
    reader = ReaderThreads(folder.database)
    opened.callback(reader.close)
    workers = Workers(NoWorkers()) if read_only else open_workers(folder, worker_count)
    opened.callback(workers.port.close)
    dispatcher = Dispatcher(name="showcaller")
    opened.callback(dispatcher.close)
    ports = Ports(
        reader=reader,
        writer=writer,
        workers=workers.port,
        outliving=workers.outliving,
        worker=workers.name,
        clock=SYSTEM_CLOCK,
        new_id=new_id,
        relay_name=relay_name(),
        version=VERSION,
        default_folder=_working_folder(),
        resting=RESTING,
    )
    ports = replace(
        ports,
        providers=catalogue_at(folder.path),
        handshakes=lambda: handshakes_at(folder.path),
        clones=Clones(folder.path),
    )
    ports = replace(ports, relay_runs=lambda: _turns_go_on(folder)) if read_only else ports
    return ports, workers, dispatcher


def _turns_go_on(folder: DataFolder) -> bool:
    return folder.relay_runs() or workers_are_there(folder.path)


def _working_folder() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:  # it was deleted under us
        return str(Path.home())
