"""Whose process is at the other end of a connection."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.calls import OWNER, Caller
from showcaller.transport.doors.http import peers
from showcaller.transport.doors.http.holders import holds
from showcaller.transport.doors.http.peers import Peers, Place, WorkerTree
from showcaller.transport.doors.http.socket_ends import end_of
from showcaller.transport.worker.process_table import process_ids

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is")


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
        assert below.place_of(client) is Place.INSIDE
        assert Peers(port, list).place_of(client) is Place.OUTSIDE, "no worker is there"
        worker = Peers(port, lambda: [WorkerTree(os.getpid(), child.pid)])
        assert worker.place_of(client) is Place.OUTSIDE, "a worker itself is none"
        with socket.create_connection(("127.0.0.1", port)):
            assert below.place_of(accepted(listening)) is Place.OUTSIDE, "the guardian itself is none"
        child.communicate(b"go on")
    assert below.place_of(client) is Place.UNKNOWN, "who has gone already may have been one"


HAS_A_CHILD = [
    sys.executable,
    "-c",
    "import subprocess, sys; c = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1);"
    "print(flush=True); input(); c.communicate(b'go on')",
]

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
        assert Peers(port, lambda: [WorkerTree(os.getpid(), 0)]).place_of(client) is Place.INSIDE
        end = end_of(client, ("127.0.0.1", port))
        assert end is not None
        assert not holds(child.pid, end.name), "not by its first thread"
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
@pytest.mark.parametrize("hidden", [False, True])
def test_a_connection_that_nobody_holds_is_taken_for_an_agents(
    listening: socket.socket, monkeypatch: pytest.MonkeyPatch, hidden: bool
) -> None:
    """Also where a process outside could hold it unseen: the one inside has it under way."""
    port: int = listening.getsockname()[1]
    monkeypatch.setattr(peers, "is_hidden", lambda pid, _: hidden and pid == os.getpid())
    words = [sys.executable, "-c", IN_FLIGHT, str(port)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        client = accepted(listening)
        assert child.stdout is not None
        child.stdout.readline()
        assert Peers(port, lambda: [WorkerTree(os.getpid(), 0)]).place_of(client) is Place.UNKNOWN
        child.communicate(b"go on")


@needs_proc
@pytest.mark.parametrize(
    ("hidden", "place"),
    [("outside", Place.OUTSIDE), ("inside", Place.UNKNOWN), ("both", Place.UNKNOWN), ("", Place.UNKNOWN)],
)
def test_a_connection_that_a_process_outside_holds_unseen_is_no_agents(
    listening: socket.socket, monkeypatch: pytest.MonkeyPatch, hidden: str, place: Place
) -> None:
    """As the daemon has them that lets people log in, and forwards a port for them."""
    port: int = listening.getsockname()[1]
    inside = [sys.executable, "-c", "input()"]
    monkeypatch.setattr(peers, "holds", lambda *_: False)
    monkeypatch.setattr(peers, "is_held_by", lambda *_: False)
    with (
        subprocess.Popen(inside, stdin=subprocess.PIPE) as child,
        socket.create_connection(("127.0.0.1", port)),
    ):
        pids = {"outside": {os.getpid()}, "inside": {child.pid}, "both": {os.getpid(), child.pid}, "": set()}
        monkeypatch.setattr(peers, "is_hidden", lambda pid, _: pid in pids[hidden])
        here = Peers(port, lambda: [WorkerTree(os.getpid(), 0)])
        assert here.place_of(accepted(listening)) is place
        child.communicate(b"go on")


@needs_proc
@pytest.mark.parametrize("outside", [False, True])
def test_where_processes_come_faster_than_they_are_looked_at_only_one_from_outside_is_let_in(
    listening: socket.socket, monkeypatch: pytest.MonkeyPatch, outside: bool
) -> None:
    port: int = listening.getsockname()[1]
    ever_new = iter(range(10**7, 10**8))
    real = process_ids
    here = Peers(port, lambda: [WorkerTree(os.getpid(), 0)])
    with subprocess.Popen([sys.executable, "-c", CONNECTS, str(port)], stdin=subprocess.PIPE) as child:
        client = accepted(listening)
        monkeypatch.setattr(
            peers, "process_ids", lambda: [next(ever_new), *(pid for pid in real() if pid != child.pid)]
        )
        if outside:
            with socket.create_connection(("127.0.0.1", port)):
                assert here.place_of(accepted(listening)) is Place.OUTSIDE
        else:
            assert here.place_of(client) is Place.UNKNOWN
        child.communicate(b"go on")


FORWARDS = """
import socket, sys, threading
with socket.create_server(("127.0.0.1", 0)) as server:
    print(server.getsockname()[1], flush=True)
    with server.accept()[0], socket.create_connection(("127.0.0.1", int(sys.argv[1]))):
        input()
