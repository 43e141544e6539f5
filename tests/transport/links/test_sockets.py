"""The ZeroMQ sockets of a relay and its workers, real ones over ipc."""

import os
import queue
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq

from showcaller.transport.links.conversation import News
from showcaller.transport.links.memory import FrameBatch
from showcaller.transport.links.socket_end import SocketEnd
from showcaller.transport.links.sockets import IPC_LIMIT, RelaySocket, WorkerHub
from showcaller.transport.wire.packets import (
    PACKET_LIMIT,
    BatchPacket,
    Hello,
    Refused,
    decode_packet,
    encode_packet,
)
from showcaller.transport.wire.protocol import PROTOCOL, spoken_by

LIMIT = 20.0


class Got:
    """Frames and news, in the order in which they came."""

    def __init__(self) -> None:
        self.frames: queue.Queue[bytes] = queue.Queue()
        self.news: queue.Queue[News] = queue.Queue()

    def receive(self, batch: FrameBatch) -> None:
        for frame in batch:
            self.frames.put(frame)

    def next(self, count: int) -> list[bytes]:
        return [self.frames.get(timeout=LIMIT) for _ in range(count)]

    def heard(self) -> News:
        return self.news.get(timeout=LIMIT)


class Desk:
    """A hub in a private folder, and workers that call it."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o700)
        self.address = f"ipc://{folder / 'links'}"
        self.runs = 0
        self.hub = self.bind()
        self.sockets: list[RelaySocket] = []

    def bind(self) -> WorkerHub:
        self.runs += 1
        return WorkerHub(self.address, f"relay-{self.runs}", time.monotonic)

    def expect(self, name: str = "wrk_a", token: str = "token") -> tuple[SocketEnd, Got]:
        got = Got()
        end = self.hub.expect(name, token, got.news.put)
        end.connect(got.receive)
        return end, got

    def call(self, name: str = "wrk_a", token: str = "token", run: str = "run-1") -> tuple[RelaySocket, Got]:
        got = Got()
        made = RelaySocket(self.address, name, token, run, time.monotonic, got.news.put)
        made.end.connect(got.receive)
        self.sockets.append(made)
        return made, got

    def stranger(self) -> "zmq.SyncSocket":
        made: zmq.SyncSocket = zmq.Context.instance().socket(zmq.DEALER)
        made.set(zmq.LINGER, 0)
        made.set(zmq.RCVTIMEO, int(LIMIT * 1000))
        made.connect(self.address)
        return made

    def close(self) -> None:
        for each in self.sockets:
            each.close()
        self.hub.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.close()
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("showcaller-")] == []


def numbered(first: int, last: int) -> list[bytes]:
    return [b"%d" % number for number in range(first, last + 1)]


def test_a_worker_calls_and_frames_go_both_ways_in_order(desk: Desk) -> None:
    at_relay, from_worker = desk.expect()
    at_relay.send(numbered(1, 3))
    at_worker, from_relay = desk.call()
    at_worker.end.send(numbered(4, 6))
    assert from_relay.next(3) == numbered(1, 3)
    assert from_worker.next(3) == numbered(4, 6)
    assert (from_relay.heard(), from_worker.heard()) == ("met", "met")


def test_what_need_not_go_soon_goes_with_the_next_batch_or_a_sign_of_life(desk: Desk) -> None:
    at_relay, from_worker = desk.expect()
    at_worker, from_relay = desk.call()
    at_worker.end.send(numbered(1, 1), soon=False)
    at_worker.end.send(numbered(2, 2))
    assert from_worker.next(2) == numbered(1, 2)
    at_relay.send(numbered(3, 3), soon=False)
    assert from_relay.next(1) == numbered(3, 3)


def test_a_worker_that_was_there_before_its_relay_is_met(desk: Desk) -> None:
    desk.hub.close()
    at_worker, from_relay = desk.call()
    at_worker.end.send(numbered(1, 2))
    desk.hub = desk.bind()
    at_relay, from_worker = desk.expect()
    at_relay.send(numbered(3, 3))
    assert from_worker.next(2) == numbered(1, 2)
    assert from_relay.next(1) == numbered(3, 3)


def test_a_relay_that_was_restarted_is_told_apart_and_gets_only_what_comes_after(desk: Desk) -> None:
    desk.expect()
    at_worker, from_relay = desk.call()
    assert from_relay.heard() == "met"
    desk.hub.close()
    desk.hub = desk.bind()
    _, from_worker = desk.expect()
    assert from_relay.heard() == "changed"
    at_worker.end.send(numbered(4, 6))  # meant for the one before, for all that its sender knows
    at_worker.end.renew()
    at_worker.end.send(numbered(7, 9))
    assert from_worker.next(3) == numbered(7, 9)
    assert from_worker.heard() == "met"


def test_many_workers_are_kept_apart(desk: Desk) -> None:
    pairs = [(desk.expect(f"wrk_{n}", f"token {n}"), desk.call(f"wrk_{n}", f"token {n}")) for n in range(8)]
    for n, ((at_relay, _), (at_worker, _)) in enumerate(pairs):
        at_relay.send([b"down %d" % n])
        at_worker.end.send([b"up %d" % n])
    for n, ((_, from_worker), (_, from_relay)) in enumerate(pairs):
        assert from_worker.next(1) == [b"up %d" % n]
        assert from_relay.next(1) == [b"down %d" % n]


def test_a_flood_in_both_directions_arrives_whole_and_in_order(desk: Desk) -> None:
    at_relay, from_worker = desk.expect()
    at_worker, from_relay = desk.call()
    count = 50_000
    for first in range(1, count, 500):
        at_relay.send(numbered(first, first + 499))
        at_worker.end.send(numbered(first, first + 499))
    assert from_worker.next(count) == numbered(1, count)
    assert from_relay.next(count) == numbered(1, count)


@pytest.mark.parametrize("token", ["", "tokem", "token ", "ключ"])
def test_a_worker_without_its_token_is_refused_in_words_and_the_real_one_is_not_disturbed(
    desk: Desk, token: str
) -> None:
    _, from_worker = desk.expect()
    _, from_relay = desk.call(token=token, run="run-x")
    assert from_relay.heard() == "refused"
    assert desk.sockets[0].end.conversation.refused is not None
    at_worker, _ = desk.call()
    at_worker.end.send(numbered(1, 1))
    assert from_worker.next(1) == numbered(1, 1)
    assert from_worker.heard() == "met"
    assert from_worker.news.empty()


def test_a_relay_that_was_upgraded_speaks_with_the_worker_of_the_version_before(desk: Desk) -> None:
    desk.hub.close()
    desk.hub = WorkerHub(desk.address, "relay-2", time.monotonic, spoken_by(PROTOCOL + 1))
    at_relay, from_worker = desk.expect()
    at_worker, from_relay = desk.call()
    at_worker.end.send(numbered(1, 2))
    at_relay.send(numbered(3, 4))
    assert from_worker.next(2) == numbered(1, 2)
    assert from_relay.next(2) == numbered(3, 4)


def test_a_relay_that_was_upgraded_twice_tells_the_worker_of_then_why_not(desk: Desk) -> None:
    desk.hub.close()
    desk.hub = WorkerHub(desk.address, "relay-2", time.monotonic, spoken_by(PROTOCOL + 2))
    _, from_worker = desk.expect()
    at_worker, from_relay = desk.call()
    assert (from_worker.heard(), from_relay.heard()) == ("refused", "refused")
    why = str(at_worker.end.conversation.refused)
    theirs, ours = f"versions {PROTOCOL + 2} and {PROTOCOL + 1}", f"versions {PROTOCOL} and {PROTOCOL - 1}"
    assert f"speaks {theirs} of the worker protocol, and this program {ours}" in why


def test_a_stranger_that_writes_rubbish_harms_only_itself(desk: Desk) -> None:
    at_relay, from_worker = desk.expect()
    at_worker, from_relay = desk.call()
    assert from_worker.heard() == "met"
    stranger = desk.stranger()
    whole = encode_packet(Hello("wrk_a", "run-1", "", "guess", (1,)))
    for rubbish in (
        b"",
        b"\xc1",
        b"\x93\x01\x02",
        whole[:-1],
        whole + b"\0",
        b"\xdd\xff\xff\xff\xff",
        b"x" * 9999,
    ):
        stranger.send(rubbish)
    stranger.send_multipart([whole, whole])
    stranger.send(whole)
    assert isinstance(decode_packet(stranger.recv()), Refused)
    stranger.send(b"x" * (PACKET_LIMIT + 1))  # its connection is cut
    stranger.close()
    at_relay.send(numbered(1, 1))
    at_worker.end.send(numbered(2, 2))
    assert from_relay.next(1) == numbered(1, 1)
    assert from_worker.next(1) == numbered(2, 2)


GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
_READY = b"\x05READY" + b"\x0bSocket-Type" + (6).to_bytes(4) + b"DEALER"
READY = b"\x04" + len(_READY).to_bytes(1) + _READY
"""What a DEALER says first, see ZMTP 3.0 (rfc.zeromq.org/spec/23)."""


def frame_of(size: int) -> bytes:
    """The head of a message of so many bytes."""
    return b"\x02" + size.to_bytes(8)


@pytest.mark.parametrize("size", [1 << 30, 1 << 62, (1 << 64) - 1])
def test_a_stranger_that_announces_a_huge_frame_is_cut_off_before_it_costs_anything(
    desk: Desk, size: int
) -> None:
    at_relay, from_worker = desk.expect()
    at_worker, from_relay = desk.call()
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.settimeout(LIMIT)
        stranger.connect(desk.address.removeprefix("ipc://"))
        stranger.sendall(GREETING + READY)
        came = b""
        while b"ROUTER" not in came:
            came += stranger.recv(4096)
        stranger.sendall(frame_of(size) + b"x" * 1000)
        assert until_cut(stranger) == b""
    at_relay.send(numbered(1, 1))
    at_worker.end.send(numbered(2, 2))
    assert from_relay.next(1) == numbered(1, 1)
    assert from_worker.next(1) == numbered(2, 2)


def until_cut(peer: socket.socket) -> bytes:
    """Give what a peer still says before it hangs up."""
    said = b""
    try:
        while piece := peer.recv(4096):
            said += piece
    except ConnectionResetError:  # it has not read all that we wrote
        pass
    return said


def test_what_a_stranger_has_overheard_is_of_no_use_without_the_token(desk: Desk) -> None:
    """A packet of the worker's run, from another connection, is answered with a question who that is."""
    _, from_worker = desk.expect()
    at_worker, _ = desk.call()
    at_worker.end.send(numbered(1, 1))
    assert from_worker.next(1) == numbered(1, 1)
    stranger = desk.stranger()

    stranger.send(encode_packet(BatchPacket("run-1", "relay-1", 2, 0, (b"forged",))))
    assert isinstance(decode_packet(stranger.recv()), Hello)
    stranger.close()
    at_worker.end.send(numbered(2, 2))
    assert from_worker.next(1) == numbered(2, 2)


