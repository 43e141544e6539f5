"""ZeroMQ sockets: the hub that a relay binds for its workers, and the end with which a worker calls it."""

import hmac
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Final, NamedTuple

import zmq

from showcaller.transport.links.conversation import HEARTBEAT, Conversation, News
from showcaller.transport.links.io_thread import HIGH_WATER, IoThread, Now, Parts
from showcaller.transport.links.socket_end import SocketEnd, nobody
from showcaller.transport.wire.frames import WireError
from showcaller.transport.wire.packets import (
    PACKET_LIMIT,
    Hello,
    Packet,
    Refused,
    decode_packet,
    encode_packet,
)
from showcaller.transport.wire.protocol import SPOKEN

logger = logging.getLogger("showcaller.links")

LINGER_MS = 200
IPC_LIMIT = 107
"""Characters that the path of an ipc socket may have; a longer one fails at the bind with no good word."""
PATIENCE: Final = 10.0
"""Seconds for the links' thread to do what somebody waits for."""


_FileId = tuple[int, int]


class _Peer(NamedTuple):
    end: SocketEnd
    token: str


def nothing() -> None:
    """Do nothing at a heartbeat."""


def _new_socket(context: "zmq.Context[zmq.SyncSocket]", kind: int) -> "zmq.SyncSocket":
    made = context.socket(kind)
    made.set(zmq.SNDHWM, HIGH_WATER)
    made.set(zmq.RCVHWM, HIGH_WATER)
    made.set(zmq.MAXMSGSIZE, PACKET_LIMIT)
    made.set(zmq.LINGER, LINGER_MS)
    return made


class WorkerHub:
    """The relay's ROUTER: binds one address and knows each worker by its name and its token. Thread-safe.

    A stranger, a wrong token or a packet that is none is answered or dropped, and costs nobody else
    anything. Whoever binds an ipc path must hold the lock of its folder: a second bind steals its peers.
    """

    def __init__(self, address: str, run: str, now: Now, spoken: Sequence[int] = SPOKEN) -> None:
        """Bind; ``spoken`` are the versions of the worker protocol, newest first.

        Raises ``zmq.ZMQError``, and ValueError for an ipc path that is too long.
        """
        path = address.removeprefix("ipc://")
        if path != address and len(path) > IPC_LIMIT:
            raise ValueError(f"{path!r} is longer than {IPC_LIMIT} characters: choose a shorter data folder")
        self._address = address
        self._path = None if path == address else Path(path)
        self._run = run
        self._now = now
        self._spoken = tuple(spoken)
        self._context = zmq.Context()
        self._router = _new_socket(self._context, zmq.ROUTER)
        self._router.set(zmq.ROUTER_MANDATORY, 1)
        try:
            self._file = self._bind()
        except BaseException:
            self._context.destroy(linger=0)
            raise
        self.sockets: Sequence[zmq.SyncSocket] = (self._router,)
        self._peers: dict[str, _Peer] = {}
        self._routes: dict[str, bytes] = {}
        self._names: dict[bytes, str] = {}
        self._thread = IoThread(self, now, "showcaller-links")
        self._thread.start()

    def expect(self, name: str, token: str, hear: Callable[[News], None] = nobody) -> SocketEnd:
        """Take this worker when it calls with this token; gives the link end to it."""
        conversation = Conversation(name, self._run, self._now(), calls=False, spoken=self._spoken)
        end = SocketEnd(conversation, self._thread, hear, lambda: self._drop(name))
        self._thread.run(lambda: self._peers.__setitem__(name, _Peer(end, token)))
        return end

    def mend(self) -> bool:
        """Bind the address again if its file has been taken away, or another put in its place.

        Gives whether that had to be done: until then nobody new could call. Peers that have called before do
        not notice. Raises OSError. Not on the links' thread.
        """
        if self._path is None or _file_at(self._path) == self._file:
            return False
        bound: Future[_FileId | None] = Future()
        self._thread.run(lambda: self._bind_for(bound))
        try:
            self._file = bound.result(PATIENCE)
        except zmq.ZMQError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error
        except TimeoutError as error:
            raise OSError(f"the links are busy or closed, and {self._path} is not bound again") from error
        return True

    def close(self) -> None:
        """Write what is left as far as it goes at once, and let go of the address."""
        self._thread.close()
        self._context.destroy(linger=LINGER_MS)

    # -- on the links' thread ----------------------------------------------------------------------

    def _bind(self) -> _FileId | None:
        """Bind, for the owner of the file alone; gives which file that is."""
        self._router.bind(self._address)
        if self._path is None:
            return None
        self._path.chmod(0o600)
        return _file_at(self._path)

    def _bind_for(self, told: "Future[_FileId | None]") -> None:
        try:
            told.set_result(self._bind())
        except (zmq.ZMQError, OSError) as error:
            told.set_exception(error)

    def read(self, source: "zmq.SyncSocket", parts: Parts) -> None:
        """Take one message of a peer."""
        route, *rest = parts
        try:
            if len(rest) != 1:
                raise WireError(f"a message of {len(rest)} parts")
            packet = decode_packet(rest[0], self._spoken)
        except WireError as error:
            logger.warning("A peer wrote something that is refused: %s", error)
            return
        name = self._names.get(route)
        if isinstance(packet, Hello):
            name = self._introduced(route, packet)
        elif name is None and not isinstance(packet, Refused):
            self._put(route, Hello("relay", self._run, packet.run, "", self._spoken), self._spoken[-1])
        if name is not None:
            self._peers[name].end.take(packet, self._now())

    def _introduced(self, route: bytes, hello: Hello) -> str | None:
        peer = self._peers.get(hello.peer)
        if peer is None or not hmac.compare_digest(peer.token.encode(), hello.token.encode()):
            logger.warning("A worker that is not expected, or has not its token, was refused")
            self._put(route, Refused("this relay does not expect this worker, or its token is another"), 1)
            return None
        before = self._routes.get(hello.peer)
        if before is not None:
            self._names.pop(before, None)
        self._routes[hello.peer] = route
        self._names[route] = hello.peer
        return hello.peer

    def write(self, now: float) -> float:
        """Write what is due to every worker that has called."""
        due = float("inf")
        for name, (end, _) in self._peers.items():
            route = self._routes.get(name)
            if route is None:
                continue
            for packet in end.to_write(now):
                if not self._put(route, packet, end.conversation.version):
                    break
            due = min(due, end.conversation.due_at())
        return due

    def _put(self, route: bytes, packet: Packet, version: int) -> bool:
        try:
            self._router.send_multipart((route, encode_packet(packet, version)), zmq.NOBLOCK)
        except zmq.Again:
            return False  # its pipe is full; it is written again when nothing comes back
        except zmq.ZMQError as error:
            if error.errno != zmq.EHOSTUNREACH:
                raise
            return False  # it has gone, and calls again if it comes back
        return True

    def _drop(self, name: str) -> None:
        self._peers.pop(name, None)
        route = self._routes.pop(name, None)
        if route is not None:
            self._names.pop(route, None)


