"""One prompt from a door to an agent and back, one step after the other, with the real parts.

The steps are those of ``docs/architecture.md``. The test holds the two ends of the link and carries each
batch across; a real host runs the turn on the test's own asyncio loop.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from showcaller.actors.contract.worker import RunTurn, TurnEnded, TurnTaken
from showcaller.actors.relay.messages import IfAwake, Look
from showcaller.transport.links.memory import FrameBatch, MemoryLink, Receive
from showcaller.transport.links.relay import RelayLink
from showcaller.transport.links.workers import WorkerLink
from showcaller.transport.wire.frames import decode
from showcaller.transport.wire.worker_messages import from_worker_message, to_worker_message
from showcaller.transport.worker.callable import CallableProvider
from showcaller.transport.worker.host import Host
from showcaller.transport.worker.providers import Providers
from tests.actors.relay.stage import Stage

LIMIT = 20.0  # seconds


class Carrier:
    """Carries one direction's batches when the test says so."""

    def __init__(self) -> None:
        self.batches: list[tuple[Receive, FrameBatch]] = []
        self.arrived = asyncio.Event()

    def __call__(self, receive: Receive, batch: FrameBatch) -> None:
        self.batches.append((receive, batch))
        self.arrived.set()

    async def next(self) -> FrameBatch:
        """Wait for the next batch; it stays where it is."""
        async with asyncio.timeout(LIMIT):
            await self.arrived.wait()
        return self.batches[0][1]

    def carry(self) -> None:
        """Carry what waits across."""
        batches, self.batches = self.batches, []
        self.arrived.clear()
        for receive, batch in batches:
            receive(batch)


class Walk:
    """The parts of the walk, all real but the link's carriers."""

    def __init__(self, home: Path, function: Callable[[str], str]) -> None:
        self.to_worker, self.to_relay = Carrier(), Carrier()
        link = MemoryLink(self.to_worker, self.to_relay)
        module: Any = ModuleType("walked")
        module.work = function
        sys.modules[module.__name__] = module  # a function of a module, as prompts name one
        self.provider = "callable:walked:work"
        self.host = Host(RelayLink(link.worker_end), Providers({"callable": CallableProvider()}))
        self.link = WorkerLink(link.relay_end)
        self.stage = Stage(home, workers=self.link)

    def step_until(self, happened: Callable[[], object]) -> None:
        """Run the relay one slice at a time until something has happened."""
        while not happened():
            assert self.stage.dispatcher.step(), "nothing is left to do, and it has not happened"


async def test_one_prompt_walks_from_a_door_to_its_function_and_back(tmp_path: Path) -> None:
    let_go = asyncio.Event()
    loop = asyncio.get_running_loop()

    def work(text: str) -> str:
        asyncio.run_coroutine_threadsafe(let_go.wait(), loop).result(LIMIT)
        return f"{text}: 3 lines"

    walk = Walk(tmp_path, work)
    stage = walk.stage
    actor: Any = stage.supervisor._actor

    # 1. A door gets the JSON of a call; the local door starts a Call for it.
    result = stage.begin("create_session", text="count x", provider=walk.provider, wait_seconds=60)
    assert not stage.awake

    # 2. and 3. The call becomes a typed one, is checked, and the session has its prompt.
    walk.step_until(lambda: stage.awake)
    (session,) = stage.awake
    assert stage.store.commands[-1] == "interrupt_turns"  # of the relay's start: nothing is stored yet
    assert stage.read("counts")["messages"] == 0

    # 4. and 5. One command stores session and message, and that it goes to the worker, as nothing else is to
    # be done; from here on the call can answer.
    walk.step_until(lambda: stage.store.commands[-1] == "create_session")
    assert stage.read("counts") == {
        "sessions": 1, "messages": 1, "queued": 0, "handed": 1, "events": 1, "outbox": 0, "fanouts": 0,
        "tasks": 0,
    }  # fmt: skip
    (message,) = stage.read("load_session", session=session)["unfinished"]
    assert stage.status(message["id"]) == "handed"
    assert walk.to_worker.batches == []
    assert not result.done

    # 6. Then the link takes it.
    stage.settle()
    (frame,) = await walk.to_worker.next()
    run = to_worker_message(decode(frame))
    assert isinstance(run, RunTurn)
    assert (run.session, run.turn, run.text) == (session, message["id"], "count x")

    # 7. The host decodes it, gives a receipt before the function has the prompt, and runs the turn.
    walk.to_worker.carry()
    (frame,) = await walk.to_relay.next()
    assert from_worker_message(decode(frame)) == TurnTaken(session=session, turn=message["id"])
    walk.to_relay.carry()
    stage.settle()
    assert not result.done
    let_go.set()
    (frame,) = await walk.to_relay.next()
    end = from_worker_message(decode(frame))
    assert isinstance(end, TurnEnded)
    assert (end.outcome, end.reply) == ("done", "count x: 3 lines")

    # 8. The link hands it to the session, which has its end committed: reply, states and event at once.
    assert stage.status(message["id"]) == "handed"
    walk.to_relay.carry()
    walk.step_until(lambda: stage.store.commands[-1] == "end_turn")
    assert stage.status(message["id"]) == "done"
    assert stage.events(session) == [("turn_started", message["id"]), ("turn_end", message["id"])]
    assert not result.done

    # 9. After that commit, whoever waits has the result, and the session sleeps.
    stage.settle()
    found = result.get()
    assert (found["session"], found["message_id"]) == (session, message["id"])
    assert (found["status"], found["reply"]["text"]) == ("done", "count x: 3 lines")
    assert stage.awake == []
    assert actor.directory.find(session) is None

    await walk.host.close()
    stage.close()


async def test_a_second_prompt_waits_and_walks_after_the_first(tmp_path: Path) -> None:
    walk = Walk(tmp_path, str.upper)
    stage = walk.stage
    session, _ = stage.create("first", provider=walk.provider)
    second = stage.begin("send", session=session, text="second", wait_seconds=60)
    stage.settle()
    glance = stage.supervisor.request(IfAwake(session, Look()))
    stage.settle()
    assert len(glance.get().queued) == 1
    (handed, waiting) = stage.read("load_session", session=session)["unfinished"]
    assert (handed["status"], waiting["status"]) == ("handed", "queued")
    assert stage.read("counts")["outbox"] == 1
    async with asyncio.timeout(LIMIT):
        while not second.done:
            walk.to_worker.carry()
            await walk.to_relay.next()
            walk.to_relay.carry()
            stage.settle()
    assert second.get()["reply"]["text"] == "SECOND"
    assert stage.store.commands.count("hand_over") == 1  # of the second, before it was sent
    await walk.host.close()
    stage.close()