def test_a_worker_that_reads_nothing_slows_only_its_own_link(desk: Desk) -> None:
    slow_end, _ = desk.expect("wrk_slow", "slow")
    stranger = desk.stranger()
    stranger.send(encode_packet(Hello("wrk_slow", "run-s", "", "slow", (1,))))
    slow_end.send([b"x" * 100_000] * 500)
    at_relay, _ = desk.expect()
    _, from_relay = desk.call()
    for number in range(1, 101):
        at_relay.send(numbered(number, number))
    assert from_relay.next(100) == numbered(1, 100)
    stranger.close()


def test_what_came_before_anybody_took_it_is_not_lost(desk: Desk) -> None:
    end = desk.hub.expect("wrk_a", "token")
    at_worker, from_relay = desk.call()
    at_worker.end.send(numbered(1, 2))
    assert from_relay.heard() == "met"
    got = Got()
    end.connect(got.receive)
    assert got.next(2) == numbered(1, 2)


def test_a_path_that_is_too_long_for_a_socket_is_refused_in_words(tmp_path: Path) -> None:
    address = f"ipc://{tmp_path}/{'x' * IPC_LIMIT}"
    with pytest.raises(ValueError, match="choose a shorter data folder"):
        WorkerHub(address, "run", time.monotonic)


