"""Which socket is at the other end of a connection."""

import os
import socket
import sys
from pathlib import Path

import pytest

from showcaller.transport.doors.http import socket_ends
from showcaller.transport.doors.http.socket_ends import NOBODYS, end_in, end_of

TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 x 100
   1: 0100007F:D431 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 222 1 x 20
   2: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 333 1 x 20
   3: 0100007F:D432 0100007F:1F90 05 00000000:00000000 00:00000000 00000000     0        0 0 1 x 20
"""
RELAY = ("127.0.0.1", 8080)
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is")


@pytest.mark.skipif(sys.byteorder == "big", reason="the table is of a machine of the other order")
@pytest.mark.parametrize(("port", "inode"), [(0xD431, 222), (0xD432, 0), (0xD433, 0)])
def test_the_clients_end_of_a_connection_is_found_in_the_table(port: int, inode: int) -> None:
    assert end_in(TABLE, ("127.0.0.1", port), RELAY) == (inode, 0)


def test_a_system_without_a_table_tells_nothing() -> None:
    assert end_in("", ("127.0.0.1", 1), RELAY) is None


def not_asked(*_: object) -> None:
    raise PermissionError


@needs_linux
@pytest.mark.parametrize("by", ["the kernel", "its table"])
def test_the_clients_end_of_a_connection_is_found_until_it_is_closed(
    monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    if by == "its table":
        monkeypatch.setattr(socket_ends, "_asked", not_asked)
    with socket.create_server(("127.0.0.1", 0)) as server:
        relay = server.getsockname()
        with socket.create_connection(relay) as client:
            ours = client.getsockname()
            accepted, _ = server.accept()
            assert end_of(ours, relay) == (os.fstat(client.fileno()).st_ino, os.geteuid())
            assert end_of(relay, ours) == (os.fstat(accepted.fileno()).st_ino, os.geteuid())
        end = end_of(ours, relay)
        assert end is not None
        assert end.inode == 0
        accepted.close()
        assert end_of(relay, ("127.0.0.1", 1)) == NOBODYS, "not the one that listens"


def test_where_neither_answers_nothing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(socket_ends, "_asked", not_asked)
    monkeypatch.setattr(socket_ends, "TABLE", tmp_path / "none")
    assert end_of(("127.0.0.1", 2), RELAY) is None
