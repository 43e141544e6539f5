"""A real relay in this process, with failpoints in all its ports, and what the test has it do."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from showcaller.actors.contract.fanout import FanoutSpec
from showcaller.actors.contract.ids import new_id
from showcaller.actors.relay.messages import AwaitReady, GoOn, StopRunning, ToSession
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.supervisor import Supervisor
from showcaller.actors.runtime import SYSTEM_CLOCK, Dispatcher
from showcaller.data_folder import DataFolder
from showcaller.store.readers import ReaderThreads
from showcaller.store.writer import ProcessWriter
from showcaller.transport.doors.local import LocalDoor
from showcaller.transport.worker.providers import Providers
from showcaller.transport.worker.thread import WorkerThread
from tests.crash.agent import NotingProvider
from tests.crash.failpoints import Failpoints
from tests.crash.journal import Journal
from tests.crash.ports import FailingReader, FailingWorkers, FailingWriter
from tests.crash.writer import PLANT, writer_program

GROUP = "three"


class Known(NamedTuple):
    """What is known after a crash: what the store has, and which calls had no answer."""

    sessions: list[str]
    messages: list[tuple[str, str]]
    has_group: bool
    unanswered: list[tuple[str, str, dict[str, Any]]]
    crashes: int


class RealRelay:
    """A relay over a data folder; what callers and the agent see goes into the journal."""

    def __init__(self, door: LocalDoor, supervisor: Any, journal: Journal, points: Failpoints) -> None:
        self.door = door
        self._supervisor = supervisor
        self._journal = journal
        self._points = points

    def prompt(self, action: str, text: str, **more: Any) -> dict[str, Any]:
        """Send a prompt under a client id of its own, and note what came of it."""
        self._journal.note("begun", action=action, text=text, more=more)
        self._points.reach("caller.call.before")
        call = {"action": action, "relay": "this", "text": text, "wait_seconds": 0, **more}
        result = self.door.call(call, id=f"id of {text}")
        self._journal.note("answered", text=text, result=result)
        self._points.reach("caller.call.after")
        return result

    def wait(self, session: str, message: str) -> dict[str, Any]:
        """Wait for the end of a prompt."""
        call = {"action": "wait", "relay": "this", "session": session, "message_id": message}
        return self.door.call({**call, "wait_seconds": 60})

    def stop(self, session: str) -> None:
        """Stop a session's turn."""
        self._supervisor.ask(ToSession(session, StopRunning()))

    def go_on(self, session: str) -> None:
        """Let go on what is held."""
        self._supervisor.ask(ToSession(session, GoOn()))


@contextmanager
def open_real(home: Path, armed: list[str], points: Failpoints, *, patient: bool) -> Generator[RealRelay]:
    """Open a relay as an embedding program does, with a writer process and a worker thread."""
    with ExitStack() as opened:
        folder = DataFolder(home)
        folder.make()
        opened.enter_context(folder.lock())
        journal = Journal(home / "journal")
        opened.callback(journal.close)
        in_writer = [text for text in armed if text.startswith(("process.", PLANT))]
        writer = FailingWriter(
            ProcessWriter(folder.database, program=writer_program(home, in_writer)), points
        )
        opened.callback(writer.close)
        reader = FailingReader(ReaderThreads(folder.database), points)
        opened.callback(reader.close)
        agent = NotingProvider(journal, points, patient=patient)
        workers = FailingWorkers(WorkerThread(Providers({"command": agent}), grace=1.0).port, points)
        opened.callback(workers.close)
        dispatcher = Dispatcher(name="showcaller-crash")
        opened.callback(dispatcher.close)
        ports = Ports(
            reader=reader,
            writer=writer,
            workers=workers,
            worker=new_id("wrk_"),
            clock=SYSTEM_CLOCK,
            new_id=new_id,
            relay_name="crashing",
            default_folder=str(home),
            version="1",
            resting=500,
        )
        journal.note("opened")
        with dispatcher:
            supervisor = Supervisor.start(ports, new_id("rly_"))
        door = LocalDoor(supervisor, ports, dispatcher)
        opened.callback(door.close)
        supervisor.ask(AwaitReady())
        yield RealRelay(door, supervisor, journal, points)


def work(relay: RealRelay, home: Path) -> None:
    """Everything that a relay is for, once: prompts in a row, a stop, a fan-out, and waiting for all."""
    first = relay.prompt("create_session", "first")
    session = first["session"]
    relay.prompt("send", "long one", session=session)
    last = relay.prompt("send", "after the long one", session=session)
    other = relay.prompt("create_session", "other", wait_seconds=60)
    relay.wait(session, first["message_id"])
    relay.stop(session)
    relay.prompt("send", "after the stop", session=session)
    relay.wait(session, last["message_id"])
    spec = FanoutSpec(
        kind="command", template="item {}", provider="command", jobs=2, cwd=str(home), name=GROUP
    )
    for _ in relay.door.start_fanout(spec, ["a", "b", "c"]).results():
        relay.door.call({"action": "list_sessions", "relay": "this"})
    relay.prompt("send", "the last one", session=other["session"], wait_seconds=60)


def finish(relay: RealRelay, known: Known) -> None:
    """What callers do after a crash: ask again what was not answered, wait for all, resume what was cut."""
    for session in known.sessions:
        relay.go_on(session)
    for action, text, more in known.unanswered:
        relay.prompt(action, text, **more)
    relay.prompt("create_session", f"after crash {known.crashes}", wait_seconds=60)
    for session, message in known.messages:
        relay.wait(session, message)
    if known.has_group:
        list(relay.door.resume_fanout(GROUP, rerun=True, jobs=None).results())
