"""A relay with worker processes, as a program that a test kills: takes calls as lines of JSON."""

import json
import sys
import time
from pathlib import Path
from typing import Any

from showcaller.actors.contract.ids import new_id
from showcaller.actors.relay.messages import AwaitReady
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.supervisor import Supervisor
from showcaller.actors.runtime import SYSTEM_CLOCK, Dispatcher
from showcaller.store.readers import ReaderThreads
from showcaller.store.writer import ProcessWriter
from showcaller.transport.doors.local import LocalDoor
from showcaller.transport.placement.processes import WorkerProcesses


def main(home: Path) -> None:
    """Answer each line of standard input with one of standard output, until it ends."""
    writer, reader = ProcessWriter(home / "relay.db"), ReaderThreads(home / "relay.db")
    pool = WorkerProcesses(home, 1, time.monotonic)
    dispatcher = Dispatcher(name="relay")
    ports = Ports(
        reader=reader,
        writer=writer,
        workers=pool,
        worker="",
        clock=SYSTEM_CLOCK,
        new_id=new_id,
        relay_name="outliving",
        version="1",
        default_folder=str(home),
        outliving=pool,
    )
    with dispatcher:
        supervisor = Supervisor.start(ports, new_id("rly_"))
    door = LocalDoor(supervisor, ports, dispatcher)
    supervisor.ask(AwaitReady())
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        sys.stdout.write(json.dumps(_answer(order, door, pool)) + "\n")
        sys.stdout.flush()
        if order.get("end"):
            break
    for each in (dispatcher, pool, reader, writer):
        each.close()


def _answer(order: dict[str, Any], door: LocalDoor, pool: WorkerProcesses) -> Any:
    match order.pop("do"):
        case "call":
            return door.call({"relay": "this", **order})
        case "kill":
            return door.act("kill", order["session"])
        case "leave":
            door.leave()
            return "left"
        case "end workers":
            door.close()
            return pool.end_workers(10.0)
        case other:
            raise ValueError(other)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
