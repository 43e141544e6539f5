"""A peer: another way to have actors, if it is installed here."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module, metadata
from importlib.util import find_spec

from bench.row import Measure, Row


@dataclass(frozen=True)
class Peer:
    """Somebody to compare with.

    ``module`` holds its jobs and may be imported only where ``needs`` (an import name, or a program) is
    there. ``share`` is the part of a row's count that it does in about the time in which we do all of it;
    ``shares`` are exceptions by row.
    """

    name: str
    module: str
    needs: str
    install: str
    share: float
    shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def installed(self) -> bool:
        """True when what it needs is here."""
        return find_spec(self.needs) is not None or shutil.which(self.needs) is not None

    def jobs(self) -> Mapping[str, Measure]:
        """Give what it can be measured at, by row; call it only when it is installed."""
        jobs: Mapping[str, Measure] = import_module(self.module).JOBS
        return jobs

    def version(self) -> str:
        """Name the version that is installed."""
        if self.name == "erlang":
            return str(import_module(self.module).release())
        if self.name == "asyncio":
            return "of this Python"
        return metadata.version(self.needs)

    def count(self, row: Row, size: str) -> int:
        """Say how large the job is for this peer."""
        return row.size(size, self.shares.get(row.name, self.share))


FEW_THREADS = {"idle-actor": 0.002, "spawn": 0.02, "stop": 0.02}

PEERS: tuple[Peer, ...] = (
    Peer("pykka", "bench.peers.pykka_threads", "pykka", "pip install 'pykka>=4.5'", 0.1, FEW_THREADS),
    Peer("asyncio", "bench.peers.asyncio_tasks", "asyncio", "it is part of Python", 0.5, {"idle-actor": 0.1}),
    Peer(
        "xoscar", "bench.peers.xoscar_pool", "xoscar", "pip install xoscar", 0.02, {"spawn": 0.1, "stop": 0.1}
    ),
    Peer("thespian", "bench.peers.thespian_system", "thespian", "pip install thespian", 0.005),
    Peer("erlang", "bench.peers.erlang_otp", "erl", "apt-get install erlang-base", 2, {"idle-actor": 0.2}),
)


def by_name(name: str) -> Peer:
    """Give a peer by its name; raises ``KeyError`` with the names that there are."""
    for peer in PEERS:
        if peer.name == name:
            return peer
    raise KeyError(f"there is no peer {name!r}; there are {', '.join(peer.name for peer in PEERS)}")