"""


@needs_proc
def test_a_connection_through_a_forwarder_is_as_the_forwarder(listening: socket.socket) -> None:
    """Whoever is behind it: one outside is let in, one inside is refused."""
    port: int = listening.getsockname()[1]
    words = [sys.executable, "-c", FORWARDS, str(port)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as forwarder:
        assert forwarder.stdout is not None
        with socket.create_connection(("127.0.0.1", int(forwarder.stdout.readline()))):
            client = accepted(listening)
            assert Peers(port, lambda: [WorkerTree(os.getpid(), 0)]).place_of(client) is Place.INSIDE
            beside = Peers(port, lambda: [WorkerTree(other.pid, 0)])
            with subprocess.Popen(HAS_A_CHILD, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
                assert other.stdout is not None
                other.stdout.readline()
                assert beside.place_of(client) is Place.OUTSIDE
                other.communicate(b"go on")
        forwarder.communicate(b"go on")


WITHOUT_RIGHTS = """
import ctypes, os, sys
if os.geteuid() == 0:  # who may look into everything
    assert ctypes.CDLL(None).prctl(24, 19, 0, 0, 0) == 0  # PR_CAPBSET_DROP, CAP_SYS_PTRACE
os.execv(sys.executable, [sys.executable, "-c", *sys.argv[1:]])
"""
HIDES = """
import ctypes, socket, sys
assert ctypes.CDLL(None).prctl(4, int(sys.argv[2] == "seen"), 0, 0, 0) == 0  # PR_SET_DUMPABLE
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
print(flush=True)
input()
"""
LOOKS = """
import os, socket, subprocess, sys
from showcaller.transport.doors.http.peers import Peers, WorkerTree

HIDES, STARTS = sys.argv[1:]
with socket.create_server(("127.0.0.1", 0)) as server:
    port = str(server.getsockname()[1])
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HIDES, port, "hidden"], **pipes) as forwards:
        forwards.stdout.readline()
        client = server.accept()[1]
        for agent in ("seen", "hidden"):
            words = [sys.executable, "-c", STARTS, sys.executable, "-c", HIDES, port, agent]
            with subprocess.Popen(words, **pipes) as guardian:
                guardian.stdout.readline()
                print(agent, Peers(int(port), lambda: [WorkerTree(guardian.pid, 0)]).place_of(client))
                guardian.communicate(b"go on")
        print("itself", Peers(int(port), lambda: [WorkerTree(os.getpid(), 0)]).place_of(client))
        forwards.communicate(b"go on")
"""
STARTS = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"


@needs_proc
def test_a_forwarder_that_may_not_be_looked_into_is_no_agents_where_every_agent_may() -> None:
    words = [sys.executable, "-c", WITHOUT_RIGHTS, LOOKS, HIDES, STARTS]
    looked = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert looked.stdout.split() == ["seen", "outside", "hidden", "unknown", "itself", "unknown"]


MANY = 20


@needs_proc
def test_who_came_last_or_was_there_before_is_found_without_a_look_at_the_agents(
    listening: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    port: int = listening.getsockname()[1]
    looked: list[int] = []

    def noting(pid: int, name: str) -> bool:
        looked.append(pid)
        return holds(pid, name)

    monkeypatch.setattr(peers, "holds", noting)
    with ExitStack() as running:
        start = [sys.executable, "-c", CONNECTS, str(port)]

        def started(words: list[str]) -> "subprocess.Popen[bytes]":
            child = running.enter_context(subprocess.Popen(words, stdin=subprocess.PIPE))
            running.callback(child.communicate, b"go on")
            return child

        old = started(start)
        olds = accepted(listening)
        agents = [started([sys.executable, "-c", "input()"]) for _ in range(MANY)]
        here = Peers(port, lambda: [WorkerTree(agents[0].pid, os.getpid())])
        new = started(start)
        assert here.place_of(accepted(listening)) is Place.OUTSIDE
        assert not {agent.pid for agent in agents} & set(looked)
        assert new.pid in looked
        assert here.place_of(olds) is Place.OUTSIDE
        assert {agent.pid for agent in agents} <= set(looked), "unknown so far"
        looked.clear()
        assert here.place_of(olds) is Place.OUTSIDE
        assert set(looked) <= {old.pid, new.pid}


@needs_proc
async def test_it_is_looked_once_for_each_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []

    def place_of(_: Peers, client: object) -> Place:
        looked.append(client)
        return Place.INSIDE

    monkeypatch.setattr(Peers, "place_of", place_of)
    known: dict[str, object] = {}
    await Peers(1, list).check(Caller("agent", "ses_a"), ("127.0.0.1", 2), known)
    assert looked == []
    for caller in (OWNER, Caller("external", "ses_a"), Caller("external", "ses_a", supervises=True)):
        with pytest.raises(Refusal) as refused:
            await Peers(1, list).check(caller, ("127.0.0.1", 2), known)
        assert refused.value.code is Code.FORBIDDEN
        assert "SHOWCALLER_TOKEN" in refused.value.error
    assert looked == [("127.0.0.1", 2)]