def test_closing_lets_go_of_everything(desk: Desk, tmp_path: Path) -> None:
    open_files = Path("/proc/self/fd")
    before = len(list(open_files.iterdir())) if open_files.exists() else 0
    for n in range(5):
        hub = WorkerHub(f"ipc://{tmp_path / str(n)}", "run", time.monotonic)
        calling = RelaySocket(f"ipc://{tmp_path / str(n)}", "wrk", "t", "run-w", time.monotonic)
        hub.expect("wrk", "t")
        calling.close()
        hub.close()
    after = len(list(open_files.iterdir())) if open_files.exists() else 0
    assert after == before


@pytest.mark.parametrize("instead", ["nothing", "a file", "a pipe"])
def test_a_socket_that_was_taken_away_is_bound_again_and_peers_do_not_notice(
    desk: Desk, tmp_path: Path, instead: str
) -> None:
    path = tmp_path / "links"
    at_relay, _ = desk.expect()
    _, early = desk.call()
    assert early.heard() == "met"
    assert not desk.hub.mend(), "it is where it was"
    path.unlink()
    if instead == "a file":
        path.write_text("no socket")
    elif instead == "a pipe":
        os.mkfifo(path)
    assert desk.hub.mend()
    assert path.stat().st_mode & 0o777 == 0o600
    _, later = desk.expect("wrk_b")
    desk.call("wrk_b")
    assert later.heard() == "met"
    at_relay.send([b"still here"])
    assert early.next(1) == [b"still here"]
    assert not desk.hub.mend()


def test_a_socket_that_cannot_be_bound_again_is_told_of_by_its_path(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "links").unlink()
    (tmp_path / "links" / "full").mkdir(parents=True)
    with pytest.raises(OSError, match=str(tmp_path / "links")):
        desk.hub.mend()
