"""Whose process is at the other end of a connection."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.calls import OWNER, Caller
from showcaller.transport.doors.http import peers
from showcaller.transport.doors.http.peers import Peers, WorkerTree, socket_of

TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 x 100
   1: 0100007F:D431 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 222 1 x 20
   2: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 333 1 x 20
   3: 0100007F:D432 0100007F:1F90 05 00000000:00000000 00:00000000 00000000     0        0 0 1 x 20
"""
RELAY = ("127.0.0.1", 8080)
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is")


@pytest.mark.skipif(sys.byteorder == "big", reason="the table is of a machine of the other order")
@pytest.mark.parametrize(("port", "inode"), [(0xD431, 222), (0xD432, 0), (0xD433, 0)])
def test_the_clients_end_of_a_connection_is_found_in_the_table(port: int, inode: int) -> None:
    assert socket_of(TABLE, ("127.0.0.1", port), RELAY) == (inode, 0)


def test_a_system_without_a_table_tells_nothing() -> None:
    assert socket_of("", ("127.0.0.1", 1), RELAY) is None


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def accepted(server: socket.socket) -> tuple[str, int]:
    connection, client = server.accept()
    connection.close()
    return client[0], client[1]


CONNECTS = "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); input()"


@needs_proc
def test_a_connection_of_a_process_below_a_guardian_is_an_agents_and_that_of_another_is_not(
    listening: socket.socket,
) -> None:
    port: int = listening.getsockname()[1]
    below = Peers(port, lambda: [WorkerTree(os.getpid(), 0)])  # this process is the guardian
    with subprocess.Popen([sys.executable, "-c", CONNECTS, str(port)], stdin=subprocess.PIPE) as child:
        client = accepted(listening)
        assert below.is_agents(client)
        assert not Peers(port, list).is_agents(client), "no worker is there"
        worker = Peers(port, lambda: [WorkerTree(os.getpid(), child.pid)])
        assert not worker.is_agents(client), "a worker itself is none"
        with socket.create_connection(("127.0.0.1", port)):
            assert not below.is_agents(accepted(listening)), "the guardian itself is none"
        child.communicate(b"go on")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as another:
        assert below.is_agents(client), "who has gone already may have been one"
        another.communicate(b"go on")


IN_A_THREAD = """
import ctypes, socket, sys, threading
def connect():
    assert ctypes.CDLL(None).unshare(0x400) == 0  # CLONE_FILES: descriptors of its own
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    input()
thread = threading.Thread(target=connect)
thread.start()
thread.join()
"""


@needs_proc
def test_a_connection_of_a_thread_with_descriptors_of_its_own_is_its_processs(
    listening: socket.socket,
) -> None:
    port: int = listening.getsockname()[1]
    with subprocess.Popen([sys.executable, "-c", IN_A_THREAD, str(port)], stdin=subprocess.PIPE) as child:
        client = accepted(listening)
        assert Peers(port, lambda: [WorkerTree(os.getpid(), 0)]).is_agents(client)
        end = socket_of(peers.TABLE.read_text(), client, ("127.0.0.1", port))
        assert end is not None
        assert peers.is_held_by(child.pid, end.name), "not merely taken for one that nobody holds"
        child.communicate(b"go on")


IN_FLIGHT = """
import socket, sys
ours, theirs = socket.socketpair()
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
socket.send_fds(ours, [b"x"], [s.fileno()])
s.close()
print(flush=True)
input()
"""


@needs_proc
def test_a_connection_that_nobody_holds_is_taken_for_an_agents(listening: socket.socket) -> None:
    port: int = listening.getsockname()[1]
    words = [sys.executable, "-c", IN_FLIGHT, str(port)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        client = accepted(listening)
        assert child.stdout is not None
        child.stdout.readline()
        assert Peers(port, lambda: [WorkerTree(os.getpid(), 0)]).is_agents(client)
        child.communicate(b"go on")


@needs_proc
@pytest.mark.parametrize("outside", [False, True])
def test_where_processes_come_faster_than_they_are_looked_at_only_one_from_outside_is_let_in(
    listening: socket.socket, monkeypatch: pytest.MonkeyPatch, outside: bool
) -> None:
    port: int = listening.getsockname()[1]
    ever_new = iter(range(10**7, 10**8))
    monkeypatch.setattr(Peers, "_processes", lambda _: {next(ever_new)})
    here = Peers(port, lambda: [WorkerTree(os.getpid(), 0)])
    with subprocess.Popen([sys.executable, "-c", CONNECTS, str(port)], stdin=subprocess.PIPE) as child:
        client = accepted(listening)
        if outside:
            with socket.create_connection(("127.0.0.1", port)):
                assert not here.is_agents(accepted(listening))
        else:
            assert here.is_agents(client)
        child.communicate(b"go on")


@needs_proc
async def test_it_is_looked_once_for_each_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []

    def is_agents(_: Peers, client: object) -> bool:
        looked.append(client)
        return True

    monkeypatch.setattr(Peers, "is_agents", is_agents)
    known: dict[str, object] = {}
    await Peers(1, list).check(Caller("agent", "ses_a"), ("127.0.0.1", 2), known)
    assert looked == []
    for caller in (OWNER, Caller("external", "ses_a"), Caller("external", "ses_a", supervises=True)):
        with pytest.raises(Refusal) as refused:
            await Peers(1, list).check(caller, ("127.0.0.1", 2), known)
        assert refused.value.code is Code.FORBIDDEN
        assert "SHOWCALLER_TOKEN" in refused.value.error
    assert looked == [("127.0.0.1", 2)]


def test_nothing_is_found_where_there_is_no_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(peers, "TABLE", tmp_path / "none")
    assert not Peers(1, lambda: [WorkerTree(os.getppid(), 0)]).is_agents(("127.0.0.1", 2))
