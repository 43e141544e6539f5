"""A worker in a thread: the relay's port, from any thread, to the last word."""

import asyncio
import queue
import subprocess
import sys
import threading

import pytest

from showcaller.actors.contract.worker import RunTurn, StopTurn, TurnEnded
from showcaller.actors.relay.ports import FromWorkers, WorkerPort
from showcaller.transport.worker.callable import CallableProvider
from showcaller.transport.worker.command import CommandProvider
from showcaller.transport.worker.providers import Providers
from showcaller.transport.worker.thread import WorkerThread
from tests.transport.worker.conftest import open_descriptors

LIMIT = 20.0


class Relay:
    """The relay's side: a port, and a queue of what comes."""

    def __init__(self, grace: float = 5.0) -> None:
        self.functions = CallableProvider()
        providers = Providers({"command": CommandProvider(), "callable": self.functions})
        self.worker = WorkerThread(providers, grace=grace)
        self.port: WorkerPort = self.worker.port
        self.ends: queue.SimpleQueue[TurnEnded] = queue.SimpleQueue()
        self.port.connect(self.deliver)

    def deliver(self, messages: FromWorkers) -> None:
        for message in messages:
            if isinstance(message, TurnEnded):
                self.ends.put(message)

    def run(self, turn: str, text: str = "", provider: str = "command") -> None:
        self.port.send([RunTurn(session="ses_a", turn=turn, provider=provider, text=text)])


def test_a_command_runs_and_its_end_comes_back() -> None:
    descriptors, relay = open_descriptors(), Relay()
    relay.run("t", "echo hello")
    assert relay.ends.get(timeout=LIMIT).reply == "hello\n"
    relay.port.close()
    assert open_descriptors() == descriptors
    assert [t.name for t in threading.enumerate() if t.name.startswith("showcaller")] == []


def test_close_interrupts_what_runs_and_delivers_its_end_before_it_returns() -> None:
    relay = Relay(grace=0.2)
    relay.run("polite", "exec sleep 1000")
    relay.run("stubborn", "trap '' TERM; while :; do sleep 1000; done")
    relay.port.close()
    ends = [relay.ends.get(block=False) for _ in range(2)]
    assert {end.turn for end in ends} == {"polite", "stubborn"}
    assert {end.stop_reason for end in ends} == {"interrupted"}


def test_every_turn_gets_one_end_although_the_port_is_closed_meanwhile() -> None:
    relay = Relay()
    provider = relay.functions.register("echo", lambda item: item)
    halfway = threading.Event()

    def send() -> None:
        for number in range(400):
            relay.run(f"t{number}", "x", provider)
            if number == 200:
                halfway.set()

    sender = threading.Thread(target=send)
    sender.start()
    assert halfway.wait(LIMIT)
    relay.port.close()
    sender.join(LIMIT)
    turns = [relay.ends.get(block=False).turn for _ in range(400)]
    assert sorted(turns) == sorted(f"t{number}" for number in range(400))
    assert relay.ends.empty()


def test_close_may_be_called_again_and_by_several_threads() -> None:
    relay = Relay()
    threads = [threading.Thread(target=relay.port.close) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    relay.port.close()
    assert not any(thread.is_alive() for thread in threads)


def test_a_stop_from_another_thread_ends_the_turn() -> None:
    relay = Relay()
    relay.run("t", "exec sleep 1000")
    relay.port.send([StopTurn(session="ses_a", turn="t")])
    assert relay.ends.get(timeout=LIMIT).outcome == "stopped"
    relay.port.close()


def test_many_threads_send_and_each_turn_gets_its_own_end() -> None:
    relay = Relay()
    provider = relay.functions.register("echo", lambda item: item)

    def send(mine: int) -> None:
        for number in range(100):
            relay.run(f"t{mine}.{number}", f"{mine}.{number}", provider)

    threads = [threading.Thread(target=send, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ends = [relay.ends.get(timeout=LIMIT) for _ in range(400)]
    assert {(end.turn, end.reply) for end in ends} == {
        (f"t{m}.{n}", f"{m}.{n}") for m in range(4) for n in range(100)
    }
    relay.port.close()


@pytest.mark.parametrize("module", ["thread", "host", "command", "callable"])
def test_a_worker_loads_no_database(module: str) -> None:
    code = (
        f"import sys, showcaller.transport.worker.{module};"
        "print([n for n in sys.modules if n.startswith(('peewee', 'sqlite3', 'showcaller.store',"
        " 'showcaller.actors.relay', 'showcaller.actors.runtime', 'pykka'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_function_that_stops_the_loop_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    relay = Relay()

    async def stop(item: object) -> str:
        asyncio.get_running_loop().stop()
        return "stopped"

    async def leave_behind(item: object) -> str:
        asyncio.get_running_loop().call_soon(_raise_interrupt)
        return "left"

    relay.run("a", provider=relay.functions.register("stop", stop))
    assert relay.ends.get(timeout=LIMIT).reply == "stopped"
    relay.run("b", provider=relay.functions.register("leave", leave_behind))
    assert relay.ends.get(timeout=LIMIT).reply == "left"
    relay.run("c", "echo still here")
    assert relay.ends.get(timeout=LIMIT).reply == "still here\n"
    relay.port.close()
    assert any("it goes on" in record.getMessage() for record in caplog.records)
    caplog.clear()


def _raise_interrupt() -> None:
    raise KeyboardInterrupt