def _file_at(path: Path) -> _FileId | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class RelaySocket:
    """The worker's DEALER: calls a relay, and calls it again for as long as it is not there. Thread-safe."""

    def __init__(
        self,
        address: str,
        name: str,
        token: str,
        run: str,
        now: Now,
        hear: Callable[[News], None] = nobody,
        spoken: Sequence[int] = SPOKEN,
        beat: Callable[[], None] = nothing,
    ) -> None:
        """Begin to call; ``beat`` is called about as often as a sign of life is due, on the links' thread."""
        self._beat = beat
        self._beaten = now()
        self._now = now
        self._spoken = tuple(spoken)
        self._context = zmq.Context()
        self._dealer = _new_socket(self._context, zmq.DEALER)
        self._dealer.set(zmq.RECONNECT_IVL, 100)
        self._dealer.set(zmq.RECONNECT_IVL_MAX, int(HEARTBEAT * 1000))
        self._dealer.connect(address)
        self.sockets: Sequence[zmq.SyncSocket] = (self._dealer,)
        self._thread = IoThread(self, now, "showcaller-link")
        conversation = Conversation(name, run, now(), calls=True, token=token, spoken=self._spoken)
        self.end = SocketEnd(conversation, self._thread, hear)
        self._thread.start()

    def close(self) -> None:
        """Write what is left as far as it goes at once, and hang up."""
        self._thread.close()
        self._context.destroy(linger=LINGER_MS)

    # -- on the links' thread ----------------------------------------------------------------------

    def read(self, source: "zmq.SyncSocket", parts: Parts) -> None:
        """Take one message of the relay."""
        if len(parts) != 1:
            return
        try:
            packet = decode_packet(parts[0], self._spoken)
        except WireError as error:
            logger.warning("The relay wrote something that is refused: %s", error)
            return
        self.end.take(packet, self._now())

    def write(self, now: float) -> float:
        """Write what is due."""
        if now - self._beaten >= HEARTBEAT:
            self._beaten = now
            self._beat()
        for packet in self.end.to_write(now):
            try:
                self._dealer.send(encode_packet(packet, self.end.conversation.version), zmq.NOBLOCK)
            except zmq.Again:
                break  # nobody is there, or the pipe is full; it is written again
        return self.end.conversation.due_at()
